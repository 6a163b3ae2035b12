package htmlreport

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/transfer"
)

func writeMerge(t *testing.T, m *Merge) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMerge(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostileMerge is one in which every text is the payload, and every list has
// something in it.
func hostileMerge() *Merge {
	m := &Merge{Document: map[string]string{"version": payload}, Unequal: map[string][]string{payload: {payload}}}
	for _, field := range []any{&m.Command, &m.Outcome, &m.Sentence, &m.Details, &m.Samples, &m.Next, &m.Refusals, &m.Plan, &m.Status, &m.Proof} {
		fill(reflect.ValueOf(field).Elem())
	}
	m.Proof.Check = hostile()
	return m
}

// sampleMerge is one of two worlds into a third, as far as a plan and where the
// merge is tell.
func sampleMerge() *Merge {
	at := func(minute int) time.Time { return time.Date(2026, 3, 20, 4, minute, 0, 0, time.UTC) }
	content := func(rows int64) transfer.Content { return transfer.Content{Rows: rows} }
	mark := gameid.MaxMillis / 400
	m := &Merge{
		Command: "apply", Began: at(10), Ended: at(12),
		Outcome: "DONE", Sentence: "merging s2 and s3 into s1: 99,320 rows came to the target, with 3 renames, in 2s",
		Next: []Step{{"Now prove it, before any game server is started:", []string{"servermerge verify plan.json"}}},
		Plan: &transfer.Plan{
			Version: transfer.PlanVersion, ID: "5b1f0c3d9a7e4f20a1b2c3d4e5f60718", Made: at(0), Engine: "mariadb",
			Check: transfer.Checked{Verdict: merge.Fail,
				Resolved: []transfer.Refusal{{Table: "players", Code: merge.CodeUniqueCollision, Reason: "3 values are there more than once"}},
				Allowed:  []transfer.Refusal{{Table: "mail", Code: merge.CodeColumnOpaque, Reason: "data: may hold IDs"}}},
			Target: transfer.World{Name: "s1", Servers: []transfer.Server{{Server: 1, Name: "realm 1", Own: true, Mark: mark}}},
			Sources: []transfer.World{
				{Name: "s2", Fence: true, Servers: []transfer.Server{{Server: 2, Name: "realm 2", Own: true, Mark: mark}, {Server: 9, Mark: mark}}},
				{Name: "s3"},
			},
			Tables: []transfer.Table{
				{Name: "players", Target: content(1234567), Sources: []transfer.Content{content(98765), content(500)}},
				{Name: "items", Target: content(20), Sources: []transfer.Content{content(40), content(15)}},
			},
			Left:   []transfer.Left{{Table: "chat_log", Reason: "excluded by the operator"}},
			Copies: []transfer.NameCopy{{Table: "mail", Column: "to_name", Key: "player", OfTable: "players"}},
		},
		Status: &transfer.Status{State: transfer.StateCopied,
			Tables: []transfer.TableStatus{{Table: "players", Rows: 99265, Copied: 99265}, {Table: "items", Rows: 55, Copied: 55}},
			Fences: []transfer.FenceStatus{{Source: "s2", Server: "2", Fenced: true}}},
		Document: map[string]any{"version": 1, "command": "apply"},
	}
	for i := range 3 {
		m.Plan.Renames = append(m.Plan.Renames, transfer.Rename{Source: "s2", Table: "players", Column: "name", Key: `["b00ddceac5bd00007003f"]`,
			Old: fmt.Sprint("火球术士", i), New: fmt.Sprintf("火球术士%d.s2", i)})
	}
	return m
}

// sampleProof is the same merge verified, after somebody played.
func sampleProof() *Merge {
	m := sampleMerge()
	m.Command, m.Outcome, m.Sentence = "verify", "FAIL", "s1 is not what was planned"
	m.Next = []Step{{"Do not start a game server on s1. Look at what differs; to take the merge back:", []string{"servermerge undo plan.json"}}}
	m.Proof = &transfer.Proof{Verdict: merge.Fail, Check: sample1(),
		Tables: []transfer.TableProof{
			{Table: "players", Verdict: merge.Pass, Rows: 1333832, Want: 1333832},
			{Table: "items", Verdict: merge.Fail, Rows: 74, Want: 75, Missing: 1, Changed: 1},
		},
		Findings: []transfer.Refusal{{Table: "items", Code: merge.CodeReferenceDangle, Reason: "1 row refers to nothing"}}}
	m.Proof.Check.Sources = m.Proof.Check.Sources[:1]
	m.Unequal = map[string][]string{"players": nil, "items": {"1 row of the sources is not there", "1 row has other values than planned",
		`row 00ddceac5bd00007003f of items, from "s2": is not there`, `row 00ddceac5bd000070040 of items, from "s2": owner_id, count has another value`}}
	return m
}

// samples are pages of every outcome, by the name of the outcome.
func sampleOutcomes() map[string]*Merge {
	all := map[string]*Merge{"DONE": sampleMerge(), "FAIL": sampleProof()}
	proof := func(verdict merge.Verdict) *Merge {
		m := sampleProof()
		m.Outcome, m.Unequal = string(verdict), nil
		m.Proof.Verdict, m.Proof.Tables[1].Verdict, m.Proof.Check.Verdict, m.Proof.Findings = verdict, merge.Pass, verdict, nil
		return m
	}
	all["PASS"], all["NOT VERIFIED"] = proof(merge.Pass), proof(merge.NotVerified)
	refused := sampleMerge()
	refused.Outcome, refused.Sentence, refused.Next, refused.Status = "REFUSED", "nothing was changed now", nil, &transfer.Status{State: transfer.StateNone}
	refused.Refusals = []transfer.Refusal{{Source: "s2", Reason: "server 2 runs: it is held by host-7: stop it first"}, {Table: "items", Reason: "it has 4 rows, and had 5"}}
	all["REFUSED"] = refused
	moved := sampleMerge()
	moved.Outcome, moved.Sentence = "CHANGED", "database s2, table items was changed since the plan was made"
	all["CHANGED"] = moved
	stopped := sampleMerge()
	stopped.Command, stopped.Outcome, stopped.Sentence = "undo -force", "STOPPED", "stopped while removing the rows of s2 from table items"
	stopped.Samples, stopped.Details = []string{"row 1 of items: count has another value"}, []string{"1 of them had been changed"}
	stopped.Status = &transfer.Status{State: transfer.StateUndoing, Tables: []transfer.TableStatus{{Table: "players", Copied: 99265, Removed: 4321}, {Table: "items"}}}
	all["STOPPED"] = stopped
	return all
}

// Every outcome is said in big, in its colour, with what it means.
func TestMergeOutcomes(t *testing.T) {
	for outcome, m := range sampleOutcomes() {
		color := map[string]string{"DONE": "pass", "PASS": "pass", "FAIL": "fail", "REFUSED": "fail", "CHANGED": "fail"}[outcome]
		if color == "" {
			color = "unsure"
		}
		html := writeMerge(t, m)
		for _, want := range []string{
			`<title>` + outcome + ": " + m.Command + ", s2, s3 into s1</title>",
			`<header class="` + color + `">` + "\n" + `<p class="verdict">` + outcome + `</p>`,
			"<h1><bdi>" + m.Sentence + "</bdi></h1>",
			"servermerge " + m.Command + ", from 2026-03-20T04:10:00.000Z to 2026-03-20T04:12:00.000Z",
			"Plan <bdi>" + m.Plan.ID + "</bdi>, made 2026-03-20T04:00:00.000Z",
		} {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q in the document", outcome, want)
			}
		}
		if doc, ok := Extract([]byte(html)); !ok || string(doc) != `{"command":"apply","version":1}` {
			t.Errorf("%s: inside is %q", outcome, doc)
		}
		if got, want := strings.Contains(html, `id="check"`), m.Proof != nil; got != want {
			t.Errorf("%s: a check of the result: %t, want %t", outcome, got, want)
		}
		ids := make(map[string]bool)
		for _, part := range strings.Split(html, ` id="`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if ids[id] {
				t.Errorf("%s: two are #%s", outcome, id)
			}
			ids[id] = true
		}
		for _, part := range strings.Split(html, ` href="#`)[1:] {
			if id, _, _ := strings.Cut(part, `"`); !ids[id] && (m.Proof == nil || id == "check") {
				t.Errorf("%s: nothing is #%s", outcome, id)
			}
		}
	}
}

// All that is known of a merge can be read.
func TestMergeIsThere(t *testing.T) {
	numbers := func(all ...string) string { return `<td class="n">` + strings.Join(all, `<td class="n">`) + "\n" }
	all := sampleOutcomes()
	for outcome, wants := range map[string][]string{
		"DONE": {
			"<bdi>Now prove it, before any game server is started:</bdi><pre>servermerge verify plan.json\n</pre>",
			`<td><bdi>s1</bdi><td>target<td class="n">1<td><bdi>realm 1</bdi><td>goes on<td><td>2026-`,
			`<td><bdi>s2</bdi><td>merged in<td class="n">2<td><bdi>realm 2</bdi><td>ends<td>fenced<td>2026-`,
			`<td><bdi>s2</bdi><td>merged in<td class="n">9<td><bdi></bdi><td>comes along<td><td>2026-`,
			`<td><bdi>s3</bdi><td>merged in<td class="n"><i>no registry</i><td>`,
			`<th class="n"><bdi>s3</bdi><th class="n">together<th class="n">copied</thead>`,
			"<bdi>players</bdi>" + numbers("1,234,567", "98,765", "500", "1,333,832", "99,265"),
			`<tr><th>all<th class="n">1,234,587<th class="n">98,805<th class="n">515<th class="n">1,333,907<th class="n">99,320</tfoot>`,
			"3 values get another one", "<bdi>火球术士1</bdi><td><bdi>火球术士1.s2</bdi><td><bdi>00ddceac5bd00007003f</bdi>",
			"<bdi>mail</bdi>.<bdi>to_name</bdi>, where <bdi>player</bdi> names the row of <bdi>players</bdi>",
			"<td><bdi>chat_log</bdi><td><bdi>excluded by the operator</bdi>",
			"<b>2</b> tables</a>", "<b>3</b> renames", "<b>1</b> table not copied",
			"the renames resolve:", "3 values are there more than once", "was allowed:", "data: may hold IDs",
		},
		"FAIL": {
			"<b>1</b> table not as planned", "<b>1</b> table as planned", "<b>1</b> finding in the result",
			`<section id="unequal">`, "<b><bdi>items</bdi></b>", "<bdi>1 row of the sources is not there</bdi>", "from &#34;s2&#34;: is not there</bdi>",
			`<td><bdi>items</bdi><td><span class="mark fail">FAIL</span>` + numbers("20", "40", "15", "75", "74"),
			`<td><bdi>players</bdi><td><span class="mark pass">PASS</span>`, `<th class="n">found now</thead>`,
			"<bdi>s1</bdi> as it is now, read from 2026-03-20T03:00:00.000Z", `<span class="mark fail">FAIL</span></p>`,
			"4 keys are there more than once", "server 1 realm 1 in s1: 12,345 IDs", `<section id="passed">`,
		},
		"REFUSED": {"<b>2</b> reasons against it", "<bdi>database &#34;s2&#34;: server 2 runs: it is held by host-7: stop it first</bdi>", "<td>ends<td>not fenced"},
		"STOPPED": {"<th class=\"n\">copied<th class=\"n\">removed again</thead>", numbers("1,333,832", "99,265", "4,321"), "<bdi>1 of them had been changed</bdi>", "<bdi>row 1 of items: count has another value</bdi>"},
	} {
		html := writeMerge(t, all[outcome])
		for _, want := range wants {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q in the document", outcome, want)
			}
		}
	}
	// What is for before a merge, or not known, is not said.
	if html := writeMerge(t, all["FAIL"]); strings.Contains(html, "find out how the same key came to be in both databases</bdi>") {
		t.Error("a rule advises against a merge that was carried out")
	}
	if html := writeMerge(t, all["REFUSED"]); strings.Contains(html, ">copied") {
		t.Error("a merge that was not begun has copied something")
	}
	m := all["DONE"]
	m.Status = nil
	if html := writeMerge(t, m); !strings.Contains(html, "<td>ends<td>not known") || strings.Contains(html, ">copied") {
		t.Error("what is not known is said")
	}
	for _, at := range []transfer.FenceStatus{{Source: "s2", Server: "2"}, {Source: "s3", Server: "2", Fenced: true}, {Source: "s2", Server: "9", Fenced: true}} {
		m.Status = &transfer.Status{Fences: []transfer.FenceStatus{at}}
		if html := writeMerge(t, m); !strings.Contains(html, "<td>ends<td>not fenced") {
			t.Errorf("%+v is taken for the fence of server 2 of s2", at)
		}
	}
	m.Plan.Sources[0].Fence = false
	if html := writeMerge(t, m); !strings.Contains(html, "<td>ends<td>not planned") {
		t.Error("it is not said that no fence is planned")
	}
}

// However many renames there are, the page stays one that opens.
func TestManyRenames(t *testing.T) {
	m := sampleMerge()
	for len(m.Plan.Renames) < 12345 {
		m.Plan.Renames = append(m.Plan.Renames, m.Plan.Renames[0])
	}
	html := writeMerge(t, m)
	if n := strings.Count(html, "<bdi>火球术士"); n != 2*maxRenames {
		t.Errorf("%d names, want %d", n, 2*maxRenames)
	}
	for _, want := range []string{"12,345 values get another one", "The first 1,000 are shown; “servermerge renames -csv FILE” writes them all."} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the document", want)
		}
	}
}
