package check_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// readings notes what is read of a database.
type readings struct {
	*mergetest.Database
	of map[string]int // scans, by table
}

func (r readings) Scan(ctx context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	r.of[scan.Table]++
	return r.Database.Scan(ctx, scan)
}

// checkNoting checks two databases and returns how often each table of the second one was
// read.
func checkNoting(t *testing.T, opts rules.Options, a, b *mergetest.Database) (*verdict.Report, map[string]int) {
	t.Helper()
	noted := readings{b, make(map[string]int)}
	report := checked(t, []catalog.Source{a, noted}, opts)
	return report, noted.of
}

func messageOf(t *testing.T, r *verdict.Report, code, table string) string {
	t.Helper()
	i := slices.IndexFunc(r.Results, func(r verdict.Result) bool { return r.Code == code && r.Table == table })
	if i < 0 {
		t.Fatalf("nothing is said of %s of %s", code, table)
	}
	return fmt.Sprint(r.Results[i].Verdict, ": ", r.Results[i].Message)
}

// What the keys of the spaces prove is not read again, and said in the same words.
func TestKnownKeysAreReadOnce(t *testing.T) {
	rules := oldWords()
	rules.Rules[0].References[0].At = []string{"things.owner", "spells.hero"}
	rules.Rules[0].Shared = append(rules.Rules[0].Shared, "heroes.spouse")
	report, read := checkNoting(t, rules, oldWorld("a", 30), oldWorld("b", 20))
	if report.Verdict != verdict.Pass {
		t.Fatal(notPassed(report))
	}
	// Keys, references, what is not declared and what is shared, together.
	if want := map[string]int{"heroes": 1, "things": 1, "spells": 1}; !maps.Equal(read, want) {
		t.Errorf("read %v times, want %v", read, want)
	}
	for _, c := range [][3]string{
		{verdict.CodeKeyCollision, "heroes", "PASS: none occurs twice: 50 keys read"},
		{verdict.CodeKeyCollision, "things", "PASS: none occurs twice: 50 keys read"},
		{verdict.CodeReferenceDangle, "things", "PASS: every reference matches a row"},
		{verdict.CodeReferenceRebind, "things", "PASS: no reference would point to another database's row"},
	} {
		if got := messageOf(t, report, c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
	if s := report.Worlds[1].Tables[0]; s.Table != "heroes" || s.First != "1" || s.Last != "20" {
		t.Errorf("the keys are told as %+v", s)
	}
}

// Rows that lead to no row are kept as they are read with the keys, to be shown.
func TestDanglingRowsAreReadOnce(t *testing.T) {
	b := oldWorld("b", 20)
	b.Rows["things"][1]["owner"] = int64(99)
	report, read := checkNoting(t, oldWords(), oldWorld("a", 30), b)
	if read["things"] != 1 {
		t.Errorf("read %d times, want 1", read["things"])
	}
	if got, want := messageOf(t, report, verdict.CodeReferenceDangle, "things"), "PASS: 1 row references a row that does not exist: b: 1; their new values match no row either"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Rows without a match are told apart by other columns only if one can: things.kind has too many values in the first world,
// so the second is not read for it.
func TestNothingTellsKindsApart(t *testing.T) {
	b := oldWorld("b", 20)
	for i := range 6 {
		b.Rows["things"][i]["owner"] = int64(90 + i)
	}
	if _, read := checkNoting(t, oldWords(), oldWorld("a", 50), b); read["things"] != 1 {
		t.Errorf("read %d times, want 1", read["things"])
	}
}

// A table that refers to itself is read once with its keys. It is read again if more of its values than can be kept are no
// key yet when they are read, which is said; or if one leads nowhere, to show its row.
func TestTableThatRefersToItself(t *testing.T) {
	for _, c := range []struct {
		heroes   int
		dangling int64
		again    int
	}{{20, 0, 0}, {20, 1, 1}, {check.HeavyValues + 2, 0, 1}, {check.HeavyValues + 2, 1, 1}} {
		b := oldWorld("b", c.heroes)
		for i, row := range b.Rows["heroes"] {
			row["spouse"] = int64(i + 2) // the next one
		}
		b.Rows["heroes"][c.heroes-1]["spouse"] = int64(1) + c.dangling*int64(c.heroes)
		told, opts := "", oldWords()
		opts.Progress = func(p rules.Progress) { told += p.Again }
		report, read := checkNoting(t, opts, oldWorld("a", 30), b)
		if want := "too many values of spouse may be keys that are read later"; c.heroes > check.HeavyValues && told != want || c.heroes < check.HeavyValues && told != "" {
			t.Errorf("%+v: told %q", c, told)
		}
		if _, alone := checkNoting(t, oldWords(), oldWorld("a", 30), oldWorld("b", c.heroes)); read["heroes"]-alone["heroes"] != c.again {
			t.Errorf("%+v: read %d times, and %d without any spouse", c, read["heroes"], alone["heroes"])
		}
		at := slices.IndexFunc(report.Rekeyed.Columns, func(c verdict.RekeyedColumn) bool { return c.Column == "spouse" })
		if got, want := report.Rekeyed.Columns[at].Cases[0].Counts[1], (verdict.CaseCounts{Resolved: int64(c.heroes) - c.dangling, Dangling: c.dangling}); got != want {
			t.Errorf("%+v: got %+v, want %+v", c, got, want)
		}
		i := slices.IndexFunc(report.Results, func(r verdict.Result) bool { return r.Code == verdict.CodeReferenceDangle && r.Table == "heroes" })
		if got := report.Results[i]; got.Rows != c.dangling || len(got.Samples) != int(c.dangling) {
			t.Errorf("%+v: got %+v", c, got)
		}
	}
}

// A key that one database has twice, which it rules out itself, is not proved by the set
// of keys.
func TestDamagedKeysAreFound(t *testing.T) {
	b := oldWorld("b", 20)
	b.Rows["things"][1]["id"] = int64(1)
	if _, err := merge.Check(t.Context(), sources(oldWorld("a", 30), b), oldWords()); err == nil || !strings.Contains(err.Error(), "an index is damaged") {
		t.Errorf("got %v, want an error about the index", err)
	}
}

// guessing is a database that estimates its tables to have the same number of rows, whatever they have.
type guessing struct {
	*mergetest.Database
	rows int64
}

func (g guessing) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	c, err := g.Database.Catalog(ctx)
	for table := range c.About {
		c.About[table] = g.rows
	}
	return c, err
}

// Estimates of numbers of rows change nothing but the progress, which ends where the rows do. The log stays behind: its
// rows are counted by a task that goes through no table.
func TestEstimatesChangeNothing(t *testing.T) {
	logged := func(name string, rows int) *mergetest.Database {
		db := oldWorld(name, rows)
		db.Schema.Tables = append(db.Schema.Tables, catalog.Table{Name: "log", Primary: []string{"at"}, Columns: []catalog.Column{{Name: "at", Type: "DATE", Kind: catalog.KindTime}}})
		for day := range 9 {
			db.Rows["log"] = append(db.Rows["log"], mergetest.Row{"at": fmt.Sprintf("2026-01-0%d", day+1)})
		}
		return db
	}
	opts := oldWords()
	opts.Tables = []rules.TablePolicy{{Tables: []string{"log"}, Policy: rules.PolicySkip}}
	want := findings(mustCheck(t, opts, logged("a", 30), logged("b", 20)))
	for _, rows := range []int64{0, 7, 1 << 40} {
		last := make(map[string]rules.Progress)
		opts.Progress = func(p rules.Progress) { last[p.World] = p }
		report := checked(t, []catalog.Source{guessing{logged("a", 30), rows}, guessing{logged("b", 20), rows}}, opts)
		if diff := cmp.Diff(want, findings(report)); diff != "" {
			t.Errorf("about %d rows (-want +got):\n%s", rows, diff)
		}
		for world, p := range last {
			if p.WorldRows != p.WorldTotal {
				t.Errorf("about %d rows: the progress of %s ends at %d of %d", rows, world, p.WorldRows, p.WorldTotal)
			}
		}
	}
}
