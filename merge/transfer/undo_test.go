package transfer

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/store"
)

var keepActive = PlanOptions{Names: []NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: KeepActive, By: "gold"}}}

// An undo gives back what was there before, to the last byte of the dump, also
// the names of the target's own players; and the sources can start again.
func TestUndo(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		target := gameWorld(t, e, "s1", 1, 40, "same")
		sources := []Database{gameWorld(t, e, "s2", 2, 300, "same"), gameWorld(t, e, "s3", 3, 11, "carl")}
		before := steady(t, target)
		p := mustPlan(t, target, sources, keepActive)
		if len(p.Renames) != 40 {
			t.Fatalf("%d renames", len(p.Renames))
		}
		if _, err := Apply(t.Context(), p, target, sources, Options{}); err != nil {
			t.Fatal(err)
		}
		if before == steady(t, target) {
			t.Fatal("nothing was merged")
		}
		done, err := Undo(t.Context(), p, target, sources, UndoOptions{})
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
		if _, err := Undo(t.Context(), p, target, sources, UndoOptions{}); !errors.Is(err, ErrNoMerge) {
			t.Errorf("a second undo: %v", err)
		}
		// And once more, as if it had never been.
		if _, err := Apply(t.Context(), mustPlan(t, target, sources, keepActive), target, sources, Options{}); err != nil {
			t.Error(err)
		}
	})
}

// startable tells whether a server starts on a database.
func startable(t *testing.T, d Database, server gameid.ServerID, want bool) {
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

// What was changed after the merge stands against the undo, unless it is
// forced. Rows of others that refer to what would go always do.
func TestUndoChanged(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		p, target, sources := merged(t, e, PlanOptions{})
		exec(t, target, "UPDATE players SET level = 7 WHERE name IN ('bert5', 'carl5', 'anna5')",
			"DELETE FROM guild_members WHERE player_id = (SELECT id FROM players WHERE name = 'bert0')")
		done, err := Undo(t.Context(), p, target, sources, UndoOptions{})
		refused := new(RefusedError)
		if !errors.As(err, &refused) || done.Changed != 2 || done.Missing != 1 || len(done.Samples) != 3 {
			t.Fatalf("%+v, %v", done, err)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM players"); n != 271 {
			t.Errorf("%d players after a refused undo", n)
		}

		exec(t, target, "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 'bert9') WHERE template = 1 AND owner_id = (SELECT id FROM players WHERE name = 'anna9')")
		if _, err := Undo(t.Context(), p, target, sources, UndoOptions{Force: true}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "1 rows of items (owner_id)") {
			t.Fatalf("a row that would lose its owner: %v", err)
		}
		exec(t, target, "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 'anna9') WHERE template = 1 AND owner_id = (SELECT id FROM players WHERE name = 'bert9') AND SUBSTR(HEX(id), 12, 5) = '00001'")

		done, err = Undo(t.Context(), p, target, sources, UndoOptions{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM players"); n != 20 || done.SameAsBefore {
			t.Errorf("%d players, %+v", n, done)
		}
	})
}

// A row that is changed while the undo runs is not removed, with or without
// DELETE ... RETURNING, and the rest is when it is forced.
func TestUndoChangedMeanwhile(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		before := dump(t, all[0])
		p := mustPlan(t, all[0], all[1:], manyOptions)
		for _, mute := range []bool{false, true} {
			if _, err := Apply(t.Context(), p, all[0], all[1:], Options{}); err != nil {
				t.Fatal(err)
			}
			removing, written := false, false
			options := Options{mute: mute, Batch: time.Microsecond,
				Progress: func(now Progress) { removing = now.Step == StepUndo && now.Rows > 0 },
				Pause: func(context.Context) error {
					if removing && !written {
						written = true
						exec(t, all[0], "UPDATE things SET note = 'changed' WHERE id = 104999")
					}
					return nil
				}}
			done, err := Undo(t.Context(), p, all[0], all[1:], UndoOptions{Options: options})
			if err == nil || !strings.Contains(err.Error(), `row 104999 of things, from "b": note has another value: it was changed while the undo ran`) {
				t.Fatalf("mute %t: %v", mute, err)
			}
			if n := number(t, all[0], "SELECT COUNT(*) FROM things WHERE note = 'changed'"); n != 1 || done.Rows == 0 || done.Rows >= 5000 {
				t.Errorf("mute %t: %d changed rows are there, %+v", mute, n, done)
			}
			if _, err := Undo(t.Context(), p, all[0], all[1:], UndoOptions{Options: Options{mute: mute}, Force: true}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, dump(t, all[0])); diff != "" {
				t.Errorf("mute %t:\n%s", mute, diff)
			}
		}
	})
}

// Whatever goes wrong during an undo, the same call goes on. It may also undo a
// merge that was not completed.
func TestUndoResume(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []Database{gameWorld(t, e, "s1", 1, 5, "same"), gameWorld(t, e, "s2", 2, 12, "same")}
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
			_, err := Apply(ctx, p, worlds[0], worlds[1:], Options{trip: at(i/2, func() error { cancel(); return nil })})
			cancel()
			if err != nil && !errors.Is(err, ErrStopped) {
				t.Fatalf("point %d: %v", i, err)
			}
			ctx, options := faults[i%int64(len(faults))].options(t.Context(), i)
			for range 2 {
				_, err = Undo(ctx, p, worlds[0], worlds[1:], UndoOptions{Options: options})
				if err != nil && !errors.Is(err, ErrStopped) && !errors.Is(err, ErrNoMerge) {
					t.Fatalf("point %d: %v", i, err)
				}
				ctx, options = t.Context(), Options{Patience: time.Minute}
			}
			if err != nil && !errors.Is(err, ErrNoMerge) {
				t.Fatalf("point %d: %v", i, err)
			}
			if diff := cmp.Diff(before, steady(t, worlds[0])); diff != "" {
				t.Fatalf("point %d: not what was there before (-before +after):\n%s", i, diff)
			}
			startable(t, worlds[1], 2, true)
		}
	})
}
