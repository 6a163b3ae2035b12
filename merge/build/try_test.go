package build_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// A rehearsal makes the new database while the worlds run. Rows that changed since the plan come as they are now and
// are counted; no world is written to; what was made is never opened, proved or taken for a merge; and an undo drops it.
func TestTry(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 40, "anna"), worldtest.GameWorld(t, e, "s2", 2, 30, "bert")}
	db, err := store.Open(t.Context(), all[1].DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), 2, storetest.NodeOptions) // the game runs
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	into := e.Fresh(t, "new")
	p, err := planner.NewPlan(t.Context(), into, all, keepActive)
	if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Place != plan.PlaceRunning {
		t.Fatalf("refused for %v, %v", p.Refusals, err)
	}
	worldtest.Exec(t, all[1], "DELETE FROM items WHERE template = 1", "UPDATE players SET gold = gold + 1 WHERE name = 'bert3'")
	before := []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1], "gameid_servers")}
	result, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []job.Changed{{World: "s2", Table: "items", Rows: 60, Want: 90}, {World: "s2", Table: "players", Rows: 30, Want: 30}}
	if diff := cmp.Diff(want, result.Changed); diff != "" {
		t.Errorf("the changed tables (-want +got):\n%s", diff)
	}
	if n := worldtest.Number(t, into, "SELECT (SELECT COUNT(*) FROM players) + (SELECT COUNT(*) FROM items)"); n != 70+180 {
		t.Errorf("%d players and items, want 250", n)
	}
	if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.State != record.StateTried || !at.Tried || at.Fenced() {
		t.Errorf("%+v, %v", at, err)
	}
	worldtest.Startable(t, into, 1, false)
	_, proving := prove.Verify(t.Context(), p, into, all, job.Options{})
	_, opening := build.Open(t.Context(), p, into, all, build.Options{})
	_, applying := build.Apply(t.Context(), p, into, all, job.Options{})
	for what, err := range map[string]error{"verify": proving, "open": opening, "apply": applying} {
		if err == nil || !strings.Contains(err.Error(), "rehearsal") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true}); err != nil {
		t.Errorf("once more: %v", err)
	}
	undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
	if err != nil || !undone.Dropped || undone.Raised || len(undone.Lifted) > 0 {
		t.Errorf("%+v, %v", undone, err)
	}
	if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
		t.Errorf("it is there after its undo: %v", err)
	}
	if diff := cmp.Diff(before, []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1], "gameid_servers")}); diff != "" {
		t.Errorf("a world was changed:\n%s", diff)
	}
	node.Close()
	p, into = worldtest.MergeOf(t, e, all, keepActive)
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true}); err == nil || !strings.Contains(err.Error(), "a merge has begun there") {
		t.Errorf("a rehearsal of a merge that was made: %v", err)
	}
}

// A counter that changed since the plan is raised above the keys that come all the same. Its row is counted among those that
// changed.
func TestTryCounter(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all, opts := worldtest.CountingGame(t, e)
	p, into := worldtest.PlanOf(t, e, all, opts)
	worldtest.Exec(t, all[0], "UPDATE seq SET next = next + 1")
	result, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := []job.Changed{{World: all[0].Name, Table: "seq", Rows: 1, Want: 1}}; !slices.Equal(result.Changed, want) {
		t.Errorf("changed: %+v, want %+v", result.Changed, want)
	}
	worldtest.Asked(t, into, "SELECT next FROM seq", fmt.Sprint(p.Counters[0].After))
}

// A rehearsal that is interrupted anywhere is resumed by another and by nothing else, or dropped.
func TestTryInterrupted(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all, opts := worldtest.CountingGame(t, e)
		p, into := worldtest.PlanOf(t, e, all, opts)
		before := []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}
		var points atomic.Int64
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Try: true}, job.Hooks{Clock: worldtest.FixedClock, Fail: func(string) error { points.Add(1); return nil }}); err != nil {
			t.Fatal(err)
		}
		want := worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))
		failAt, tried := worldtest.At, 0
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		step := max(1, points.Load()/e.Short(20))
		for i := int64(0); i < points.Load(); i += step {
			hooks := job.Hooks{Clock: worldtest.FixedClock, Batch: time.Microsecond, Fail: failAt(i, func() error { return errors.New("a power cut") })}
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Try: true}, hooks); err == nil {
				break
			}
			at, err := build.LookUp(t.Context(), p, into, all)
			if err != nil {
				t.Fatal(err)
			}
			if at.State == record.StateTried {
				if !at.Tried { // else it came to its end, and the answer was lost
					tried++
				}
				if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); err == nil {
					t.Fatalf("point %d: a merge went on with a rehearsal", i)
				}
			}
			if i/step%2 == 0 {
				if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Try: true}, job.Hooks{Clock: worldtest.FixedClock}); err != nil {
					t.Fatalf("point %d, again: %v", i, err)
				}
				if at, err := build.LookUp(t.Context(), p, into, all); err != nil || !at.Tried {
					t.Fatalf("point %d, again: %+v, %v", i, at, err)
				}
				if diff := cmp.Diff(want, worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))); diff != "" {
					t.Fatalf("point %d: not the result of a smooth run:\n%s", i, diff)
				}
			}
			if _, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, job.Hooks{Fail: failAt(i%7, func() error { return errors.New("another") })}); err != nil {
				if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
					t.Fatalf("point %d: undo: %v", i, err)
				}
			}
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
				t.Fatalf("point %d: it is there after its undo: %v", i, err)
			}
		}
		if !slices.Equal(before, []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}) {
			t.Error("a world was changed")
		}
		if tried < 2 {
			t.Errorf("%d rehearsals were interrupted, want 2", tried)
		}
	})
}
