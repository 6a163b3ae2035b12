package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/verdict"
)

// full has every part of a report, with more in it than fits anywhere.
func full() *verdict.Report {
	long := strings.Repeat("many words ", 40)
	r := &verdict.Report{Version: verdict.ReportVersion, Verdict: verdict.Fail, Started: time.Unix(0, 0)}
	for _, name := range []string{"s0", "s1"} {
		s := verdict.Summary{Name: name, Engine: "sqlite 3", Tables: []verdict.TableSummary{{Table: "items", Rows: 1234567}}}
		for n := range 9 {
			s.Servers = append(s.Servers, verdict.ServerSummary{Server: n + 1, Listed: n%2 == 0, IDs: int64(n)})
		}
		r.Worlds = append(r.Worlds, s)
	}
	var fields []catalog.Field
	for _, c := range strings.Split("id account name level gold created updated guild", " ") {
		fields = append(fields, catalog.Field{Column: c, Value: c + strings.Repeat("火", 30)})
	}
	for range textFailures + 3 {
		r.Results = append(r.Results, verdict.Result{
			Code: verdict.CodeKeyCollision, Table: "items", Subject: "id", Verdict: verdict.Fail, Count: 1234, Message: long,
			Samples: []verdict.Sample{{Key: "k", Rows: []verdict.SampleRow{{World: "s0", Fields: fields}, {World: "s1", Fields: fields[:3]}, {World: "s1", Table: "players", Fields: fields}}, Omitted: 12}},
			Gaps:    []verdict.Gap{{World: "s1", Reason: long}},
		})
	}
	for n := range 30 {
		r.Results = append(r.Results, verdict.Result{Code: verdict.CodeTableSkipped, Verdict: verdict.NotVerified, Gaps: []verdict.Gap{{Reason: long}}, Next: []string{printable.Number(int64(n)) + " " + long}})
	}
	r.Results = append(r.Results, verdict.Result{Code: verdict.CodeSchemaTable, Table: "items", Verdict: verdict.Pass, Read: 2})
	return r
}

func TestTextFitsItsWidth(t *testing.T) {
	for _, width := range []int{0, 60, 80, 132} {
		var b bytes.Buffer
		if err := NewCheck(full()).WriteText(&b, TextOptions{Width: width}); err != nil {
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
			if n := columns.Width(line); n > limit && !summary {
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

// A report in which everything passed is short, however many tables
// there are, also if every rule had something to pass.
func TestPassIsShort(t *testing.T) {
	r := &verdict.Report{Verdict: verdict.Pass, Worlds: []verdict.Summary{{Name: "s0"}, {Name: "s1"}}}
	for _, c := range verdict.Codes() {
		for n := range 97 {
			r.Results = append(r.Results, verdict.Result{Code: c.Code, Table: printable.Number(int64(n)), Verdict: verdict.Pass, Read: 2})
		}
	}
	var b bytes.Buffer
	if err := NewCheck(r).WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 10+(len(verdict.Codes())+1)/2 {
		t.Errorf("%d lines:\n%s", n, &b)
	}
	if !strings.Contains(b.String(), "97 tables, 194 read") {
		t.Errorf("no totals:\n%s", &b)
	}
}

func TestTextColor(t *testing.T) {
	var plain, color bytes.Buffer
	if err := errors.Join(NewCheck(full()).WriteText(&plain, TextOptions{}), NewCheck(full()).WriteText(&color, TextOptions{Color: true})); err != nil {
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

func TestTextWriterError(t *testing.T) {
	if err := NewCheck(full()).WriteText(brokenWriter{}, TextOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}
