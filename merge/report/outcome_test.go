package report

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
)

func writeOutcome(t *testing.T, o *Outcome) string {
	t.Helper()
	return labels.ReplaceAllString(written(t, o.WriteHTML), "")
}

func outcomeText(t *testing.T, o *Outcome) string {
	t.Helper()
	return written(t, func(w io.Writer) error { return o.WriteText(w, TextOptions{}) })
}

// hostileOutcome is one in which every text is the payload, and every list has
// something in it.
func hostileOutcome() *Outcome {
	o := new(Outcome)
	fill(reflect.ValueOf(o).Elem())
	o.Version, o.Ending, o.Proof.Check = documentVersion, Stopped, hostile()
	return o
}

// sampleOutcome is of three worlds into a new database, as far as a plan and where the
// merge is tell.
func sampleOutcome() *Outcome {
	at := func(minute int) time.Time { return time.Date(2026, 3, 20, 4, minute, 0, 0, time.UTC) }
	content := func(rows int64) merge.Content { return merge.Content{Rows: rows} }
	mark := gameid.MaxMillis / 400
	p := &merge.Plan{
		Version: merge.PlanVersion, ID: "5b1f0c3d9a7e4f20a1b2c3d4e5f60718", Made: at(0), Engine: "mariadb",
		Check: merge.Checked{Verdict: verdict.Fail,
			Resolved: []merge.Refusal{{Table: "players", Code: verdict.CodeUniqueCollision, Reason: "3 values occur more than once"}},
			Allowed:  []merge.Refusal{{Table: "mail", Code: verdict.CodeColumnOpaque, Reason: "data: may hold IDs"}}},
		New: plan.New{Name: "new"},
		Worlds: []merge.World{
			{Name: "s1", Fence: true, Servers: []catalog.Server{{Server: 1, Name: "realm 1", Own: true, Reserved: mark}}},
			{Name: "s2", Fence: true, Servers: []catalog.Server{{Server: 2, Name: "realm 2", Own: true, Reserved: mark}, {Server: 9, Reserved: mark}}},
			{Name: "s3"},
		},
		Tables: []merge.Table{
			{Name: "players", Worlds: []merge.Content{content(1234567), content(98765), content(500)}},
			{Name: "items", Worlds: []merge.Content{content(20), content(40), content(15)}},
		},
		Left:   []merge.Left{{Table: "chat_log", Reason: "rows that stay behind, as declared"}},
		Copies: []merge.NameCopy{{Table: "mail", Column: "to_name", Key: "player", OfTable: "players"}},
	}
	for i := range 3 {
		p.Names++
		p.Renames = append(p.Renames, merge.Rename{Source: "s2", Table: "players", Column: "name", Key: `["b00ddceac5bd00007003f"]`,
			Old: fmt.Sprint("火球术士", i), New: fmt.Sprintf("火球术士%d.s2", i)})
	}
	p.Names = len(p.Renames)
	o := NewOutcome("apply", p, Commands{Apply: "servermerge apply plan.json", Verify: "servermerge verify plan.json", Open: "servermerge open plan.json", Undo: "servermerge undo plan.json", Again: "servermerge again plan.json"})
	o.Began, o.Ended = at(10), at(12)
	o.Applied = &Applied{Rows: 1333907, Renames: 3}
	o.Now = &merge.Status{State: merge.StateMade,
		Tables: []merge.TableStatus{{Table: "players", Rows: 1333832, Copied: 1333832}, {Table: "items", Rows: 75, Copied: 75}},
		Fences: []merge.FenceStatus{{World: "s1", Server: "1", Fenced: true}, {World: "s2", Server: "2", Fenced: true}}}
	return o
}

// sampleProof is the same merge verified, after somebody played.
func sampleProof() *Outcome {
	o := sampleOutcome()
	o.Command, o.Ending, o.Applied = "verify", Differs, nil
	o.Proof = &merge.Proof{Verdict: verdict.Fail, Check: sample1(),
		Tables: []merge.TableProof{
			{Table: "players", Verdict: verdict.Pass, Rows: 1333832, Want: 1333832},
			{Table: "items", Verdict: verdict.Fail, Rows: 74, Want: 75, Missing: 1, Changed: 1, Others: true, Worlds: []string{"s3"}, Samples: []merge.Difference{
				{Source: "s2", Table: "items", Key: `["b00ddceac5bd00007003f"]`, Missing: true},
				{Source: "s2", Table: "items", Key: `["b00ddceac5bd000070040"]`, Columns: []string{"owner_id", "count"}}}},
		},
		Findings: []merge.Refusal{{Table: "items", Code: verdict.CodeReferenceDangle, Reason: "1 row references a row that does not exist"}}}
	o.Proof.Check.Worlds = o.Proof.Check.Worlds[:1]
	return o
}

// sampleUndo is an undo that was forced.
func sampleUndo() *Outcome {
	o := sampleOutcome()
	o.Command, o.Forced, o.Applied = "undo", true, nil
	o.Undone = &merge.Undone{Dropped: true, Raised: true, Lifted: []merge.Lifted{{Database: "s2", Server: "2"}}}
	return o
}

// An empty database that was there before the merge stays, and is not called dropped.
func TestUndoneOfAnEmptyDatabase(t *testing.T) {
	o := sampleUndo()
	o.Undone.Kept = true
	if v := o.View(); !strings.HasPrefix(v.Sentence, "new is empty again, as it was before the merge; ") {
		t.Errorf("got %+v", v)
	}
}

// A world that the fleet registry does not let start is not named among those that can be started.
func TestUndoneButRetired(t *testing.T) {
	o := sampleUndo()
	o.Undone.Lifted = append(o.Undone.Lifted, merge.Lifted{Database: "s3", Server: "3"})
	o.Away = []Away{{"s2", "server 2 was retired"}}
	v := o.View()
	var notes []string
	for _, s := range v.Sections {
		if s.ID == "notes" {
			notes = append(notes, s.Items...)
		}
	}
	if want := []string{"s2 cannot be started yet: server 2 was retired", "server 3 of s3 can be started again"}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	if want := "The game servers of s1 and s3 can be started again, on their databases."; len(v.Next) == 0 || v.Next[len(v.Next)-1].Text != want {
		t.Errorf("then %+v, want %q", v.Next, want)
	}
}

// Fences of a merge without a record are lifted first, also if a new plan is needed: none can be made before.
func TestPlanAgainOfFencedWorlds(t *testing.T) {
	o := sampleOutcome()
	o.Command, o.Applied, o.Then = "status", nil, Commands{Undo: "undo", Plan: "plan"}
	o.Status = &merge.Status{State: merge.StatePlanAgain, Fences: []merge.FenceStatus{{World: "s1", Server: "1", Fenced: true}}}
	v := o.View()
	if len(v.Next) != 2 || v.Next[0].Commands[0] != "undo" || v.Next[1].Commands[0] != "plan" || !strings.HasSuffix(v.Sentence, "; its worlds are fenced") {
		t.Errorf("%s: %+v", v.Sentence, v.Next)
	}
}

// What comes after a refusal: of several reasons, what the one that asks for most asks for. Nothing, if the plan was not
// kept.
func TestRefusedNext(t *testing.T) {
	then := Commands{Again: "again", Apply: "apply", Open: "open", Undo: "undo", Plan: "plan"}
	for _, c := range []struct {
		want  string
		asked []merge.Next
	}{
		{"again", []merge.Next{""}},
		{"plan", []merge.Next{"", merge.NextPlan}},
		{"undo plan", []merge.Next{merge.NextUndoPlan, ""}},
		{"undo", []merge.Next{merge.NextUndo}},
		{"apply", []merge.Next{merge.NextApply}},
		{"open undo", []merge.Next{merge.NextOpen}},
		{"", []merge.Next{merge.NextNone}},
	} {
		o := sampleOutcome()
		o.Ending, o.Applied, o.Then = Refused, nil, then
		for _, next := range c.asked {
			o.Refusals = append(o.Refusals, merge.Refusal{Next: next})
		}
		commands := func() (all []string) {
			for _, s := range o.View().Next {
				all = append(all, s.Commands...)
			}
			return all
		}
		if got := strings.Join(commands(), " "); got != c.want {
			t.Errorf("%q: got %q, want %q", c.asked, got, c.want)
		}
		if o.Then.Again = ""; len(commands()) > 0 {
			t.Errorf("%q, the plan was not kept: got %q", c.asked, commands())
		}
	}
}

// ended is an outcome with what it says.
type ended struct {
	*Outcome
	command, says string
}

// sampleOutcomes are pages of every outcome, by its word.
func sampleOutcomes() map[string]ended {
	all := map[string]ended{
		"DONE":   {sampleOutcome(), "apply", "merging s1, s2 and s3 into the new database new: new is made, of 1,333,907 rows, with 3 renames, in 2m0s"},
		"FAIL":   {sampleProof(), "verify", "new is not as planned"},
		"UNDONE": {sampleUndo(), "undo -force", "new was dropped; nothing in s1, s2 and s3 changed except counters and reserved times, which continue after the keys used in new"},
	}
	proof := func(judged verdict.Verdict, ending Ending) *Outcome {
		o := sampleProof()
		o.Ending, o.Proof.Verdict, o.Proof.Check.Verdict, o.Proof.Findings = ending, judged, judged, nil
		o.Proof.Tables[1] = merge.TableProof{Table: "items", Verdict: verdict.Pass, Rows: 75, Want: 75}
		return o
	}
	all["PASS"] = ended{proof(verdict.Pass, Done), "verify", "every row of s1, s2 and s3 is in new as planned, and nothing else; its schema is that of s1"}
	all["NOT VERIFIED"] = ended{proof(verdict.NotVerified, NotVerified), "verify",
		"every row of s1, s2 and s3 is in new as planned, but the check of the result could not check everything"}
	refused := sampleOutcome()
	refused.Ending, refused.Applied, refused.Now = Refused, nil, &merge.Status{State: merge.StateNone}
	refused.Refusals = []merge.Refusal{{Source: "s2", Reason: "server 2 runs: it is held by host-7: stop it first"}, {Table: "items", Reason: "it has 4 rows, but had 5"}}
	all["REFUSED"] = ended{refused, "apply", "nothing was changed now"}
	moved := sampleOutcome()
	moved.Ending, moved.Applied, moved.Reason = Changed, nil, "database s2, table items: it was changed since the plan was made"
	all["CHANGED"] = ended{moved, "apply", moved.Reason}
	stopped := sampleUndo()
	stopped.Ending, stopped.Reason = Stopped, "stopped while dropping the new database"
	stopped.Now = &merge.Status{State: merge.StateUndoing, Tables: []merge.TableStatus{{Table: "players", Copied: 99265}, {Table: "items"}}}
	restored := sampleOutcome()
	restored.Command, restored.Ending, restored.Applied = "undo", Refused, nil
	all["RESTORED"] = ended{restored, "undo", "nothing was changed now"}
	fences := sampleUndo()
	fences.Forced, fences.Undone = false, &merge.Undone{NoRecord: true, Lifted: sampleUndo().Undone.Lifted}
	all["FENCES"] = ended{fences, "undo", "the fences were lifted; nothing of the merge is left"}
	unknown := sampleUndo()
	unknown.Forced, unknown.Undone = false, &merge.Undone{NoRecord: true, Lifted: sampleUndo().Undone.Lifted, Others: []string{"diary"}}
	all["UNKNOWN"] = ended{unknown, "undo", "the fences were lifted; new has no record of the merge and was not changed"}
	others := sampleUndo()
	others.Forced, others.Undone = false, &merge.Undone{Others: []string{"VIEW mine"}}
	all["OTHERS"] = ended{others, "undo", "everything that the merge made in new was dropped; no row of s1, s2 and s3 was written"}
	older := sampleUndo()
	older.Undone = &merge.Undone{Dropped: true, Raised: true, Unseen: true}
	all["OLDER"] = ended{older, "undo -force", "new was dropped; nothing in s1, s2 and s3 changed except counters, which continue after the keys used in new as it was dropped, and reserved times, which continue after all that may have been given"}
	opened := sampleOutcome()
	opened.Command, opened.Applied, opened.Opened = "open", nil, &merge.Opened{Events: 2}
	all["OPENED"] = ended{opened, "open", "new is open: every row of s1, s2 and s3 is there as planned, and nothing else; its schema is that of s1"}
	tried := sampleOutcome()
	tried.Applied.Try, tried.Applied.Rows, tried.Now.State, tried.Now.Fences = true, 1333909, merge.StateTried, nil
	tried.Applied.Changed = []merge.Changed{{World: "s2", Table: "items", Rows: 42, Want: 40}, {World: "s3", Table: "players", Rows: 500, Want: 500}}
	all["TRIED"] = ended{tried, "apply", "merging s1, s2 and s3 into the new database new: new is made, of 1,333,909 rows, with 3 renames, in 2m0s; it is a rehearsal and can never be opened"}
	all["STOPPED"] = ended{stopped, "undo -force", stopped.Reason}
	return all
}

// Every outcome is said in big, in its colour, with what it means.
func TestOutcomes(t *testing.T) {
	for word, o := range sampleOutcomes() {
		color := map[string]string{"DONE": "pass", "UNDONE": "pass", "PASS": "pass", "FAIL": "fail", "REFUSED": "fail", "CHANGED": "fail", "RESTORED": "fail", "FENCES": "pass", "UNKNOWN": "pass", "OTHERS": "pass", "OLDER": "pass", "OPENED": "pass", "TRIED": "pass"}[word]
		if color == "" {
			color = "unsure"
		}
		html := writeOutcome(t, o.Outcome)
		if as := map[string]string{"UNDONE": "DONE", "FENCES": "DONE", "UNKNOWN": "DONE", "OTHERS": "DONE", "OLDER": "DONE", "OPENED": "DONE", "RESTORED": "REFUSED"}[word]; as != "" {
			word = as
		}
		for _, want := range []string{
			`<title>` + word + ": " + o.command + ", s1, s2, s3 into new</title>",
			`<header class="` + color + `">` + "\n" + `<p class="verdict">` + word + `</p>`,
			"<h1><bdi>" + o.says + "</bdi></h1>",
			"<p><bdi>servermerge " + o.command + ", from 2026-03-20T04:10:00.000Z to 2026-03-20T04:12:00.000Z</bdi></p>",
			"<p><bdi>Plan " + o.Plan.ID + ", made 2026-03-20T04:00:00.000Z</bdi></p>",
		} {
			if !strings.Contains(html, want) {
				t.Errorf("%s: no %q in the document", word, want)
			}
		}
		var text strings.Builder
		if err := o.WriteText(&text, TextOptions{}); err != nil || !strings.HasPrefix(text.String(), word+"  "+o.says+"\n") {
			t.Errorf("%s: %v, the text is\n%s", word, err, &text)
		}
		if got, want := strings.Contains(html, `id="check"`), o.Proof != nil; got != want {
			t.Errorf("%s: a check of the result: %t, want %t", word, got, want)
		}
		ids := make(map[string]bool)
		for _, part := range strings.Split(html, ` id="`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			if ids[id] {
				t.Errorf("%s: two are #%s", word, id)
			}
			ids[id] = true
		}
		for _, part := range strings.Split(html, ` href="#`)[1:] {
			if id, _, _ := strings.Cut(part, `"`); !ids[id] && (o.Proof == nil || id == "check") {
				t.Errorf("%s: nothing is #%s", word, id)
			}
		}
	}
}

// In JSON there is what a script may rely on, and nothing that only people
// read; what is special in HTML is left as it is.
func TestOutcomeJSON(t *testing.T) {
	o := sampleUndo()
	o.Reason, o.Now = "<&>", nil
	var b strings.Builder
	if err := o.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "version": 1,
  "command": "undo",
  "plan": "5b1f0c3d9a7e4f20a1b2c3d4e5f60718",
  "outcome": "done",
  "reason": "<&>",
  "undone": {
    "id": "",
    "dropped": true,
    "raised": true,
    "lifted": [
      {
        "database": "s2",
        "server": "2"
      }
    ]
  },
  "view": {
    "word": "DONE",
    "sentence": "new was dropped; nothing in s1, s2 and s3 changed except counters and reserved times, which continue after the keys used in new",
    "sections": [
      {
        "id": "notes",
        "title": "Notes",
        "items": [
          "server 2 of s2 can be started again"
        ]
      }
    ],
    "next": [
      {
        "text": "The game servers of s1, s2 and s3 can be started again, on their databases."
      }
    ]
  }
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All that is known of a merge can be read.
func TestOutcomeIsThere(t *testing.T) {
	all := sampleOutcomes()
	for outcome, wants := range map[string][]string{
		"DONE": {
			"\nTo prove it and open it to the game:\n  servermerge open plan.json\n",
			"  s1     server 1 (realm 1)  fenced by this merge: it cannot be started\n", "  s2     server 2 (realm 2)  fenced by this merge",
			"  table           s1      s2   s3    planned     copied\n  players  1,234,567  98,765  500  1,333,832  1,333,832\n",
		},
		"FAIL": {
			"Not as planned:\n  items: 1 row of the worlds is missing\n", "  items: it has rows that come from no world\n", "  items: s3 changed since the plan: another process is writing there\n", `from "s2": is missing`,
			"      s1      s2   s3    planned      found  verdict\n", "  items           20      40   15         75         74  FAIL\n",
			"Findings about the result:\n  table \"items\": reference-dangling: 1 row", "The rules of mergecheck say FAIL of new, read from 2026-03-20T03:00:00.000Z to ",
		},
		"REFUSED": {"What blocks it:\n  database \"s2\": server 2 runs: it is held by host-7: stop it first\n", "not fenced by this merge"},
		"STOPPED": {"  copied\n", "  99,265\n", "Nothing is lost. To resume:\n  servermerge again plan.json\n"},
		"UNDONE":  {"  server 2 of s2 can be started again\n", "The game servers of s1, s2 and s3 can be started again, on their databases.\n"},
		"OTHERS":  {"because the merge did not make everything in it: VIEW mine\n"},
		"OPENED":  {"  2 events are enabled there\n", "Point the game server of s1 to new, and start it.\n", "  GRANT SELECT ON new.* TO game\n", "gameid servers retire -reason 'merged into new' 2\n"},
		"TRIED":   {"Rows have changed since the plan was made: make a new plan before the merge:\n", "  items    s2       42           40\n", "  players  s3      500          500  other values\n", "Then drop it:\n  servermerge undo plan.json\n"},
		"CHANGED": {"To undo it:\n  servermerge undo plan.json\n"},
	} {
		o := all[outcome].Outcome
		o.Plan.New.Grants = []string{"GRANT SELECT ON new.* TO game"}
		text := outcomeText(t, o)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", outcome, want, text)
			}
		}
	}
	// The page has what the plan says, and the check of the result without advice for the time before a merge.
	html := writeOutcome(t, all["FAIL"].Outcome)
	for _, want := range []string{"<h2>The new database</h2>", "火球术士1.s2", `<section id="passed">`, "4 keys occur more than once", "server 1 realm 1 in s1: 12,345 IDs"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the document", want)
		}
	}
	if strings.Contains(html, "<h2>Rule files</h2>") {
		t.Error("a section with nothing in it is on the page")
	}
	if strings.Contains(html, "find out why both databases have the same key</bdi>") {
		t.Error("a rule advises against a merge that was carried out")
	}
	// What is not known is not said.
	if text := outcomeText(t, all["REFUSED"].Outcome); strings.Contains(text, "copied") {
		t.Errorf("a merge that was not begun has copied something:\n%s", text)
	}
	o := all["DONE"].Outcome
	o.Now = nil
	if text := outcomeText(t, o); strings.Contains(text, "fence") || strings.Contains(text, "copied") {
		t.Errorf("what is not known is said:\n%s", text)
	}
	const not = "  s2     server 2 (realm 2)  not fenced by this merge\n"
	for _, at := range []merge.FenceStatus{{World: "s2", Server: "2"}, {World: "s3", Server: "2", Fenced: true}, {World: "s2", Server: "9", Fenced: true}} {
		o.Now = &merge.Status{Fences: []merge.FenceStatus{at}}
		if text := outcomeText(t, o); !strings.Contains(text, not) {
			t.Errorf("%+v is taken for the fence of server 2 of s2:\n%s", at, text)
		}
	}
	o.Plan.Worlds[1].Fence = false
	if text := outcomeText(t, o); !strings.Contains(text, "no fence is planned") {
		t.Errorf("it is not said that no fence is planned:\n%s", text)
	}
}

// However many renames there are, the page stays one that opens.
func TestManyRenames(t *testing.T) {
	o := sampleOutcome()
	o.Then.Renames = "servermerge whois plan.json"
	for len(o.Plan.Renames) < 12345 {
		o.Plan.Names++
		o.Plan.Renames = append(o.Plan.Renames, o.Plan.Renames[0])
	}
	o.Plan.Names = len(o.Plan.Renames)
	html := writeOutcome(t, o)
	if n := strings.Count(html, "<bdi>火球术士"); n != 2*maxRows {
		t.Errorf("%d names, want %d", n, 2*maxRows)
	}
	for _, want := range []string{"<h2>New values: 12,345 renames</h2>", "and 11,345 more: <bdi>servermerge whois plan.json</bdi>"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q in the document", want)
		}
	}
}

// A refusal after rows were copied does not say that nothing was changed.
func TestRefusedLater(t *testing.T) {
	o := sampleOutcome()
	o.Ending, o.Applied, o.Wrote = Refused, nil, 5
	if is := o.View(); is.Word != "REFUSED" || is.Sentence != "copied rows are kept" {
		t.Errorf("%s: %s", is.Word, is.Sentence)
	}
	o.Wrote, o.Midway = 0, true
	if is := o.View(); is.Sentence != "what was done until now is kept" {
		t.Error(is.Sentence)
	}
}

// An opened merge that an undo has closed is not said to be open to the game.
func TestStatusClosed(t *testing.T) {
	o := sampleOutcome()
	o.Command, o.Applied, o.Status = "status", nil, o.Now
	o.Status.State, o.Status.Closed = merge.StateOpen, true
	v := o.View()
	if !strings.HasSuffix(v.Sentence, "were copied, and it was opened; an undo has closed it to game servers") || v.Color != verdict.NotVerified ||
		!strings.Contains(fmt.Sprint(v), "servermerge undo plan.json") || !strings.Contains(fmt.Sprint(v), "servermerge open plan.json") {
		t.Errorf("%+v", v)
	}
}

// The new database of a merge whose worlds are not all fenced may be a copy from before an undo: it is not to be opened.
func TestStatusWithoutAFence(t *testing.T) {
	for state, word := range map[merge.State]string{merge.StateMade: "MADE", merge.StateOpen: "OPEN"} {
		o := sampleOutcome()
		o.Command, o.Applied, o.Status = "status", nil, o.Now
		o.Status.State = state
		if v := o.View(); v.Word != word || v.Color == verdict.Fail {
			t.Errorf("%s: %+v", state, v)
		}
		o.Status.Fences[1].Fenced = false
		v := o.View()
		if v.Word != word || v.Color != verdict.Fail || !strings.Contains(v.Sentence, "not all worlds are fenced") || strings.Contains(fmt.Sprint(v), "servermerge open plan.json") {
			t.Errorf("%s: %+v", state, v)
		}
	}
}
