package merge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// racedWorlds are worlds of which a merge takes all kinds of steps: keys get new values, a
// counter in a row and those of the tables are raised, names of both worlds change, tables are
// reset, others are combined, and both have a registry.
func racedWorlds(t *testing.T, e engine) ([]world.Database, planner.PlanOptions) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.name != "sqlite" {
		auto = "INTEGER NOT NULL PRIMARY KEY AUTO_INCREMENT"
	}
	all := keyWorlds(t, e, 2,
		"CREATE TABLE people (id "+auto+", nick VARCHAR(20) NOT NULL, since INTEGER NOT NULL)", "INSERT INTO people VALUES (1, 'anna', 9%d), (2, 'w%d', 3)",
		"UPDATE people SET since = 100 - since WHERE id = 1",
		"CREATE TABLE online (id "+auto+", tag VARCHAR(9))", "INSERT INTO online VALUES (7, 'on')",
		"CREATE TABLE visits (n INTEGER NOT NULL PRIMARY KEY, who INTEGER, FOREIGN KEY (who) REFERENCES chars (guid))", "INSERT INTO visits VALUES (1, 1)",
		"CREATE TABLE wallets (account INTEGER NOT NULL PRIMARY KEY, gold BIGINT NOT NULL)", "INSERT INTO wallets VALUES (1, 5), (2%d, 7)",
		"CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, next INTEGER NOT NULL)", "INSERT INTO seq VALUES ('char', 4)",
		"CREATE TABLE log (what VARCHAR(9) NOT NULL)", "INSERT INTO log VALUES ('w%d'), ('again')")
	for i, d := range all {
		db, err := sqldb.Dial(t.Context(), d.DSN, sqldb.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := worldregistry.New(db).Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := worldregistry.New(db).Make(t.Context(), []worldregistry.ServerRange{{First: 1, Last: 1}, {First: 2, Last: 2}}[i]); err != nil {
			t.Fatal(err)
		}
	}
	o := keyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"people.id"}})
		o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "chars.guid"}}
		o.Tables = []rules.TablePolicy{
			{Tables: []string{"online", "visits"}, Policy: rules.PolicyReset},
			{Tables: []string{"wallets"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum"}},
			{Tables: []string{"seq"}, Policy: rules.PolicySkip},
		}
		d.Plain = append(d.Plain, "*.since", "wallets.*", "seq.*", "visits.*", "online.*", "log.*")
	})
	o.Names = []plan.NamePolicy{{Table: "people", Column: "nick", Keep: plan.KeepOlder, By: "since"}}
	return all, o
}

// aside calls f once, when a process is at the n-th of the points at which it is about to write,
// or has just written, and holds no lock. It reports how many of them there were.
type aside struct {
	n    int
	do   func()
	came int
	open int // transactions
}

func (a *aside) at(point string) error {
	switch point {
	case "after begin", "after lock":
		a.open++
	case "after commit", "after unlock":
		a.open--
	}
	switch point {
	case "before begin", "before lineage", "before state", "after state", "after unlock":
		if a.open > 0 {
			break
		}
		if a.came++; a.came-1 == a.n {
			a.do()
		}
	}
	return nil
}

// Whoever works on a merge of which another process changed the state stops, before any step that
// writes: what the other one left is what there is.
func TestTwoProcesses(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		worlds, options := racedWorlds(t, e)
		p, into := planOf(t, e, worlds, options)
		if len(p.Resets) != 2 || len(p.Combines()) != 1 || len(p.Renames) != 1 || p.Renames[0].Source != worlds[0].Name || len(p.Counters) != 1 || p.Rekey == nil {
			t.Fatalf("not a merge of all steps: %v %v %v %v", p.Resets, p.Combines(), p.Renames, p.Counters)
		}
		h := job.Hooks{Clock: fixedClock}
		apply := func(a *aside) error {
			h := h
			if a != nil {
				h.Fail = a.at
			}
			_, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{Parallel: 1}, h)
			return err
		}
		undo := func(a *aside) error {
			h := h
			if a != nil {
				h.Fail = a.at
			}
			options := build.UndoOptions{Options: job.Options{Parallel: 1}, Placing: func(context.Context) error { // it holds no lock
				if a == nil {
					return nil
				}
				return a.at("before state")
			}}
			_, err := build.UndoWith(t.Context(), p, into, worlds, options, h)
			return err
		}
		// now is what the new database holds, if it is there, and who may start in the worlds.
		now := func() string {
			t.Helper()
			var b strings.Builder
			if there, err := existsNow(t.Context(), into); err != nil {
				t.Fatal(err)
			} else if there {
				b.WriteString(withoutCounters(steadyRows(t, p, clone(t, e, into))))
			}
			for _, d := range worlds {
				b.WriteString(withoutCounters(dump(t, d, worldregistry.Table)))
				db := pool(t, d)
				for _, row := range readCell(t, db, "SELECT server_id, world, role, holder FROM "+worldregistry.Table+" ORDER BY server_id") {
					fmt.Fprintf(&b, "\n%v", row)
				}
				db.Close()
			}
			return b.String()
		}
		must := func(err error) {
			t.Helper()
			if err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Error(err)
			}
		}
		step := 1
		if e.name != "sqlite" && !*long {
			step = 4 // a server takes half a second for each
		}
		before := now()
		must(apply(nil))
		after := now()
		// visits.who is declared plain, which only counts for rows that come; the proof knows that too.
		if proof := verified(t, p, into, worlds); proof.Verdict != verdict.Pass {
			t.Errorf("%s: %v", proof.Verdict, proof.Findings)
		}
		must(undo(nil))
		if diff := cmp.Diff(before, now()); diff != "" {
			t.Fatalf("undone (-before +after):\n%s", diff)
		}
		for i, c := range []struct {
			name   string
			made   bool // before
			works  func(*aside) error
			other  func()
			alone  string // what is there if it ended without an error
			second string // and if it stopped
		}{
			{"undo beside an apply", false, apply, func() { must(undo(nil)) }, after, before},
			{"apply beside an apply", false, apply, func() { must(apply(nil)) }, after, after},
			{"undo beside an undo", true, undo, func() { must(undo(nil)) }, before, before},
			{"undo and apply beside an undo", true, undo, func() { must(undo(nil)); must(apply(nil)) }, before, after},
		} {
			t.Run(c.name, func(t *testing.T) {
				stopped, step, n := 0, step, i%step
				if c.made { // an undo has few points
					step, n = 1, 0
				}
				for ; ; n += step {
					must(undo(nil))
					if c.made {
						must(apply(nil))
					}
					a := &aside{n: n, do: c.other}
					err := c.works(a)
					if a.came <= n {
						break
					}
					want := c.alone
					if err != nil || !c.made && a.came == n+1 { // or the other one came after the last step
						want = c.second
					}
					if err != nil {
						stopped++
					}
					unrecorded := err != nil && strings.Contains(err.Error(), record.RenamesTable) // the undo dropped the tables of the record
					if err != nil && !errors.Is(err, record.ErrBusy) && !errors.Is(err, record.ErrNoMerge) && !unrecorded {
						t.Errorf("point %d: %v", n, err)
					}
					if diff := cmp.Diff(want, now()); diff != "" {
						t.Fatalf("point %d (%v): (-want +have):\n%s", n, err, diff)
					}
				}
				t.Logf("it stopped at %d points", stopped)
				if stopped == 0 && i < 3 { // the last may undo what the other one made
					t.Error("it stopped nowhere")
				}
			})
		}
	})
}
