package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/evidence"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// Sequences of commands that opened, dropped or lost the wrong thing once are in this file; package life generates others.

// killedBefore ends the work at a point for the first time that it comes.
func killedBefore(point string) job.Hooks {
	return job.Hooks{Fail: func(p string) error {
		if p == point {
			return context.Canceled
		}
		return nil
	}}
}

var once = job.Options{RetryFor: -1}

// patient outlives the end of a session.
var patient = job.Options{RetryFor: time.Minute}

// Two merges that name one database: the one that began first has it, and the undo of the other drops nothing.
func TestTwoMergesOfOneName(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	s1, s2, s3 := worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5), worldtest.ManyRows(t, e, "s3", 200, 5)
	a, into := worldtest.PlanOf(t, e, []world.Database{s1, s2}, worldtest.ManyOptions)
	b := worldtest.MustPlan(t, into, []world.Database{s1, s3}, worldtest.ManyOptions)
	ofA, ofB := []world.Database{s1, s2}, []world.Database{s1, s3}
	if _, err := build.ApplyWith(t.Context(), b, into, ofB, once, killedBefore("before manifest")); err == nil {
		t.Fatal("nothing went wrong") // only the record is there, without a row
	}
	_, err := build.Apply(t.Context(), a, into, ofA, job.Options{})
	worldtest.RefusedBecause(t, "apply", "it has the record of another merge", err)
	if _, err := build.Undo(t.Context(), a, into, ofA, build.UndoOptions{Force: true}); !errors.Is(err, record.ErrNoMerge) {
		t.Errorf("the undo of the merge that did not begin: %v", err)
	}
	if at, err := build.LookUp(t.Context(), b, into, ofB); err != nil || at.State != record.StateCopying {
		t.Errorf("%+v, %v", at, err)
	}
	worldtest.MustDrop(t, b, into, ofB)
	worldtest.MustApply(t, a, into, ofA)
	worldtest.Opened(t, a, into, ofA)
	if _, err := build.Undo(t.Context(), b, into, ofB, build.UndoOptions{Force: true}); !errors.Is(err, record.ErrNoMerge) {
		t.Errorf("the undo of the other merge: %v", err)
	}
	if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || !there {
		t.Errorf("%s was dropped by the undo of another merge: %v", into.Name, err)
	}
}

// A merge of which a world is fenced by another merge while this one looks at it is refused, and names the other one.
func TestTwoMergesOfOneWorld(t *testing.T) {
	e := worldtest.OnSQLite(t)
	s1, s2, s3 := worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 3, "bert"), worldtest.GameWorld(t, e, "s3", 3, 3, "carl")
	ofA, ofB := []world.Database{s1, s2}, []world.Database{s1, s3}
	intoA := e.Fresh(t, "a")
	a := worldtest.MustPlan(t, intoA, ofA, planner.PlanOptions{})
	b, intoB := worldtest.PlanOf(t, e, ofB, planner.PlanOptions{})
	came := false
	_, err := build.ApplyWith(t.Context(), b, intoB, ofB, job.Options{}, job.Hooks{Fail: func(point string) error {
		if came || point != "read" {
			return nil
		}
		came = true
		_, err := build.Apply(t.Context(), a, intoA, ofA, job.Options{})
		return err
	}})
	worldtest.RefusedBecause(t, "apply", fmt.Sprintf("its world goes to %q by the merge %q", intoA.Name, a.ID), err)
}

// A database that this merge did not make is not dropped, though it is empty.
func TestUndoOfAnEmptyDatabase(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		worldtest.Exec(t, into, "CREATE TABLE mine (id INTEGER PRIMARY KEY)", "DROP TABLE mine")
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); !errors.Is(err, record.ErrNoMerge) {
			t.Errorf("undone: %v", err)
		}
		worldtest.Exec(t, into, "CREATE TABLE mine (id INTEGER PRIMARY KEY)", "DROP TABLE mine")
		worldtest.MustApply(t, p, into, all)
		if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Kept || len(done.Others) > 0 {
			t.Errorf("%+v, %v", done, err)
		}
		worldtest.Exec(t, into, "CREATE TABLE mine (id INTEGER PRIMARY KEY)") // it is there
	})
}

// An open that is killed anywhere goes on when it is called again; or an undo takes it back and raises what the worlds give.
func TestOpenKilled(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		for _, undone := range []bool{false, true} {
			for _, c := range []struct {
				point string // "": in the call that tells the fleet registry
				state record.State
			}{{"before state", record.StateMade}, {"", record.StateOpening}, {"before unguard", record.StateOpening}} {
				all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
				p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
				told := 0
				_, err := build.With(t.Context(), p, into, all, build.Options{Options: once, Placing: func(context.Context) error {
					if told++; c.point == "" {
						return context.Canceled
					}
					return nil
				}}, killedBefore(c.point))
				if err == nil {
					t.Fatal("nothing went wrong")
				}
				if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.State != c.state {
					t.Errorf("%s: %+v, %v", c.point, at, err)
				}
				worldtest.Startable(t, into, 1, false)
				if !undone {
					worldtest.Opened(t, p, into, all)
					worldtest.Startable(t, into, 1, true)
					continue
				}
				before := worldtest.RegistryIn(t, all[0])[0].Generation()
				done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Placing: func(context.Context) error { told = -1; return nil }})
				entered := c.state == record.StateOpening
				if err != nil || !done.Dropped || done.Raised != entered || (told < 0) != entered {
					t.Fatalf("%s: %+v, told %d, %v", c.point, done, told, err)
				}
				if after := worldtest.RegistryIn(t, all[0])[0].Generation(); entered && after < before+2 {
					t.Errorf("%s: the first world is in generation %d, and the new database was in %d", c.point, after, before+1)
				}
				for i, d := range all {
					worldtest.Startable(t, d, gameid.ServerID(i+1), true)
				}
			}
		}
	})
}

// A killed undo of an opened merge leaves the gate closed; open lifts it, and undo goes on.
func TestUndoKilledBehindTheGate(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	worldtest.Opened(t, p, into, all)
	worldtest.Mint(t, into, 1)
	for range 2 {
		if _, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: once}, killedBefore("after guard")); err == nil {
			t.Fatal("nothing went wrong")
		}
		worldtest.Startable(t, into, 1, false)
		if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.State != record.StateOpen || !at.Closed {
			t.Errorf("%+v, %v", at, err)
		}
		if done, err := build.Open(t.Context(), p, into, all, build.Options{}); err != nil || !done.Before || len(done.Lifted) != 1 {
			t.Errorf("%+v, %v", done, err)
		}
		if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.State != record.StateOpen || at.Closed {
			t.Errorf("%+v, %v", at, err)
		}
		worldtest.Startable(t, into, 1, true)
	}
	worldtest.Exec(t, into, "UPDATE items SET count = count + 1")
	if _, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: once}, killedBefore("after guard")); err == nil {
		t.Fatal("nothing went wrong")
	}
	_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}) // which opens the gate that the one before closed
	worldtest.RefusedBecause(t, "undo", "some have changed", err)
	worldtest.Startable(t, into, 1, true)
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !done.Dropped {
		t.Errorf("%+v, %v", done, err)
	}
}

// If the gate is lifted by hand while rows are copied, the undo is refused while a game runs there, and later raises what it
// gave: the first world can go on, also in a fleet registry.
func TestUndoOfALiftedGate(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 400, "bert")}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	halfway(t, p, into, all)
	force(t, p, into)
	db, err := store.Open(t.Context(), into.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), 1, storetest.NodeOptions)
	if err != nil {
		t.Fatal(err)
	}
	_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true})
	worldtest.RefusedBecause(t, "undo", "server 1 runs", err)
	if err := errors.Join(node.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	given := worldtest.RegistryIn(t, into)[0]
	if _, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: once}, killedBefore("after guard")); err == nil {
		t.Fatal("nothing went wrong")
	}
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Dropped || !done.Raised {
		t.Fatalf("%+v, %v", done, err)
	}
	if now := worldtest.RegistryIn(t, all[0])[0]; now.Reserved < given.Reserved || now.Generation() <= given.Generation() {
		t.Errorf("the first world is at %d in generation %d, and had given %d in generation %d", now.Reserved, now.Generation(), given.Reserved, given.Generation())
	}
	for i, d := range all {
		worldtest.Startable(t, d, gameid.ServerID(i+1), true)
	}
}

// An undo of an open database comes to its end though a table with a counter in it was dropped there.
func TestUndoWithoutACounter(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all, opts := worldtest.CountingGame(t, e)
	p, into := worldtest.MergeOf(t, e, all, opts)
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, into, "DROP TABLE seq")
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !done.Dropped {
		t.Errorf("%+v, %v", done, err)
	}
}

// A process that is frozen in its undo, at whatever point, and goes on when the merge was undone, made again and opened by
// others, drops nothing of that, and says so. On a server others are told of the undo, until its session is ended.
func TestUndoThaws(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		played, busy, step := 0, 0, servertest.Scale(23, 1)
		if e.Name != "sqlite" {
			step = servertest.Scale(21, 1) // whoever is told waits for the lock; at some of these others fence anew
		}
		for n, unmet := 0, 0; unmet < 2; n += step { // one that opened has more points
			all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
			p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
			if n%2 == 1 { // and the worlds are raised
				worldtest.Opened(t, p, into, all)
			}
			came, reads, begun := 0, 0, false
			met := false
			var others error
			var later string
			dumps := func() string { return worldtest.Dump(t, all[0]) + worldtest.Dump(t, all[1]) + worldtest.Dump(t, into) }
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: patient}, job.Hooks{Fail: func(point string) error {
				begun = begun || point == "after state"
				if n%2 == 1 && !begun {
					return nil
				}
				if point == "read" && !begun {
					if reads++; reads%servertest.Scale(12, 3) != 0 {
						return nil
					}
				}
				if came++; came-1 != n {
					return nil
				}
				met = true
				if endUndo(t, p, into, all) {
					busy++
				}
				if _, others = build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once}); others == nil {
					if n%4 == 2 { // by the same plan
						worldtest.MustApply(t, p, into, all)
					} else {
						other := []world.Database{all[1], all[0]}
						q := worldtest.MustPlan(t, into, other, planner.PlanOptions{})
						worldtest.MustApply(t, q, into, other)
						worldtest.Opened(t, q, into, other)
						worldtest.Exec(t, into, "CREATE TABLE played (id INTEGER PRIMARY KEY)")
					}
					later = dumps()
				}
				return nil
			}})
			there, lookErr := worldtest.ExistsNow(t.Context(), into)
			switch unmet++; {
			case lookErr != nil:
				t.Fatal(lookErr)
			case !met:
				continue
			case others == nil && !there:
				t.Fatalf("point %d: the later merge is gone: %v", n, err)
			case err != nil && !errors.Is(err, record.ErrBusy) && !errors.Is(err, record.ErrNoMerge):
				t.Fatalf("point %d: %v", n, err)
			case others == nil:
				played++
				if diff := cmp.Diff(later, dumps()); diff != "" {
					t.Fatalf("point %d: it wrote beside the later merge (-want +got): %s", n, diff)
				}
			case errors.Is(others, record.ErrBusy), errors.Is(others, record.ErrStopped), errors.Is(others, record.ErrNoMerge):
				busy++
				if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
					t.Fatalf("point %d: the undo after both: %v", n, err)
				}
				worldtest.Dropped(t, into)
			default:
				t.Fatalf("point %d: the other undo: %v", n, others)
			}
			unmet = 0
		}
		t.Logf("others came between at %d points, and not at %d", played, busy)
		if played == 0 || busy == 0 {
			t.Error("not both were met")
		}
	})
}

// A world that is lost while the undo works is found before the only rows of it are dropped.
func TestUndoBesideALostWorld(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		lost := false
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, job.Hooks{Fail: func(point string) error {
			if point == "after state" && !lost {
				lost = true
				worldtest.Exec(t, all[1], "ALTER TABLE players RENAME TO players_lost")
			}
			return nil
		}})
		refused, is := errors.AsType[*record.RefusedError](err)
		if !is || !strings.Contains(refused.Error(), `database "s2": it has no table "players" any more`) {
			t.Errorf("%v", err)
		}
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM players"); n != 7 {
			t.Errorf("%d players of 7 are left", n)
		}
		worldtest.Exec(t, all[1], "ALTER TABLE players_lost RENAME TO players")
		if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Dropped {
			t.Errorf("then %+v, %v", done, err)
		}
	})
}

// endUndo tries another undo beside the session of one on a server, which is told so and changes nothing, and ends all
// connections to the new database.
func endUndo(t *testing.T, p *plan.Plan, into world.Database, all []world.Database) (ended bool) {
	t.Helper()
	if strings.HasPrefix(into.DSN, "sqlite:") {
		return false
	}
	lock, err := world.Undoing(t.Context(), into)
	if err != nil {
		t.Fatal(err)
	}
	if lock == "" {
		return false
	}
	if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Options: once}); !errors.Is(err, record.ErrBusy) || !strings.Contains(err.Error(), "another undo is at work in new, or its process is frozen") {
		t.Errorf("beside another undo: %v", err)
	}
	_, name, err := world.Server(into)
	if err != nil {
		t.Fatal(err)
	}
	servertest.KillConnections(t, strings.TrimPrefix(all[0].DSN, "mysql:"), "DB = ?", name)
	return true
}

// Each session of an undo begins with a look at the record, in whatever step: it reads nothing of a later merge.
func TestUndoSessions(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
		p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
		session, err := build.UndoSession(t.Context(), p, into, all)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		read := func() error {
			session.Drop() // as before each retry
			_, err := session.Number(t.Context(), "SELECT COUNT(*) FROM things", false)
			return err
		}
		if err := read(); err != nil {
			t.Error(err)
		}
		endUndo(t, p, into, all)
		worldtest.MustDrop(t, p, into, all)
		other := []world.Database{all[1], all[0]}
		worldtest.MustApply(t, worldtest.MustPlan(t, into, other, worldtest.ManyOptions), into, other)
		if err := read(); !errors.Is(err, record.ErrBusy) || !strings.Contains(err.Error(), "was undone there") {
			t.Errorf("it reads a later merge: %v", err)
		}
	})
}

// Nothing is made where an undo is at work on the server: it has looked at the record before.
func TestApplyBesideAnUndo(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
	undoing := &world.Connection{Database: into, Writes: true}
	defer undoing.Close()
	if _, alone, err := world.Undo(t.Context(), undoing, 0); err != nil || !alone {
		t.Fatal(alone, err)
	}
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); !errors.Is(err, record.ErrBusy) || !strings.Contains(err.Error(), "another undo is at work in new, or its process is frozen") {
		t.Errorf("got %v", err)
	}
	undoing.Drop()
	worldtest.MustApply(t, p, into, all)
}

// The same before it closes the gate, when it has dropped the database, and before it lifts fences: no world of the later merge
// starts, and its database does.
func TestUndoThawsBesideFences(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		for _, c := range []struct {
			point         string
			again, opened bool // the same plan; the later merge
		}{
			{"before lifting", true, false}, {"before lifting", true, true}, {"before lifting", false, true},
			{"dropped", false, false}, {"before guard", false, true},
		} {
			all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
			p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
			if c.point == "before guard" {
				worldtest.Opened(t, p, into, all)
			}
			met := false
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: patient}, job.Hooks{Clock: worldtest.FixedClock, Fail: func(at string) error {
				if at == "after drop" || at == "after removing" {
					if there, err := worldtest.ExistsNow(t.Context(), into); err == nil && !there {
						at = "dropped"
					}
				}
				if at != c.point || met {
					return nil
				}
				met = true
				later, worlds := p, all
				if !c.again {
					endUndo(t, p, into, all)
					if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
						t.Error(err)
					}
					worlds = []world.Database{all[1], all[0]}
					later = worldtest.MustPlan(t, into, worlds, planner.PlanOptions{})
				}
				worldtest.MustApply(t, later, into, worlds)
				if c.opened {
					worldtest.Opened(t, later, into, worlds)
				}
				return nil
			}})
			if !met || !errors.Is(err, record.ErrBusy) {
				t.Errorf("%+v: %t, %v", c, met, err)
			}
			for i, d := range all {
				worldtest.Startable(t, d, gameid.ServerID(i+1), false)
			}
			worldtest.Startable(t, into, map[bool]gameid.ServerID{true: 1, false: 2}[c.again], c.opened) // that of the first world
		}
	})
}

// While an undo raises the worlds, no other process can end it and begin another merge. The worlds would learn the numbers of that
// merge.
func TestMergeStaysWhileWorldsAreRaised(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	worldtest.Opened(t, p, into, all)
	raises := 0
	_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, job.Hooks{Fail: func(point string) error {
		if point != "before raise" {
			return nil
		}
		raises++
		db := worldtest.Pool(t, into)
		defer db.Close()
		if _, err := db.Exec("UPDATE mergesafe_merge SET state = 'made'"); err == nil || !strings.Contains(err.Error(), "locked") {
			t.Errorf("another process wrote to the record: %v", err)
		}
		return nil
	}})
	if err != nil || raises == 0 {
		t.Errorf("raised %d times: %v", raises, err)
	}
}

// What an operator looked at and agreed to drop is dropped, not what was made by the same plan since.
func TestUndoOfWhatWasSeen(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		for _, try := range []bool{true, false} {
			if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: try}); err != nil {
				t.Fatal(err)
			}
			seen, err := build.LookUp(t.Context(), p, into, all)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
				t.Fatal(err)
			}
			worldtest.MustApply(t, p, into, all)
			_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{Begun: seen.Begun, Force: true})
			if !errors.Is(err, record.ErrBusy) || !strings.Contains(err.Error(), "was undone there, and another one by the same plan has begun in its place") {
				t.Errorf("a rehearsal %t: %v", try, err)
			}
			now, err := build.LookUp(t.Context(), p, into, all)
			if err != nil || now.State != record.StateMade || !now.Fences[0].Fenced || !now.Fences[1].Fenced {
				t.Errorf("then %+v: %v", now, err)
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Begun: now.Begun}); err != nil {
				t.Error(err)
			}
		}
	})
}

// A world whose rows are gone, though its tables are there, is one of which the new database has the only rows.
func TestUndoOfEmptiedWorlds(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		force := true
		refused := func(statement, want string) {
			t.Helper()
			_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: force})
			worldtest.RefusedBecause(t, "undo", want, err)
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || !there {
				t.Fatalf("after %s the new database is gone: %v", statement, err)
			}
		}
		worldtest.Exec(t, all[1], "CREATE TABLE kept AS SELECT * FROM gameid_servers", "DELETE FROM gameid_servers")
		refused("the registry was emptied", `database "s2": its registry (table "gameid_servers") lists no server any more, so new, which has a copy, is not dropped`)
		worldtest.Exec(t, all[1], "INSERT INTO gameid_servers SELECT * FROM kept")
		worldtest.Exec(t, all[1], "DELETE FROM guild_members")
		force = false
		refused("a table was emptied", `database "s2": its table "guild_members" had rows and is empty, so new, which has a copy, is not dropped: restore them, or -force drops it anyway`)
		force = true
		for _, table := range []string{"items", "guilds", "players"} {
			worldtest.Exec(t, all[1], "DELETE FROM "+table)
		}
		refused("the world was emptied", `database "s2": none of its tables has a row any more, so new, which has a copy, is not dropped`)
	})
}

// What is made in the first world between the last look and the tables of the new database is not made there as well.
func TestTableThatComesLate(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		came := false
		_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Fail: func(point string) error {
			if point == "before holding" && !came {
				came = true
				worldtest.Exec(t, all[0], "CREATE TABLE late (id INTEGER PRIMARY KEY)")
			}
			return nil
		}})
		worldtest.RefusedBecause(t, "apply", `database "s1": table late was added since the plan was made: take that back`, err)
		worldtest.Exec(t, all[0], "DROP TABLE late")
		worldtest.MustApply(t, p, into, all)
		worldtest.Proved(t, p, into, all)
	})
}

// What hangs on the database beside its rows is proved too: the servers that came, the gate, and the view of the keys.
func TestOursAreProved(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		const numbers = "INSERT INTO gameid_numbers (server_id, name, next_number, check_digit, updated_ms) VALUES "
		worldtest.Exec(t, all[0], numbers+"(1, 'guild', 7, 'damm', 0)")
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		fails := func(want string) {
			t.Helper()
			proof, err := prove.Verify(t.Context(), p, into, all, job.Options{})
			found := func(r plan.Refusal) bool { return strings.Contains(r.Reason, want) }
			if err != nil || proof.Verdict != verdict.Fail || !slices.ContainsFunc(proof.Findings, found) {
				t.Errorf("%s: %+v, %v", want, proof, err)
			}
			if _, err := build.Open(t.Context(), p, into, all, build.Options{}); !errors.Is(err, build.ErrNotProved) {
				t.Errorf("%s: opened: %v", want, err)
			}
		}
		unproved := func(want string) {
			t.Helper()
			proof, err := prove.Verify(t.Context(), p, into, all, job.Options{})
			if err != nil || proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprint(proof.Keys), want) {
				t.Errorf("%s: %+v, %v", want, proof.Keys, err)
			}
		}
		worldtest.MustApply(t, p, into, all)
		worldtest.Exec(t, into, "UPDATE gameid_servers SET server_id = 77 WHERE server_id = 2")
		fails(`its registry does not list server 2 of "s2"`)
		worldtest.Exec(t, into, "UPDATE gameid_servers SET server_id = 2 WHERE server_id = 77")
		worldtest.Proved(t, p, into, all)
		worldtest.Exec(t, into, "UPDATE mergesafe_progress SET tab = 'none' WHERE tab = 'items'")
		fails("the table mergesafe_progress does not have what the merge wrote to items")
		worldtest.Exec(t, into, "UPDATE mergesafe_progress SET tab = 'items' WHERE tab = 'none'")
		worldtest.Exec(t, all[1], "UPDATE players SET gold = gold + 1")
		if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict != verdict.Fail || len(proof.Findings) > 0 { // the record is right
			t.Errorf("%+v, %v", proof, err)
		}
		worldtest.Exec(t, all[1], "UPDATE players SET gold = gold - 1")
		worldtest.Exec(t, into, numbers+"(1, 'more', 7, '', 0)")
		fails("the table gameid_numbers has 2 rows, and 1 in s1")
		worldtest.Exec(t, into, "DELETE FROM gameid_numbers WHERE name = 'more'")
		for _, change := range []string{"next_number = 8", "next_number = 6", "check_digit = ''"} {
			worldtest.Exec(t, into, "UPDATE gameid_numbers SET "+change)
			fails(`the short numbers "guild" of server 1 are not those of its world`)
			worldtest.Exec(t, into, "UPDATE gameid_numbers SET next_number = 7, check_digit = 'damm'")
		}
		worldtest.Proved(t, p, into, all)
		worldtest.Exec(t, into, "UPDATE gameid_servers SET holder = '', lease_until_ms = 0 WHERE server_id = 1")
		fails("server 1 has no fence of this merge")

		worldtest.Exec(t, into, "CREATE TRIGGER more BEFORE DELETE ON gameid_servers FOR EACH ROW "+map[bool]string{true: "BEGIN SELECT 1; END", false: "SET @a = 1"}[e.Name == "sqlite"])
		fails("the trigger more of gameid_servers is not of the merge")

		keyed := []world.Database{worldtest.ViewWorld(t, e, "s1", 1), worldtest.ViewWorld(t, e, "s2", 1, 7)}
		all = keyed
		p, into = worldtest.MergeOf(t, e, keyed, planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Auto: true}}})
		worldtest.Proved(t, p, into, all)
		worldtest.Exec(t, into, "UPDATE mergesafe_keys SET source = 's3'")
		unproved("the record of the keys of s2 is not the one that the merge wrote: characters.guid")
		worldtest.Exec(t, into, "UPDATE mergesafe_keys SET source = 's2', n = n + 1")
		unproved("the record of the keys of s2 is not the one that the merge wrote: characters.guid")
		worldtest.Exec(t, into, "UPDATE mergesafe_keys SET n = n - 1")
		worldtest.Proved(t, p, into, all)
		worldtest.Exec(t, into, "DROP VIEW "+record.KeysView, "CREATE VIEW mergesafe_moved AS SELECT path, source, tab, col FROM mergesafe_keys")
		fails("the view mergesafe_moved does not show what the merge recorded")
		worldtest.Exec(t, into, "DROP VIEW "+record.KeysView)
		fails("the view mergesafe_moved is missing")
	})
}

// A world whose fence was lifted may have run: the merge is neither proved nor opened, and no fence is made where there is none.
func TestOpenDemandsFences(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	force(t, p, all[1])
	_, err := build.Open(t.Context(), p, into, all, build.Options{})
	worldtest.RefusedBecause(t, "open", "server 2 is no longer fenced by this merge", err)
	_, err = prove.Verify(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "verify", "server 2 is no longer fenced by this merge", err)
	for i := range all {
		f, fenced := worldregistry.FenceOf(worldtest.RegistryIn(t, all[i])[0].Holder)
		if fenced != (i == 0) || fenced && f.State != worldregistry.FenceMerging {
			t.Errorf("world %d: %+v", i, f)
		}
	}
	worldtest.MustDrop(t, p, into, all)
}

// An undo compares the new database with its record, whatever became of the worlds.
func TestUndoComparesNoWorld(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
	worldtest.Exec(t, all[1], "UPDATE things SET note = 'later'")
	worldtest.Exec(t, all[0], "ALTER TABLE things ADD COLUMN more INTEGER")
	worldtest.Exec(t, into, "UPDATE things SET note = 'played' WHERE id = 1")
	_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
	worldtest.RefusedBecause(t, "undo", `database "new": table "things": it has 10 rows, as it was made, but some have changed`, err)
	worldtest.Exec(t, into, "DELETE FROM mergesafe_progress WHERE tab = 'things'")
	_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{})
	worldtest.RefusedBecause(t, "undo", `database "new": table "things": mergesafe_progress does not have any more what the merge wrote to it`, err)
	worldtest.Exec(t, into, "UPDATE things SET note = (SELECT note FROM (SELECT note FROM things WHERE id = 2) AS other) WHERE id = 1")
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !done.Dropped {
		t.Errorf("%+v, %v", done, err)
	}
}

// What an undo need not write it does not open for writing: a world without a registry whose counters are not behind stays
// as it is, byte by byte.
func TestUndoWritesNothingNeedlessly(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}
	for _, d := range all {
		worldtest.Exec(t, d, "PRAGMA journal_mode = DELETE")
	}
	before := worldtest.Untouched(t, all[0]) + worldtest.Untouched(t, all[1])
	p, into := worldtest.MergeOf(t, e, all, worldtest.ManyOptions)
	worldtest.Opened(t, p, into, all)
	worldtest.MustDrop(t, p, into, all)
	if before != worldtest.Untouched(t, all[0])+worldtest.Untouched(t, all[1]) {
		t.Error("a world was written to")
	}
	if _, err := os.Stat(strings.TrimPrefix(into.DSN, "sqlite:")); !os.IsNotExist(err) {
		t.Errorf("the file of the new database: %v", err)
	}
}

// An open whose database cannot be reached stops, and is resumed by the same call.
func TestOpenStops(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	cut := job.Hooks{Fail: func(string) error { return driver.ErrBadConn }}
	if _, err := build.With(t.Context(), p, into, all, build.Options{Options: once}, cut); !errors.Is(err, record.ErrStopped) {
		t.Errorf("got %v, want that it stopped", err)
	}
	worldtest.Opened(t, p, into, all)
}

// A new database that was restored from before its opening is one that may have been entered: the fences say so.
func TestRestoredFromBefore(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	_, err := build.Apply(t.Context(), p, into, []world.Database{all[0], worldtest.GameWorld(t, e, "s2", 5, 4, "carl")}, job.Options{})
	worldtest.RefusedBecause(t, "apply", "its registry", err)
	copied := worldtest.Clone(t, e, into)
	worldtest.Opened(t, p, into, all)
	worldtest.Mint(t, into, 1)
	given := worldtest.RegistryIn(t, into)[0].Reserved
	worldtest.Refill(t, copied, into)
	if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.State != record.StateOpening || at.Lost || !at.Behind {
		t.Errorf("%+v, %v", at, err)
	}
	_, err = build.Apply(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "apply", "this database is a copy from before that", err)
	_, err = build.Open(t.Context(), p, into, all, build.Options{})
	worldtest.RefusedBecause(t, "open", "this database is a copy from before that", err)
	_, err = prove.Verify(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "verify", "this database is a copy from before that", err)
	worldtest.Startable(t, into, 1, false)
	before := worldtest.Dump(t, all[0]) + worldtest.Dump(t, all[1]) + worldtest.Dump(t, into)
	_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{}) // the opened one may be elsewhere, as when none is there
	worldtest.RefusedBecause(t, "undo", "new is a copy from before that: give the opened database", err)
	if before != worldtest.Dump(t, all[0])+worldtest.Dump(t, all[1])+worldtest.Dump(t, into) {
		t.Error("the refused undo changed something")
	}
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !done.Dropped || !done.Raised || !done.Unseen || len(done.Lifted) != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	worldtest.Refill(t, copied, into)
	_, err = prove.Verify(t.Context(), p, into, all, job.Options{})
	worldtest.RefusedBecause(t, "verify", "would exist twice", err)
	if now := worldtest.RegistryIn(t, all[0])[0].Reserved; now < given {
		t.Errorf("the first world is at %d, and %d was given", now, given)
	}
}

// An undo that is killed at its end leaves fences. A rehearsal after it is undone with them. It is of the worlds of the plan.
func TestTryBehindFences(t *testing.T) {
	e := worldtest.Engines()[0]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	if err := build.Fence(t.Context(), p, into, all, job.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true}); err != nil {
		t.Fatal(err)
	}
	worldtest.Startable(t, all[0], 1, false)
	other := worldtest.GameWorld(t, e, "s2", 3, 4, "bert")
	_, err := build.Apply(t.Context(), p, e.Fresh(t, "new"), []world.Database{all[0], other}, job.Options{Try: true})
	worldtest.RefusedBecause(t, "try", `database "s2": it is not the planned world`, err)
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || len(done.Lifted) != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	worldtest.Startable(t, all[0], 1, true)
}

// An undo of an open database that finds another world at the name of one changes nothing: the game goes on there.
func TestUndoOfOpenWithAnotherWorld(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	another := worldtest.GameWorld(t, e, "s3", 3, 4, "c")
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	worldtest.MustApply(t, p, into, all)
	worldtest.Opened(t, p, into, all)
	before, err := record.Servers(t.Context(), into)
	if err != nil || len(before) == 0 {
		t.Fatal(before, err)
	}
	_, err = build.Undo(t.Context(), p, into, []world.Database{all[0], {Name: "s2", DSN: another.DSN}}, build.UndoOptions{})
	if refused, is := errors.AsType[*record.RefusedError](err); !is {
		t.Errorf("%v %v", err, refused)
	}
	if s, err := build.LookUp(t.Context(), p, into, all); err != nil || s.State != record.StateOpen {
		t.Errorf("%+v, %v", s, err)
	}
	if after, err := record.Servers(t.Context(), into); err != nil || !slices.EqualFunc(after, before, func(a, b worldregistry.Server) bool { return a.ID == b.ID && a.Holder == b.Holder }) {
		t.Errorf("the gate was closed: %+v, %v; before %+v", after, err, before)
	}
}

// What a fleet registry would refuse is known before an undo writes anything: afterwards the game could go on nowhere. It is not asked
// about a merge that no game entered.
func TestUndoAsksFirst(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		worldtest.MustApply(t, p, into, all)
		no := &record.RefusedError{Doing: "undo", Refusals: []plan.Refusal{{Reason: "server 1 is not claimed"}}}
		asked := 0
		options := build.UndoOptions{MayPlace: func(context.Context) error { asked++; return no }}
		worldtest.Opened(t, p, into, all)
		for _, force := range []bool{false, true} {
			options.Force = force
			_, err := build.Undo(t.Context(), p, into, all, options)
			worldtest.RefusedBecause(t, "undo", "server 1 is not claimed", err)
			at, err := build.LookUp(t.Context(), p, into, all)
			if err != nil || at.State != record.StateOpen {
				t.Errorf("then %+v, %v", at, err)
			}
			worldtest.Startable(t, into, 1, true)
		}
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{RetryFor: -1}}, worldtest.KilledAt("after state", 1))
		if !errors.Is(err, worldtest.ErrKilled) {
			t.Fatal(err)
		}
		options.Force = false
		_, err = build.Undo(t.Context(), p, into, all, options) // one that goes on
		if worldtest.RefusedBecause(t, "undo", "server 1 is not claimed", err); asked != 3 {
			t.Errorf("asked %d times", asked)
		}
		options.MayPlace = nil
		worldtest.Startable(t, all[0], 1, false)
		if done, err := build.Undo(t.Context(), p, into, all, options); err != nil || !done.Dropped {
			t.Errorf("%+v, %v", done, err)
		}
		p = worldtest.MustPlan(t, into, all, planner.PlanOptions{})
		worldtest.MustApply(t, p, into, all)
		options.MayPlace, options.Force = func(context.Context) error { return no }, false
		if done, err := build.Undo(t.Context(), p, into, all, options); err != nil || !done.Dropped {
			t.Errorf("of a made merge: %+v, %v", done, err)
		}
	})
}

// An undo that goes on looks again what others wrote since it was interrupted: nothing keeps a game without a registry out.
func TestUndoLooksAgain(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2)
		points := []string{"after state"}
		const someDropped = "before drop, when some are dropped" // by a server that was killed in the middle of the statement
		if e.Name != "sqlite" {
			points = append(points, "before drop", someDropped)
		}
		for _, point := range points {
			into := e.Fresh(t, "new")
			p := worldtest.MustPlan(t, into, all, worldtest.KeyOptions(nil))
			worldtest.MakeAll(t, p, into, all)
			worldtest.Opened(t, p, into, all)
			met := 0
			_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{RetryFor: -1}}, job.Hooks{Fail: func(at string) error {
				if at == strings.TrimSuffix(point, ", when some are dropped") {
					met++
					return driver.ErrBadConn
				}
				return nil
			}})
			if !errors.Is(err, record.ErrStopped) || met == 0 {
				t.Fatalf("%s: %d times, %v", point, met, err)
			}
			if point == someDropped {
				worldtest.Exec(t, into, "DROP TABLE chars")
			}
			worldtest.Exec(t, into, "INSERT INTO items VALUES (999, 1, 'late')")
			_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			way := "-force drops it anyway"
			if point != "after state" { // where nothing was recorded
				way = "an undo has begun, and nothing opens the database again: copy them by hand, then -force drops it"
			}
			worldtest.RefusedBecause(t, point, `table "items": it has 5 rows, but was made with 4: changes there would be lost; `+way, err)
			if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true}); err != nil || !done.Dropped {
				t.Errorf("%s: %+v, %v", point, done, err)
			}
		}
	})
}

// A new database that became a world of a later merge is neither opened again nor dropped: its game is there.
func TestLaterMerge(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		worldtest.MustApply(t, p, into, all)
		worldtest.Opened(t, p, into, all)
		both := []world.Database{worldtest.GameWorld(t, e, "s3", 3, 2, "carl"), into}
		newer := e.Fresh(t, "newer")
		later := worldtest.MustPlan(t, newer, both, planner.PlanOptions{})
		refused := func(goes string) {
			t.Helper()
			_, err := build.Open(t.Context(), p, into, all, build.Options{})
			worldtest.RefusedBecause(t, "open", fmt.Sprintf(`database "new": it became a world of a later merge: its world %s to "newer" by the merge %q`, goes, later.ID), err)
			for _, force := range []bool{false, true} {
				_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: force})
				worldtest.RefusedBecause(t, "undo", ": undo that merge first", err)
			}
			at, err := build.LookUp(t.Context(), p, into, all)
			if want := fmt.Sprintf(`its world %s to "newer" by the merge %q`, goes, later.ID); err != nil || at.State != record.StateOpen || !strings.HasPrefix(at.Later, want) {
				t.Errorf("status %+v, %v; want %q", at, err, want)
			}
		}
		worldtest.MustApply(t, later, newer, both)
		refused("goes")
		worldtest.Opened(t, later, newer, both)
		refused("went")
		worldtest.Startable(t, newer, 3, true)
		if done, err := build.Undo(t.Context(), later, newer, both, build.UndoOptions{}); err != nil || !done.Dropped {
			t.Fatalf("%+v, %v", done, err)
		}
		if _, err := build.Open(t.Context(), p, into, all, build.Options{}); err != nil {
			t.Error(err)
		}
		worldtest.Startable(t, into, 1, true)
		if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.Later != "" {
			t.Errorf("status %+v, %v", at, err)
		}
	})
}

// The undo of a later merge raises the counters of its first world. Another undo loses nothing by that, so merges without players
// can be undone one after the other. What a player wrote keeps undo from it.
func TestUndoOfAChain(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		for raised := range 2 { // counters, by the first merge
			undoOfAChain(t, e, raised)
		}
	})
}

func undoOfAChain(t *testing.T, e worldtest.Engine, raised int) {
	worlds := worldtest.KeyWorlds(t, e, 3, "CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, next INTEGER NOT NULL)", "INSERT INTO seq VALUES ('item', 1000), ('other', 5)")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"seq"}, Policy: rules.PolicySkip})
		o.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "items.id", When: &rules.When{Column: "name", Is: []string{"item"}}, Others: rules.OthersPlain}}
	})
	all := worlds[:2]
	if raised == 0 {
		worldtest.Exec(t, all[1], "DELETE FROM items")
	}
	p, into := worldtest.MergeOf(t, e, all, opts)
	if len(p.Counters) != raised {
		t.Fatalf("the merge raises %+v", p.Counters)
	}
	fails := func(by string, also func()) {
		t.Helper()
		held := worldtest.Number(t, into, "SELECT next FROM seq WHERE name = 'item'")
		worldtest.Exec(t, into, by)
		seq := func(p evidence.TableProof) bool { return p.Table == "seq" && p.Changed == 1 && !p.Others }
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || !slices.ContainsFunc(proof.Tables, seq) {
			t.Errorf("%s: %+v", by, proof)
		}
		also()
		worldtest.Exec(t, into, "UPDATE seq SET next = 5 WHERE name = 'other'", fmt.Sprintf("UPDATE seq SET next = %d WHERE name = 'item'", held))
	}
	fails("UPDATE seq SET next = next + 1 WHERE name = 'item'", func() {}) // nothing raises it before it is open
	worldtest.Opened(t, p, into, all)
	both := []world.Database{into, worlds[2]}
	newer := e.Fresh(t, "newer")
	later := worldtest.MustPlan(t, newer, both, opts)
	worldtest.MustApply(t, later, newer, both)
	worldtest.Opened(t, later, newer, both)
	was := worldtest.Number(t, into, "SELECT next FROM seq WHERE name = 'item'")
	worldtest.MustDrop(t, later, newer, both)
	if now := worldtest.Number(t, into, "SELECT next FROM seq WHERE name = 'item'"); now <= was {
		t.Fatalf("the counter was not raised: %d", now)
	}
	worldtest.Proved(t, p, into, all)
	for _, by := range []string{"UPDATE seq SET next = next + 1 WHERE name = 'other'", "UPDATE seq SET next = 1 WHERE name = 'item'"} {
		fails(by, func() {
			_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
			worldtest.RefusedBecause(t, "undo", "some have changed: changes there would be lost", err)
		})
	}
	worldtest.MustDrop(t, p, into, all)
}

// A table that was emptied before its rows were copied is not in the new database either: it does not keep undo from dropping that.
func TestUndoOfWhatWasNotCopied(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		worldtest.Exec(t, all[1], "DELETE FROM guild_members")
		_, err := build.Apply(t.Context(), p, into, all, job.Options{Parallel: 1})
		if _, is := errors.AsType[*record.ChangedError](err); !is {
			t.Fatalf("apply: %v", err)
		}
		if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Dropped {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// What the merge made goes with an undo, also if the first world has it no more.
func TestUndoOfWhatTheWorldLost(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.KeyWorlds(t, e, 2)
		for _, w := range all {
			worldtest.Exec(t, w, "CREATE VIEW seen AS SELECT * FROM items")
		}
		p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
		worldtest.Exec(t, all[0], "DROP VIEW seen")
		if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Dropped {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// SQLite takes letters beyond ASCII for others in another case.
func TestUndoLeavesOtherLetters(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2)
	for _, w := range all {
		worldtest.Exec(t, w, `CREATE TABLE "ÄB" (id INTEGER PRIMARY KEY)`)
	}
	p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
	worldtest.Exec(t, into, `CREATE TABLE "äb" (id INTEGER PRIMARY KEY)`)
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || done.Dropped || !slices.Equal(done.Others, []string{"äb"}) {
		t.Errorf("%+v, %v", done, err)
	}
}

// A copy has the record, too: an undo of it says which database it was.
func TestUndoOfACopy(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2)
	p, into := worldtest.MergeOf(t, e, all, worldtest.KeyOptions(nil))
	copied := e.Fresh(t, "new")
	from, to := strings.TrimPrefix(into.DSN, "sqlite:"), strings.TrimPrefix(copied.DSN, "sqlite:")
	file, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	done, err := build.Undo(t.Context(), p, copied, all, build.UndoOptions{})
	if err != nil || !done.Dropped || len(done.Notes) != 1 || !strings.Contains(done.Notes[0], "undone is "+to) || !strings.Contains(done.Notes[0], "made for "+from) {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil || !done.Dropped || len(done.Notes) > 0 {
		t.Errorf("%+v, %v", done, err)
	}
}
