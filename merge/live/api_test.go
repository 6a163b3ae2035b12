package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"html"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"mergesafe/merge/campaign"
	"mergesafe/merge/report"
)

var update = flag.Bool("update", false, "rewrite the examples of docs/fleet-api.md")

const apiPage = "../../docs/fleet-api.md"

// explained is a metric: its help, its first sample without the value, and all samples.
var explained = regexp.MustCompile(`# HELP \S+ (.*)\n# TYPE .*\n(\S+) .*\n(?:[^#].*\n)*`)

// The examples of the document are what a campaign of three merges answers.
func TestDocument(t *testing.T) {
	book := documented(t)
	h := New(book, Options{})
	text, err := os.ReadFile(apiPage)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)(<!-- example: (\\S+) -->\n```[a-z]*\n).*?```")
	found := map[string]bool{}
	is := examples.ReplaceAllStringFunc(string(text), func(block string) string {
		m := examples.FindStringSubmatch(block)
		found[m[2]] = true
		answer := ask(h, "GET", m[2], "").Body.String()
		if m[2] == "/metrics" {
			answer = explained.ReplaceAllString(answer, "$2: $1\n")
		}
		return m[1] + answer + "```"
	})
	if *update {
		if err := os.WriteFile(apiPage, []byte(is), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), is); diff != "" && !*update {
		t.Errorf("%s is not what is answered (go test ./merge/live -run Document -update rewrites it):\n%s", apiPage, diff)
	}
	for _, path := range []string{"/api/status", "/api/events?after=3&limit=2", "/metrics"} {
		if !found[path] {
			t.Errorf("there is no example of %s", path)
		}
	}
}

// documented is a small campaign that has most of what there is.
func documented(t *testing.T) *book {
	b := night(t, 3)
	s := &b.status
	s.Name, s.Parallel = "autumn", 2
	took, ended := *s.Began, noon
	s.Merges = []campaign.MergeStatus{
		{Worlds: []string{"w1", "w2", "w3"}, Phase: campaign.Verified, Plan: "3f2a91c0", Rows: 1_250_000, Renames: 12, Predicted: [2]float64{120, 240}, Took: 151.5, Attempts: 1, Began: &took, Ended: &ended, Reports: []string{"w1.verify.html"}},
		{Worlds: []string{"w4", "w5"}, Phase: campaign.Copying, Active: true, Plan: "77aa01bd", Rows: 900_000, Step: "copy", Copied: 450_000, Done: 450_000, Total: 900_000, PerSecond: 9000, Left: 60, Predicted: [2]float64{80, 160}, Took: 50, Attempts: 1, Began: &took},
		{Worlds: []string{"w6", "w7"}, Phase: campaign.Failed, Plan: "c0ffee11", Rows: 700_000, Predicted: [2]float64{80, 160}, Took: 20, Attempts: 3, Began: &took, Ended: &ended, Problem: "the table 'items' is full", Advice: []string{"Make room on the disk of the database server, then:", "fleet apply campaign.toml"}},
	}
	b.events = nil
	for _, e := range []campaign.Event{{Kind: "began", Text: "apply begins"}, {Kind: "planned", Merge: "w1", Text: "1.2 M rows"}, {Kind: "merging", Merge: "w1", Text: "copying begins"}, {Kind: "verified", Merge: "w1", Text: "every row is as planned"}, {Kind: "failed", Merge: "w6", Text: "the table 'items' is full"}} {
		b.happens(e.Kind, e.Merge, e.Text)
	}
	return b
}

func TestEvents(t *testing.T) {
	h := New(night(t, 3), Options{})
	var all []int64
	for after, more := int64(0), true; more; {
		w := ask(h, "GET", "/api/events?limit=70&after="+json.Number(jsonOf(after)).String(), "")
		var page Events
		if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != 200 {
			t.Fatalf("%d, %v", w.Code, err)
		}
		for _, e := range page.Events {
			all = append(all, e.Number)
		}
		after, more = page.Next, page.More
	}
	if len(all) != 200 || all[0] != 1 || all[199] != 200 {
		t.Errorf("%d events: %v", len(all), all)
	}
	for _, query := range []string{"after=-1", "after=x", "limit=0", "limit=1001", "limit=1e3", "after=99999999999999999999"} {
		if code := ask(h, "GET", "/api/events?"+query, "").Code; code != 400 {
			t.Errorf("%s: %d", query, code)
		}
	}
	if body := ask(h, "GET", "/api/events?after=200", "").Body.String(); !strings.Contains(body, `"events": []`) || !strings.Contains(body, `"next": 200`) {
		t.Errorf("at the end: %s", body)
	}
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestPlayers(t *testing.T) {
	players := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.FormValue("target"))) })
	if w := ask(New(night(t, 1), Options{Players: players}), "GET", "/api/players?target=w1", ""); w.Code != 200 || w.Body.String() != "w1" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if code := ask(New(night(t, 1), Options{}), "GET", "/api/players", "").Code; code != 404 {
		t.Errorf("without players: %d", code)
	}
	if code := ask(New(night(t, 1), Options{Players: players, Private: true, Token: token}), "GET", "/api/players", "").Code; code != 401 {
		t.Errorf("without the token: %d", code)
	}
}

// Metrics are as Prometheus reads them, also with hostile names, and without a state.
func TestMetrics(t *testing.T) {
	hostile := night(t, 60)
	hostile.status.Merges[26].Worlds[0] = "a\"b\\c\nd\xff{}"
	for name, source := range map[string]Source{"night": hostile, "idle": &book{status: campaign.Status{Now: noon}}, "none": &book{away: os.ErrClosed}} {
		text := ask(New(source, Options{}), "GET", "/metrics", "").Body.String()
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v\n%s", name, problems, err, text)
		}
	}
	text := ask(New(hostile, Options{}), "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`fleet_merges{phase="verified"} 22`, `fleet_merges{phase="failed"} 1`, `fleet_doing{command="apply"} 1`, `fleet_doing{command="undo"} 0`, `fleet_state_readable 1`, `fleet_events_total 200`,
		`fleet_merge_rows_per_second{merge="eu-w190"} 8300`, `fleet_merge_left_seconds{merge="a\"b\\c\nd` + "\uFFFD" + `{}"} 95`, `fleet_worked_seconds 4000`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

func TestLeft(t *testing.T) {
	for _, c := range []struct {
		m     campaign.MergeStatus
		want  string
		known bool
	}{
		{campaign.MergeStatus{Phase: campaign.Waiting, Predicted: [2]float64{240, 360}}, "4 to 6 min", true},
		{campaign.MergeStatus{Phase: campaign.Waiting, Predicted: [2]float64{240, 240}}, "about 4 min", true}, // tried
		{campaign.MergeStatus{Phase: campaign.Waiting}, "less than 1 s", false},
		{campaign.MergeStatus{Phase: campaign.Copying, Active: true, Predicted: [2]float64{240, 360}, Took: 200, Left: 300}, "about 5 min", true}, // as it is measured,
		{campaign.MergeStatus{Phase: campaign.Copying, Active: true, Predicted: [2]float64{240, 360}, Took: 400}, "less than 1 s", false},
		{campaign.MergeStatus{Phase: campaign.Copying, Active: true, Predicted: [2]float64{10, 20}, Took: 400, PerSecond: 10, Left: 600}, "about 10 min", true},
		{campaign.MergeStatus{Phase: campaign.Verified, Predicted: [2]float64{240, 360}}, "less than 1 s", true},
		{campaign.MergeStatus{Phase: campaign.Planned, Predicted: [2]float64{5000, 9000}}, "83 min to 2 h 30 min", true},
		{campaign.MergeStatus{Phase: campaign.Planned, Predicted: [2]float64{1, 90}}, "up to 90 s", true},
	} {
		left, known := c.m.TimeLeft(true)
		if left := span(left); left.String() != c.want || known != c.known {
			t.Errorf("%+v: %s, %v; want %s, %v", c.m, left, known, c.want, c.known)
		}
	}
}

// The text of a night, its page and its JSON form say the same.
func TestSaysTheSame(t *testing.T) {
	of := night(t, 60)
	of.status.Doing = ""
	of.status.Merges[3].Open, of.status.Merges[3].Was, of.status.Merges[3].Address = true, "mysql:tcp(db:3306)/w22", "mysql:tcp(db:3306)/w22_m2"
	of.status.Merges[3].Grants = []string{"GRANT SELECT ON `w22_m2`.* TO `game`@`%`"}
	said := of.status.Say(campaign.Telling{})
	var text, page bytes.Buffer
	record := &Record{Status: &of.status, Events: of.events}
	if err := errors.Join(said.WriteText(&text, report.TextOptions{}), record.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	_, inside, _ := strings.Cut(page.String(), `id="report">`)
	var doc struct{ View *report.View }
	if err := json.NewDecoder(strings.NewReader(inside)).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if is, want := jsonOf(doc.View), jsonOf(said.View); is != want {
		t.Errorf("the JSON form says %s, want %s", is, want)
	}
	shown := html.UnescapeString(regexp.MustCompile("<[^>]*>").ReplaceAllString(page.String(), ""))
	facts := []string{said.Word, said.Sentence}
	steps := said.Next
	for _, s := range said.Sections {
		facts = slices.Concat(facts, []string{s.Title}, s.Words, s.Head, slices.Concat(s.Rows...), s.Commands)
		steps = append(steps, s.Steps...)
	}
	for _, s := range steps {
		facts = append(append(facts, s.Text), s.Commands...)
	}
	for _, fact := range facts {
		if !strings.Contains(text.String(), fact) {
			t.Errorf("the text does not say %q", fact)
		}
		if !strings.Contains(shown, fact) {
			t.Errorf("the page does not say %q", fact)
		}
	}
}

// boardOf is the page of a status.
func boardOf(s *campaign.Status) *board {
	s.Now = noon
	o := Options{File: "my night.toml"}
	return newBoard(&view{Status: s, Said: s.Say(o.telling())}, o)
}

// The page says what the text says, and shows it in its colour.
func TestWord(t *testing.T) {
	verified := []campaign.MergeStatus{{Worlds: []string{"w1", "w2"}, Phase: campaign.Verified, Open: true, Was: "sqlite:w1.db", Address: "sqlite:w1_m2.db"}}
	copying := []campaign.MergeStatus{{Worlds: []string{"w1", "w2"}, Phase: campaign.Copying, Active: true}}
	for _, c := range []struct {
		s           campaign.Status
		word, class string
		want        string // on the page
	}{
		{campaign.Status{Doing: "apply", Merges: copying}, "MERGING", "working", "1 merge runs; 0 of 1 merge verified"},
		{campaign.Status{Doing: "undo", Merges: copying}, "UNDOING", "working", ""},
		{campaign.Status{Doing: "apply", Paused: true, Merges: copying}, "PAUSED", "unsure", "paused by the operator"},
		{campaign.Status{Doing: "apply", Waits: "until 02:00, when the window opens", Merges: copying}, "WAITING", "unsure", "waits until 02:00, when the window opens"},
		{campaign.Status{Merges: copying}, "NOT COMPLETE", "unsure", "fleet apply &#39;my night.toml&#39;"},
		{campaign.Status{Merges: verified}, "DONE", "pass", "<bdi>sqlite:w1_m2.db</bdi>"},
		{campaign.Status{Merges: append([]campaign.MergeStatus{{Phase: campaign.Failed}}, verified...)}, "FAILED", "fail", ""},
	} {
		b := boardOf(&c.s)
		render, err := newRenderer()
		if err != nil {
			t.Fatal(err)
		}
		parts, err := render.parts(b)
		if err != nil {
			t.Fatal(err)
		}
		page := parts[0].HTML + parts[3].HTML
		if b.Word != c.word || b.Class != c.class || !strings.Contains(page, c.want) {
			t.Errorf("%s in the colour %s, want %s, %s, %q:\n%s", b.Word, b.Class, c.word, c.class, c.want, page)
		}
	}
	// Nothing says that a world may be started in a new database before that is open.
	made := []campaign.MergeStatus{
		{Worlds: []string{"w1", "x"}, New: "w1_m2", Phase: campaign.Copying, Active: true, Done: 30, Total: 30},
		{Worlds: []string{"w2", "x"}, New: "w2_m2", Phase: campaign.Made},
		{Worlds: []string{"w3", "x"}, New: "w3_m2", Phase: campaign.Opening, Active: true},
		{Worlds: []string{"w4", "x"}, New: "w4_m2", Phase: campaign.Opening},
		{Worlds: []string{"w5", "x"}, New: "w5_m2", Phase: campaign.Verified, Open: true},
	}
	shown := boardOf(&campaign.Status{Doing: "apply", Merges: made})
	for i, want := range []string{"copying", "made, not open", "opening", "proved, not open", "verified, open"} {
		if m := shown.Merges[i]; m.Word != want {
			t.Errorf("%s is shown as %q, want %q", m.Name(), m.Word, want)
		}
	}
	if got := shown.Merges[0].Figures; got != "30 rows are there; indexes, keys and views are made" {
		t.Errorf("got %q", got)
	}
	if shown.Done != 1 || len(shown.Now) != 4 || len(shown.Problems) != 0 {
		t.Errorf("%d done, %d now, problems %+v", shown.Done, len(shown.Now), shown.Problems)
	}
	render, err := newRenderer()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := render.parts(shown)
	if err != nil || !strings.Contains(parts[2].HTML, `in <bdi>w4_m2</bdi>`) {
		t.Errorf("%v, %s", err, parts[2].HTML)
	}
	// A merge that was interrupted needs a person; one that runs does not.
	idle := boardOf(&campaign.Status{Merges: copying})
	busy := boardOf(&campaign.Status{Doing: "apply", Merges: copying})
	if len(idle.Problems) != 1 || idle.Problems[0].Word != "interrupted while copying" || len(busy.Problems) != 0 {
		t.Errorf("%+v, %+v", idle.Problems, busy.Problems)
	}
}
