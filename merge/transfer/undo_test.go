package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/transfer/write"
	"mergesafe/store"
)

var keepActive = planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}}}

// An undo gives back what was there before, to the last byte of the dump, also
// the names of the target's own players; and the sources can start again.
func TestUndo(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		target := gameWorld(t, e, "s1", 1, 40, "same")
		sources := []rowio.Database{gameWorld(t, e, "s2", 2, 300, "same"), gameWorld(t, e, "s3", 3, 11, "carl")}
		before := steady(t, target)
		p := mustPlan(t, target, sources, keepActive)
		if len(p.Renames) != 40 {
			t.Fatalf("%d renames", len(p.Renames))
		}
		if _, err := apply.Apply(t.Context(), p, target, sources, job.Options{}); err != nil {
			t.Fatal(err)
		}
		if before == steady(t, target) {
			t.Fatal("nothing was merged")
		}
		done, err := undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if done.Rows != p.Rows() || done.Changed+done.Missing != 0 || !done.SameAsBefore {
			t.Errorf("%+v, want %d rows", done, p.Rows())
		}
		if diff := cmp.Diff(before, steady(t, target)); diff != "" {
			t.Error(diff)
		}
		startable(t, sources[0], 2, true)
		done, err = undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{})
		if err != nil || !done.NoRecord || !done.SameAsBefore {
			t.Errorf("a second undo: %+v, %v", done, err)
		}
		// And once more, as if it had never been.
		if _, err := apply.Apply(t.Context(), mustPlan(t, target, sources, keepActive), target, sources, job.Options{}); err != nil {
			t.Error(err)
		}
	})
}

// An undo that is refused, stops or fails says beside the error what it removed,
// also in earlier calls.
func TestUndoResult(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := twoLarge(t, e)
		p := mustPlan(t, all[0], all[1:], manyOptions)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		var before int64 // rows that earlier calls removed
		check := func(want error, done *undo.Undone, err error) {
			t.Helper()
			if !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			parts, rows := thereOf(t, all[0])
			if done == nil || done.ID != p.ID || done.Rows != p.Rows()-rows-before || done.SameAsBefore != (err == nil) {
				t.Fatalf("%+v, %d rows before; in the target are %v", done, before, parts)
			}
			for i, part := range parts {
				parts[i].Rows = p.Tables[0].Sources[i].Rows - part.Rows
			}
			if diff := cmp.Diff(parts, done.Parts); diff != "" {
				t.Errorf("-removed +result:\n%s", diff)
			}
			before += done.Rows
		}

		exec(t, all[0], "UPDATE things SET note = 'changed' WHERE id = 104999")
		done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
		if refused := new(ledger.RefusedError); !errors.As(err, &refused) || done.Changed != 1 {
			t.Fatalf("%+v, %v", done, err)
		}
		check(err, done, err)
		exec(t, all[0], "UPDATE things SET note = 'note 104999' WHERE id = 104999")

		ctx, cancel := context.WithCancel(t.Context())
		done, err = undo.UndoWith(ctx, p, all[0], all[1:], undo.UndoOptions{Options: job.Options{Progress: func(now job.Progress) {
			if now.Step == ledger.StepUndo && now.Rows > 0 {
				cancel()
			}
		}}}, job.Hooks{Batch: time.Nanosecond})
		check(ledger.ErrStopped, done, err)
		if before == 0 || before >= p.Rows() {
			t.Fatalf("%d rows were removed when it stopped", before)
		}

		done, err = undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: job.Options{Parallel: 1, RetryFor: -1}}, job.Hooks{Batch: time.Nanosecond, Fail: second("before commit")})
		check(ledger.ErrStopped, done, err)
		if done.Rows == 0 {
			t.Error("nothing was removed before the target was lost")
		}

		done, err = undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
		check(nil, done, err)
	})
}

// startable tells whether a server starts on a database.
func startable(t *testing.T, d rowio.Database, server gameid.ServerID, want bool) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, gameid.Options{})
	if err == nil {
		node.Close()
	}
	if want != (err == nil) {
		t.Errorf("server %s of %q starts: %v", server, d.Name, err)
	}
	if held := new(gameid.HeldError); !want && !errors.As(err, &held) {
		t.Errorf("server %s of %q: %v, want a HeldError", server, d.Name, err)
	}
}

// What was changed after the merge blocks the undo, unless it is forced. Rows of
// others that reference what would be removed always do.
func TestUndoChanged(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		p, target, sources := merged(t, e, planner.PlanOptions{})
		exec(t, target, "UPDATE players SET level = 7 WHERE name IN ('bert5', 'carl5', 'anna5')",
			"DELETE FROM guild_members WHERE player_id = (SELECT id FROM players WHERE name = 'bert0')")
		done, err := undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{})
		refused := new(ledger.RefusedError)
		if !errors.As(err, &refused) || done.Changed != 2 || done.Missing != 1 || len(done.Samples) != 3 {
			t.Fatalf("%+v, %v", done, err)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM players"); n != 271 {
			t.Errorf("%d players after a refused undo", n)
		}

		exec(t, target, "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 'bert9') WHERE template = 1 AND owner_id = (SELECT id FROM players WHERE name = 'anna9')")
		if _, err := undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{Force: true}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "1 row of items (owner_id)") {
			t.Fatalf("a row that would lose its owner: %v", err)
		}
		exec(t, target, "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 'anna9') WHERE template = 1 AND owner_id = (SELECT id FROM players WHERE name = 'bert9') AND SUBSTR(HEX(id), 12, 5) = '00001'")

		done, err = undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM players"); n != 20 || done.SameAsBefore {
			t.Errorf("%d players, %+v", n, done)
		}
	})
}

// A row that is changed while the undo runs is not removed, and the rest is when it is
// forced.
func TestUndoChangedMeanwhile(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		before := dump(t, all[0])
		p := mustPlan(t, all[0], all[1:], manyOptions)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		removing, written := false, false
		options := job.Options{
			Progress: func(now job.Progress) { removing = now.Step == ledger.StepUndo && now.Rows > 0 },
			Pause: func(context.Context) error {
				if removing && !written {
					written = true
					exec(t, all[0], "UPDATE things SET note = 'changed' WHERE id = 104999")
				}
				return nil
			}}
		done, err := undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: options}, job.Hooks{Batch: time.Microsecond})
		if err == nil || !strings.Contains(err.Error(), `row 104999 of things, from "b": note has another value: it was changed while the undo ran`) {
			t.Fatal(err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM things WHERE note = 'changed'"); n != 1 || done.Rows == 0 || done.Rows >= 5000 {
			t.Errorf("%d changed rows are there, %+v", n, done)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
			t.Error(diff)
		}
	})
}

// What the target has between the rows that came stays: its own rows, and rows that a
// game makes while the undo runs, also between the look at the rows and their removal.
func TestUndoLeavesOthers(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 100_000, 5000), manyRows(t, e, "b", 100_000, 5000)}
		// Each tenth row of the second half is the target's, and some of the first; there
		// are gaps beside these.
		own := "id % 10 = 3 AND id >= 102500 OR id IN (100000, 100007, 100499, 101999, 102000)"
		exec(t, all[0], "DELETE FROM things WHERE NOT ("+own+")")
		exec(t, all[1], "DELETE FROM things WHERE "+own+" OR id % 10 = 4")
		before := dump(t, all[0])
		options := manyOptions
		options.RangeRows = 10_000
		p := mustPlan(t, all[0], all[1:], options)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		row := func(id int) { exec(t, all[0], fmt.Sprintf("INSERT INTO things (id, note) VALUES (%d, 'new')", id)) }
		row(100_014) // when it is compared, it is there
		removing, retries, made := false, 0, map[int]bool{}
		once := func(id int) {
			if !made[id] {
				made[id] = true
				row(id)
			}
		}
		disturbed := job.Options{
			Progress: func(now job.Progress) { removing = now.Step == ledger.StepUndo && now.Rows > 0 },
			Pause: func(context.Context) error {
				if removing {
					once(104_004)
				}
				return nil
			},
			Retrying: func(error) { retries++ },
		}
		hooked := job.Hooks{Batch: time.Microsecond, Fail: func(point string) error {
			if point == "before delete" && e.name != "sqlite" { // where nothing else can write now
				once(101_004)
			}
			return nil
		}}
		done, err := undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: disturbed}, hooked)
		if err != nil {
			t.Fatal(err)
		}
		if done.Rows != p.Rows() || done.SameAsBefore || done.Changed+done.Missing > 0 || retries != len(made)-1 {
			t.Errorf("%+v, want %d rows; %d retries for %v", done, p.Rows(), retries, made)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM things WHERE note = 'new'"); n != int64(1+len(made)) {
			t.Errorf("%d new rows are there, want %d", n, 1+len(made))
		}
		exec(t, all[0], "DELETE FROM things WHERE note = 'new'")
		if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
			t.Error(diff)
		}
	})
}

// Workers that remove rows of one table do not wait for each other, also when it is
// nearly empty and other rows lie between.
func TestUndoWithoutConflicts(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 100_000, 5000), manyRows(t, e, "b", 100_000, 5000)}
		exec(t, all[0], "DELETE FROM things WHERE id % 10 <> 3")
		exec(t, all[1], "DELETE FROM things WHERE id % 10 = 3")
		before := dump(t, all[0])
		p := mustPlan(t, all[0], all[1:], manyOptions)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		done, err := undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: job.Options{Retrying: func(err error) { t.Error(err) }}}, job.Hooks{Batch: time.Microsecond})
		if err != nil || done.Rows != p.Rows() || !done.SameAsBefore {
			t.Errorf("%+v, %v", done, err)
		}
		if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
			t.Error(diff)
		}
	})
}

// Whatever goes wrong during an undo, the same call resumes. It may also undo a
// merge that was not completed.
func TestUndoResume(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "same"), gameWorld(t, e, "s2", 2, 12, "same")}
		p := mustPlan(t, all[0], all[1:], keepActive)
		before := steady(t, all[0])
		n := 2 * points(t, e, p, all)
		step := max(1, n/6)
		if *long {
			step = 1
		}
		faults, worlds := faults(), clones(t, e, all)
		for i := int64(0); i < n; i += step {
			refillAll(t, all, worlds)
			ctx, cancel := context.WithCancel(t.Context())
			_, err := apply.ApplyWith(ctx, p, worlds[0], worlds[1:], job.Options{}, job.Hooks{Fail: at(i/2, func() error { cancel(); return nil })})
			cancel()
			if err != nil && !errors.Is(err, ledger.ErrStopped) {
				t.Fatalf("point %d: %v", i, err)
			}
			ctx, options, hooked := faults[i%int64(len(faults))].options(t.Context(), i)
			for range 2 {
				_, err = undo.UndoWith(ctx, p, worlds[0], worlds[1:], undo.UndoOptions{Options: options}, hooked)
				if err != nil && !errors.Is(err, ledger.ErrStopped) {
					t.Fatalf("point %d: %v", i, err)
				}
				guarded(t, p, worlds)
				ctx, options, hooked = t.Context(), job.Options{RetryFor: time.Minute}, job.Hooks{}
			}
			if err != nil { // nothing is left to undo, and that is no error
				t.Fatalf("point %d: %v", i, err)
			}
			if diff := cmp.Diff(before, steady(t, worlds[0])); diff != "" {
				t.Fatalf("point %d: not what was there before (-before +after):\n%s", i, diff)
			}
			startable(t, worlds[0], 1, true)
			startable(t, worlds[1], 2, true)
		}
	})
}

// recordless takes the record of all merges out of a target, as a restored copy without the tables
// of the merge has none.
func recordless(t *testing.T, d rowio.Database) {
	t.Helper()
	for _, table := range ledger.Ours {
		exec(t, d, "DROP TABLE IF EXISTS "+table)
	}
}

// keepsFences makes sure that an undo without a record is refused with a command for each of these
// servers, and changes nothing.
func keepsFences(t *testing.T, p *plan.Plan, all []rowio.Database, commands ...string) {
	t.Helper()
	before := []string{dump(t, all[0]), dump(t, all[1])}
	_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
	refused := new(ledger.RefusedError)
	if !errors.As(err, &refused) {
		t.Fatalf("an undo without a record: %v", err)
	}
	if diff := cmp.Diff(commands, refused.Lifting); diff != "" ||
		!strings.HasSuffix(err.Error(), "lift the fences: "+strings.Join(commands, "; ")) {
		t.Error(diff, err)
	}
	if diff := cmp.Diff(before, []string{dump(t, all[0]), dump(t, all[1])}); diff != "" {
		t.Errorf("the undo changed: %s", diff)
	}
}

// A target that was restored from a copy that is older than the merge knows nothing of it, and
// neither does the wrong copy of a target. Which of them this is the undo cannot know: it leaves
// the fences, and says how to lift each of them. After that nothing is left to undo.
func TestUndoInRestoredTarget(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		older := clone(t, e, all[0])
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		elsewhere := clone(t, e, all[0])
		recordless(t, elsewhere)
		release := func(server, database string) string {
			return "gameid servers release -server " + server + " -apply -reason " +
				"'s1 was restored from its backup of before the merge' -fence " + p.ID + " " + database
		}
		keepsFences(t, p, []rowio.Database{elsewhere, all[1]}, release("2", "s2"))
		keepsFences(t, p, []rowio.Database{older, all[1]}, release("2", "s2"))
		startable(t, all[1], 2, false)

		// So does a fence without a state, in the target too.
		exec(t, older, `UPDATE gameid_servers SET lease_until_ms = 9999999999999, holder = '{"token":"fence:`+p.ID+`",`+
			`"host":"s1","pid":0,"program":"a merge is being carried out in this database","since":"2026-11-21T03:00:00Z"}'`)
		keepsFences(t, p, []rowio.Database{older, all[1]}, release("1", "s1"), release("2", "s2"))
		exec(t, older, "UPDATE gameid_servers SET lease_until_ms = 0, holder = ''")

		exec(t, all[1], "UPDATE gameid_servers SET lease_until_ms = 0, holder = ''") // as the command does
		done, err := undo.Undo(t.Context(), p, older, all[1:], undo.UndoOptions{})
		if diff := cmp.Diff(&undo.Undone{ID: p.ID, NoRecord: true, SameAsBefore: true}, done); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
		if _, err := undo.Undo(t.Context(), p, elsewhere, all[1:], undo.UndoOptions{}); !errors.Is(err, ledger.ErrNoMerge) {
			t.Errorf("a target without a record that is not as it was: %v", err)
		}
		startable(t, all[1], 2, true)
	})
}

// Wherever an apply or an undo is interrupted, if the record is lost there, fences are lifted only
// if no row of the merge is in the target.
func TestFencesWithoutRecord(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "same"), gameWorld(t, e, "s2", 2, 12, "same")}
		p := mustPlan(t, all[0], all[1:], keepActive)
		worlds := clones(t, e, all)
		undo := func(h job.Hooks) error {
			_, err := undo.UndoWith(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}, h)
			return err
		}
		work := map[string]func(h job.Hooks) error{
			"apply": func(h job.Hooks) error {
				_, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, h)
				return err
			},
			"undo": undo,
			"fence": func(h job.Hooks) error {
				return apply.FenceWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, h)
			},
		}
		from := map[string][]rowio.Database{"apply": all, "fence": all, "undo": clones(t, e, all)}
		if _, err := apply.Apply(t.Context(), p, from["undo"][0], from["undo"][1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		cases, lifted, kept := 0, 0, 0
		for what, do := range work {
			refillAll(t, from[what], worlds)
			var points atomic.Int64
			if err := do(job.Hooks{Fail: func(string) error { points.Add(1); return nil }}); err != nil {
				t.Fatal(err)
			}
			n := points.Load()
			step := max(1, n/6)
			if *long {
				step = 1
			}
			for i := int64(0); i < n; i += step {
				refillAll(t, from[what], worlds)
				_ = do(job.Hooks{Fail: at(i, func() error { return context.Canceled })}) // the last ones may come to their end
				recordless(t, worlds[0])
				err := undo(job.Hooks{})
				cases++
				came := number(t, worlds[0], "SELECT COUNT(*) FROM players WHERE SUBSTR(HEX(id), 12, 5) = '00002'")
				refused := new(ledger.RefusedError)
				switch {
				case errors.As(err, &refused):
					kept++
				case err != nil && !errors.Is(err, ledger.ErrNoMerge):
					t.Errorf("%s, point %d: %v", what, i, err)
				default:
					lifted++
					startable(t, worlds[0], 1, true)
					if came > 0 && what != "undo" { // one that was completed was guarded by the source's fence
						t.Errorf("%s, point %d: the fences are gone, and %d players of s2 are in s1", what, i, came)
					}
				}
				for _, s := range registryIn(t, worlds[1]) {
					if came > 0 && s.Held() == nil {
						t.Errorf("%s, point %d: s2 can start, and %d of its players are in s1", what, i, came)
					}
				}
			}
		}
		if lifted == 0 || kept == 0 || cases < 18 {
			t.Errorf("%d cases, in %d the fences were lifted, in %d kept", cases, lifted, kept)
		}
	})
}

// While the rows are in one copy of the target, the plan is not carried out in another: its record
// there would let an undo of that copy lift the fences, and the world would live twice.
func TestApplyToAnotherCopy(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		backup := clone(t, e, all[0])
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		before := dump(t, backup)
		_, err := apply.Apply(t.Context(), p, backup, all[1:], job.Options{})
		refused := new(ledger.RefusedError)
		if !errors.As(err, &refused) || len(refused.Lifting) == 0 {
			t.Fatalf("%v, want a refusal and how to lift the fence", err)
		}
		if diff := cmp.Diff(before, dump(t, backup)); diff != "" {
			t.Errorf("refused, and the copy changed:\n%s", diff)
		}
		startable(t, all[1], 2, false)
	})
}

// Another database than the target, or none, knows nothing of the merge either.
// The fences stay, or the worlds would live twice.
func TestUndoOfAnotherDatabase(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 7, "bert")}
		empty := clone(t, e, all[0])
		exec(t, empty, "DELETE FROM guild_members", "DELETE FROM guilds", "DELETE FROM items", "DELETE FROM players")
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		other, bare := gameWorld(t, e, "s1", 3, 5, "anna"), e.fresh(t, "s1")
		exec(t, bare, "CREATE TABLE things (id INT PRIMARY KEY)")
		for what, wrong := range map[string]rowio.Database{
			"without its tables": bare,
			"of another world":   other,
			"empty":              empty,
		} {
			_, err := undo.Undo(t.Context(), p, wrong, all[1:], undo.UndoOptions{})
			if refused := new(ledger.RefusedError); !errors.As(err, &refused) || !strings.Contains(err.Error(), "does not look like its target") {
				t.Errorf("a database %s: %v", what, err)
			}
			startable(t, all[1], 2, false)
		}
		if e.name == "sqlite" {
			path := filepath.Join(t.TempDir(), "missing.db")
			missing := rowio.Database{Name: "s1", DSN: "sqlite:" + path}
			_, err := undo.Undo(t.Context(), p, missing, all[1:], undo.UndoOptions{})
			_, err2 := apply.Apply(t.Context(), p, missing, all[1:], job.Options{})
			if _, made := os.Stat(path); err == nil || err2 == nil || !errors.Is(made, os.ErrNotExist) {
				t.Errorf("a file that is not there: %v, %v; and now: %v", err, err2, made)
			}
			startable(t, all[1], 2, false)
		}
	})
}

// A server that is told to look up keys, and knows no way by one, removes the rows all the
// same.
func TestRemoveWithoutWayByKey(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		d := e.fresh(t, "w0")
		exec(t, d, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, v INTEGER)", "INSERT INTO t VALUES (1, 5), (2, 5), (3, 6)")
		on := &rowio.Connection{Database: d, Writes: true}
		defer on.Close()
		l := &rowio.Layout{Dialect: on.Dialect(), Table: "t", Columns: []string{"id", "v"}, Key: []int{0}}
		err := write.ByKey(t.Context(), on, true)
		if err == nil {
			err = on.Tx(t.Context(), func() error { return write.DeleteExactly(t.Context(), on, l, "v = ?", false, []any{int64(5)}, 2) })
		}
		if err != nil {
			t.Fatal(err)
		}
		asked(t, d, "SELECT id FROM t", "3")
	})
}
