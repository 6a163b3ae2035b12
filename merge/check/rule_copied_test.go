package check_test

import (
	"strings"
	"testing"

	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A world is a copy of another one if over half of the keys that both have, and at least 50, have equal rows.
func TestWorldsThatAreCopies(t *testing.T) {
	const heroes = 120
	played := func(b *mergetest.Database, n int) { // those people play on
		for i := range n {
			b.Rows["heroes"][i]["level"], b.Rows["things"][i]["kind"] = int64(6), int64(7)
		}
	}
	rows := func(db *mergetest.Database, n int) {
		for table := range db.Rows {
			db.Rows[table] = db.Rows[table][:n]
		}
	}
	same := func(o *rules.Options, _, _ *mergetest.Database) {}
	for name, tt := range map[string]struct {
		change func(o *rules.Options, a, b *mergetest.Database)
		want   string // a part of the reason; empty: nothing is said
	}{
		"a copy":                 {same, "it seems to be a copy of a: both have 120 compared keys in table heroes, of which 120 have equal rows"},
		"a copy, played":         {func(_ *rules.Options, _, b *mergetest.Database) { played(b, 59) }, "120 compared keys in table heroes, of which 61 have equal rows"},
		"half of it":             {func(_ *rules.Options, _, b *mergetest.Database) { played(b, 60) }, ""},
		"an older, smaller copy": {func(_ *rules.Options, _, b *mergetest.Database) { rows(b, 50) }, "50 compared keys in table heroes, of which 50 have equal rows"},
		"a few rows":             {func(_ *rules.Options, _, b *mergetest.Database) { rows(b, 49) }, ""},
		"a copy of one kind of things": {func(_ *rules.Options, _, b *mergetest.Database) {
			for _, row := range b.Rows["heroes"] {
				row["level"] = int64(6)
			}
		}, "120 compared keys in table things, of which 120 have equal rows"},
		"allowed": {func(o *rules.Options, _, _ *mergetest.Database) { o.Allow = []string{verdict.CodeWorldCopied} }, "120 have equal rows"},
	} {
		t.Run(name, func(t *testing.T) {
			o, a, b := oldWords(), oldWorld("a", heroes), oldWorld("b", heroes)
			tt.change(&o, a, b)
			report := mustCheck(t, o, a, b)
			found := find(report, verdict.CodeWorldCopied, "", "")
			switch {
			case tt.want == "" && len(found) == 0:
			case len(found) != 1 || found[0].Verdict != verdict.NotVerified || len(found[0].Gaps) != 1 || found[0].Gaps[0].World != "b" || !strings.Contains(found[0].Gaps[0].Reason, tt.want):
				t.Errorf("got %+v, want %q", found, tt.want)
			case len(o.Allow) > 0 && report.Verdict != verdict.Pass:
				t.Errorf("allowed, and the verdict is %s: %v", report.Verdict, notPassed(report))
			}
		})
	}
}

// Of a large table a sample is compared, in which rows with one key are in both worlds, wherever they lie.
func TestLargeWorldsThatAreCopies(t *testing.T) {
	const heroes = 20_000
	for name, tt := range map[string]struct {
		changed int // of the rows
		want    bool
	}{"a copy without its oldest rows, played": {heroes / 3, true}, "other rows": {heroes, false}} {
		t.Run(name, func(t *testing.T) {
			a, b := oldWorld("a", heroes), oldWorld("b", heroes)
			for table := range b.Rows {
				b.Rows[table] = b.Rows[table][heroes/4:]
			}
			for i := range min(tt.changed, len(b.Rows["heroes"])) {
				b.Rows["heroes"][i]["level"], b.Rows["things"][i]["kind"] = int64(6), int64(7)
			}
			found := find(mustCheck(t, oldWords(), a, b), verdict.CodeWorldCopied, "", "")
			if got := len(found) == 1 && found[0].Verdict == verdict.NotVerified; got != tt.want {
				t.Errorf("a copy: %t, want %t: %+v", got, tt.want, found)
			}
		})
	}
}
