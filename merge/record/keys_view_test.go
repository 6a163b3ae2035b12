package record_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// mergeViewed merges worlds and opens what was made, and returns the plan and the notes of apply.
func mergeViewed(t *testing.T, into world.Database, worlds ...world.Database) (*plan.Plan, []string) {
	t.Helper()
	p := worldtest.MustPlan(t, into, worlds, planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Auto: true}}})
	done, err := build.Apply(t.Context(), p, into, worlds, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	worldtest.Opened(t, p, into, worlds)
	return p, done.Notes
}

// The documented query finds what a key of a log is now, after one merge and after
// several; an undo of the last one leaves the view of a world as it was. The view is no part of the schema.
func TestKeysView(t *testing.T) {
	page, err := os.ReadFile("../../docs/merging.md")
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile("(?s)```sql\\s+(SELECT [^;`]*mergesafe_moved[^;`]*);").FindSubmatch(page)
	if query == nil {
		t.Fatal("docs/merging.md has no query of mergesafe_moved")
	}
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		s1, w2, s3 := worldtest.ViewWorld(t, e, "s1", 1, 2, 3, 4, 5), worldtest.ViewWorld(t, e, "w2", 2, 4, 6), worldtest.ViewWorld(t, e, "s3", 1, 4)
		s2, into := e.Fresh(t, "s2"), e.Fresh(t, "new")
		asks := func(d world.Database, query, want string) {
			t.Helper()
			db := worldtest.Pool(t, d)
			defer db.Close()
			if got := fmt.Sprint(worldtest.ReadCell(t, db, query)); got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", d.Name, query, got, want)
			}
		}
		const all = "SELECT source, table_name, column_name, space, first_old, last_old, added, key_count FROM mergesafe_moved ORDER BY source"
		mergeViewed(t, s2, w2, s3) // 1 and 4 of s3 become 1001 and 1004
		asks(s2, all, "[[s3 characters guid characters.guid 1 4 1000 2]]")
		p, notes := mergeViewed(t, into, s1, s2) // s2 has the view; its keys get 10,000 more
		if len(notes) > 0 {
			t.Errorf("notes: %q", notes)
		}
		asks(into, all, "[[s2 characters guid characters.guid 2 1004 10000 5] [s3 characters guid characters.guid 1 4 11000 2]]")
		asks(into, "SELECT COUNT(*) FROM mergesafe_moved WHERE merge_id = '"+p.ID+"' AND came > '2026-01-01'", "[[2]]")

		// The log of s2, from before all merges: 6 is the largest, 4 a gap of nobody's, 5000 no key.
		worldtest.Exec(t, into, "CREATE TABLE old_log (what INT PRIMARY KEY, guid INT NOT NULL)", "INSERT INTO old_log VALUES (1, 2), (2, 6), (3, 5), (4, 5000)")
		documented := string(query[1]) + " ORDER BY l.what"
		asks(into, documented, "[[1 2 10002] [2 6 10006] [3 5 10005]]")
		asks(into, "SELECT name FROM characters WHERE guid = 10006", "[[w26]]")
		asks(into, strings.ReplaceAll(documented, "'s2'", "'s3'"), "[[1 2 11002]]")
		asks(into, "SELECT name FROM characters WHERE guid = 11004", "[[s34]]")
		worldtest.Exec(t, into, "DROP TABLE old_log")

		s, err := world.OpenWorld(t.Context(), into)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Known.Views) > 0 {
			t.Errorf("the views %v are judged", s.Known.Views)
		}
		s.Close()
		if _, err := build.Undo(t.Context(), p, into, []world.Database{s1, s2}, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		asks(s2, all, "[[s3 characters guid characters.guid 1 4 1000 2]]")
	})
}

// Where the view cannot be made, the plan says so.
func TestKeysViewCannotBeMade(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		s1, s2, into := worldtest.ViewWorld(t, e, "s1", 1), worldtest.ViewWorld(t, e, "s2", 1, 7), e.Fresh(t, "new")
		options := planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Auto: true}}}
		if e.Name != "sqlite" {
			merger := into
			merger.DSN = "mysql:" + servertest.Grant(t, "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, TRIGGER, EVENT, EXECUTE, LOCK TABLES", strings.TrimPrefix(into.DSN, "mysql:"))
			p, err := planner.NewPlan(t.Context(), merger, []world.Database{s1, s2}, options)
			if err != nil || !strings.Contains(strings.Join(p.Lacks, "\n"), "CREATE VIEW") {
				t.Errorf("%+v, %v", p.Lacks, err)
			}
		}
		for _, d := range []world.Database{s1, s2} {
			worldtest.Exec(t, d, "CREATE TABLE "+record.KeysView+" (id INTEGER PRIMARY KEY)")
		}
		p, err := planner.NewPlan(t.Context(), into, []world.Database{s1, s2}, options)
		if err != nil || !strings.Contains(strings.Join(worldtest.ReasonsOf(p), "\n"), "has the name of the view") {
			t.Errorf("%v, %v", worldtest.ReasonsOf(p), err)
		}
	})
}
