package merge

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/printable"
)

func TestCells(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "火球": 4, "한글": 4, "カナ": 4, "ｶﾅ": 2, "Ａ": 2, "→": 1, "🔥": 2, "…": 1} {
		if got := cells(s); got != want {
			t.Errorf("cells(%q) = %d, want %d", s, got, want)
		}
	}
	for s, want := range map[string]string{"abcdef": "abcdef", "abcdefg": "abcde…", "火球术": "火球术", "火球术士": "火球…", "a火球术士": "a火球…"} {
		if got := shortened(s, 6); got != want {
			t.Errorf("shortened(%q) = %q, want %q", s, got, want)
		}
	}
}

// wide has every part of a report, with more in it than fits anywhere.
func wide() *Report {
	long := strings.Repeat("many words ", 40)
	r := &Report{Version: ReportVersion, Verdict: Fail, Target: "s0", Started: time.Unix(0, 0)}
	for _, name := range []string{"s0", "s1"} {
		s := Summary{Name: name, Engine: "sqlite 3", Tables: []TableSummary{{Table: "items", Rows: 1234567}}}
		for n := range 9 {
			s.Servers = append(s.Servers, ServerSummary{Server: n + 1, Listed: n%2 == 0, IDs: int64(n)})
		}
		r.Sources = append(r.Sources, s)
	}
	var fields []Field
	for _, c := range strings.Split("id account name level gold created updated guild", " ") {
		fields = append(fields, Field{Column: c, Value: c + strings.Repeat("火", 30)})
	}
	for range textFailures + 3 {
		r.Results = append(r.Results, Result{
			Code: CodeKeyCollision, Table: "items", Subject: "id", Verdict: Fail, Count: 1234, Message: long,
			Samples: []Sample{{Key: "k", Rows: []SampleRow{{"s0", "", fields}, {"s1", "", fields[:3]}, {"s1", "players", fields}}, Omitted: 12}},
			Gaps:    []Gap{{"s1", long}},
		})
	}
	for n := range 30 {
		r.Results = append(r.Results, Result{Code: CodeTableSkipped, Verdict: NotVerified, Gaps: []Gap{{Reason: long}}, Next: []string{printable.Number(int64(n)) + " " + long}})
	}
	r.Results = append(r.Results, Result{Code: CodeSchemaTable, Table: "items", Verdict: Pass, Read: 2})
	return r
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, width := range []int{0, 60, 80, 132} {
		var b bytes.Buffer
		if err := wide().WriteText(&b, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		limit := width
		if width == 0 {
			limit = 100
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSuffix(line, "\n")
			// The summary of a source is not cut: its numbers are what counts.
			summary := strings.Contains(line, "server ") || strings.Contains(line, "sqlite 3")
			if n := cells(line); n > limit && !summary {
				t.Errorf("width %d: a line of %d: %s", width, n, line)
			}
			if line != strings.TrimRight(line, " ") {
				t.Errorf("blanks at the end of %q", line)
			}
		}
		for _, want := range []string{"1 of 1,234 shown", "and 12 more rows", "and 5 more servers", "(+", "more in the JSON form", "1,234,567 rows"} {
			if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
				t.Errorf("width %d: no %q", width, want)
			}
		}
		if got := strings.Count(b.String(), "and 12 more rows"); got != textSampled {
			t.Errorf("samples of %d failures, want %d", got, textSampled)
		}
	}
}

// A report in which everything passed fits one screen, however many tables
// there are.
func TestPassFitsAScreen(t *testing.T) {
	r := &Report{Verdict: Pass, Target: "s0", Sources: []Summary{{Name: "s0"}, {Name: "s1"}}}
	for _, c := range Codes() {
		for n := range 97 {
			r.Results = append(r.Results, Result{Code: c.Code, Table: printable.Number(int64(n)), Verdict: Pass, Read: 2})
		}
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 24 {
		t.Errorf("%d lines:\n%s", n, &b)
	}
	if !strings.Contains(b.String(), "97 tables, 194 read") {
		t.Errorf("no totals:\n%s", &b)
	}
}

func TestTextColor(t *testing.T) {
	var plain, color bytes.Buffer
	if err := errors.Join(wide().WriteText(&plain, TextOptions{}), wide().WriteText(&color, TextOptions{Color: true})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain.String(), "\x1b") {
		t.Error("colours in plain text")
	}
	if !strings.HasPrefix(color.String(), "\x1b[1;31mFAIL\x1b[0m  ") {
		t.Errorf("begins with %.30q", color.String())
	}
	strip := strings.NewReplacer("\x1b[1;31m", "", "\x1b[1;33m", "", "\x1b[1;32m", "", "\x1b[0m", "")
	if strip.Replace(color.String()) != plain.String() {
		t.Error("colours change the text")
	}
}

type brokenWriter struct{}

var errBroken = errors.New("disk full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestTextWriterError(t *testing.T) {
	if err := wide().WriteText(brokenWriter{}, TextOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

func TestExitCode(t *testing.T) {
	for verdict, want := range map[Verdict]int{Pass: 0, Fail: 1, NotVerified: 3, "": 3, "pass": 3} {
		if got := (&Report{Verdict: verdict}).ExitCode(); got != want {
			t.Errorf("%q: %d, want %d", verdict, got, want)
		}
	}
}

func TestWorst(t *testing.T) {
	for want, verdicts := range map[Verdict][][]Verdict{
		Pass:        {{Pass}, {Pass, Pass}},
		NotVerified: {{}, {NotVerified}, {Pass, NotVerified}, {NotVerified, Pass}, {Pass, NotVerified, Pass}, {Pass, ""}, {""}},
		Fail:        {{Fail}, {Pass, Fail}, {Fail, Pass}, {NotVerified, Fail, Pass}, {Fail, NotVerified}},
	} {
		for _, list := range verdicts {
			var results []Result
			for _, v := range list {
				results = append(results, Result{Verdict: v})
			}
			if got := worst(results); got != want {
				t.Errorf("%v: %s, want %s", list, got, want)
			}
		}
	}
}
