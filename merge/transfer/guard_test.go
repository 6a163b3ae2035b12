package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/merge/verdict"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/starter"
)

// registryIn is the registry of a database; none if it keeps none.
func registryIn(t testing.TB, d rowio.Database) []registry.Server {
	t.Helper()
	if number(t, d, hasRegistry(d)) == 0 {
		return nil
	}
	all, err := ledger.Servers(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hasRegistry counts the tables of a registry: none or one.
func hasRegistry(d rowio.Database) string {
	if strings.HasPrefix(d.DSN, "mysql:") {
		return "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'gameid_servers'"
	}
	return "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'gameid_servers'"
}

// guarded makes sure, of a merge that was interrupted anywhere, that no own server
// of the target starts while rows may be missing there.
func guarded(t testing.TB, p *plan.Plan, all []rowio.Database) {
	t.Helper()
	at, err := apply.LookUp(context.WithoutCancel(t.Context()), p, all[0], all[1:])
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range registryIn(t, all[0]) {
		if s.Role != registry.RoleOwn || at.State == ledger.StateNone || at.State == ledger.StateCopied {
			continue
		}
		if f, ok := registry.FenceOf(s.Holder); !ok || !f.Here || f.Merge != p.ID || s.Held() == nil {
			t.Fatalf("the merge is %q, and server %s can start: %+v", at.State, s.ID, s)
		}
	}
}

// unguarded makes sure that the target's own servers have no fence.
func unguarded(t testing.TB, target rowio.Database) {
	t.Helper()
	for _, s := range registryIn(t, target) {
		if err := s.Held(); err != nil {
			t.Fatalf("server %s cannot start: %v", s.ID, err)
		}
	}
}

// halfway carries out a plan until some items are copied, and stops there.
func halfway(t *testing.T, p *plan.Plan, all []rowio.Database) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := int64(-1)
	_, err := apply.ApplyWith(ctx, p, all[0], all[1:], job.Options{Parallel: 1, Progress: func(now job.Progress) {
		switch {
		case now.Step != ledger.StepCopy || now.Table != "items":
		case before < 0:
			before = now.Rows
		case now.Rows > before:
			cancel()
		}
	}}, job.Hooks{Batch: time.Nanosecond})
	if !errors.Is(err, ledger.ErrStopped) {
		t.Fatalf("got %v, want that it stopped", err)
	}
}

// force takes the fences off the target by hand, as an operator may who does not
// know better.
func force(t *testing.T, p *plan.Plan, target rowio.Database) {
	t.Helper()
	db, err := store.Open(t.Context(), target.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range registryIn(t, target) {
		if err := db.Registry().LiftFence(t.Context(), s.ID, p.ID); err != nil {
			t.Fatal(err)
		}
	}
}

// play runs a game on a world: a new player with one item.
func play(t *testing.T, d rowio.Database, server gameid.ServerID, name string, owner string) (item gameid.ID) {
	t.Helper()
	ctx := t.Context()
	db, err := store.Open(ctx, d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(ctx, server, gameid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	player, err1 := gameid.NewGenerator[entity.Player](node).Next()
	thing, err2 := gameid.NewGenerator[entity.Item](node).Next()
	now := entity.Time(time.Now())
	err3 := starter.Players.Insert(ctx, db, entity.Player{ID: player, Account: "new", Name: name, Level: 1, CreatedAt: now, UpdatedAt: now})
	err4 := starter.Items.Insert(ctx, db, entity.Item{ID: thing, Owner: player, Template: 9, Count: 1, CreatedAt: now})
	if err := errors.Join(err1, err2, err3, err4, node.Close()); err != nil {
		t.Fatal(err)
	}
	if owner != "" {
		exec(t, d, "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = '"+owner+"') WHERE template = 9")
	}
	return thing.ID()
}

// From the first write to the completion no game starts on the target, and the
// refusal names the merge and both ways out.
func TestTargetIsFenced(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 400, "bert")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{NoFence: true}) // which is about the sources
		halfway(t, p, all)
		guarded(t, p, all)
		db, err := store.Open(t.Context(), all[0].DSN)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.OpenNode(t.Context(), 1, gameid.Options{})
		fenced := new(registry.FencedError)
		if !errors.As(err, &fenced) || fenced.Fence.Merge != p.ID || !strings.Contains(err.Error(), "servermerge status PLAN") || !strings.Contains(err.Error(), "servermerge undo PLAN") {
			t.Errorf("the server starts: %v", err)
		}
		// Nor does it take part in another merge, as the target or as a source.
		other := gameWorld(t, e, "s9", 9, 3, "ines")
		for _, pair := range [][]rowio.Database{{all[0], other}, {other, all[0]}} {
			again, err := planner.NewPlan(t.Context(), pair[0], pair[1:], planner.PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(fmt.Sprint(again.Refusals), "the merge "+p.ID+" was begun there and not completed: resume it or undo it first"); n != 1 {
				t.Errorf("said %d times: %v", n, again.Refusals)
			}
		}
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
		startable(t, all[0], 1, true)
		startable(t, all[1], 2, true)
	})
}

// A merge that is killed when all is done but the fences goes on by either command.
func TestKilledBeforeLifting(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 3, "anna"), gameWorld(t, e, "s2", 2, 4, "bert")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		stop := job.Hooks{Fail: func(point string) error {
			if point == "before unguard" {
				return context.Canceled
			}
			return nil
		}}
		apply := func(h job.Hooks) error {
			_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{RetryFor: -1}, h)
			return err
		}
		undo := func(h job.Hooks) error {
			_, err := undo.UndoWith(t.Context(), p, all[0], all[1:], undo.UndoOptions{Options: job.Options{RetryFor: -1}}, h)
			return err
		}
		for i, c := range []struct{ before, killed, then func(job.Hooks) error }{{nil, apply, apply}, {nil, apply, undo}, {apply, undo, undo}, {apply, undo, apply}} {
			if c.before != nil {
				if err := c.before(job.Hooks{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.killed(stop); err == nil {
				t.Fatal("nothing went wrong")
			}
			startable(t, all[0], 1, false)
			if err := c.then(job.Hooks{}); err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			unguarded(t, all[0])
			if err := undo(job.Hooks{}); err != nil && !errors.Is(err, ledger.ErrNoMerge) {
				t.Fatal(err)
			}
		}
		startable(t, all[0], 1, true)
		startable(t, all[1], 2, true)
	})
}

// A game server that comes between the last look and the fence, or while an undo
// compares, is refused to, and nothing of the fence stays.
func TestServerComesBetween(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 3, "anna"), gameWorld(t, e, "s2", 2, 4, "bert")}
		mint(t, all[0], 5) // the target has two servers, and the first is fenced when the second is found running
		worlds := clones(t, e, all)
		for _, c := range []struct {
			name  string
			comes func(t *testing.T)
			want  string
		}{
			{"and runs", func(t *testing.T) { serve(t, worlds[0], 5) }, "server 5 runs"},
			{"and ran", func(t *testing.T) { mint(t, worlds[0], 5) }, "the mark of server 5 moved"},
		} {
			t.Run(c.name, func(t *testing.T) {
				refillAll(t, all, worlds)
				p := mustPlan(t, worlds[0], worlds[1:], planner.PlanOptions{})
				once := func() job.Hooks {
					came := false
					return job.Hooks{Fail: func(point string) error {
						if point == "before guard" && !came {
							came = true
							c.comes(t)
						}
						return nil
					}}
				}
				refused := new(ledger.RefusedError)
				_, err := apply.ApplyWith(t.Context(), p, worlds[0], worlds[1:], job.Options{}, once())
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "undo the merge") {
					t.Errorf("%v, want %q", err, c.want)
				}
				if number(t, worlds[0], "SELECT COUNT(*) FROM players") != 3 {
					t.Error("rows were copied")
				}
				for _, s := range registryIn(t, worlds[0]) {
					if _, fenced := registry.FenceOf(s.Holder); fenced {
						t.Errorf("a fence stays: %+v", s)
					}
				}
			})
		}
		refillAll(t, all, worlds)
		p := mustPlan(t, worlds[0], worlds[1:], planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), p, worlds[0], worlds[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Run("an undo", func(t *testing.T) {
			came := false
			refused := new(ledger.RefusedError)
			_, err := undo.UndoWith(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}, job.Hooks{Fail: func(point string) error {
				if point == "before guard" && !came {
					came = true
					serve(t, worlds[0], 5)
				}
				return nil
			}})
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "server 5 runs") {
				t.Errorf("got %v", err)
			}
		})
		startable(t, worlds[0], 1, true)
		if _, err := undo.Undo(t.Context(), p, worlds[0], worlds[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		startable(t, worlds[0], 1, true)
	})
}

// A game that wrote to the target of an interrupted merge, past its fence, is
// noticed by name. The way on is the undo, which leaves what is new; then plan
// again.
func TestGamePlayedMeanwhile(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 400, "bert")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{RangeRows: 10_000})
		halfway(t, p, all)
		force(t, p, all[0])
		item := play(t, all[0], 1, "newcomer", "bert7")
		applying := func(want ...string) {
			t.Helper()
			refused := new(ledger.RefusedError)
			_, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{})
			if !errors.As(err, &refused) {
				t.Fatalf("apply: %v", err)
			}
			for _, w := range want {
				if !slices.ContainsFunc(refused.Refusals, func(r plan.Refusal) bool { return strings.Contains(r.String(), w) }) {
					t.Errorf("apply: %v, want %q", refused.Refusals, w)
				}
			}
		}
		applying("the mark of server 1 moved", "since the plan was made: undo the merge, then plan again",
			`table "players": it has 406 rows, and should have 405 with the 400 that the merge copied`, `table "items": it has 1016 rows, and should have 1015 with the 1000 that the merge copied`)
		if again, err := planner.NewPlan(t.Context(), all[0], all[1:], planner.PlanOptions{}); err != nil || !strings.Contains(fmt.Sprint(again.Refusals), "resume it or undo it first") {
			t.Fatalf("%+v, %v", again, err)
		}
		// The new item belongs to a player that came: it is named, forced or not.
		key := fmt.Sprintf("%x", item.Bytes())
		for _, force := range []bool{false, true} {
			refused := new(ledger.RefusedError)
			_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: force})
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "1 row of items (owner_id) that did not come with the merge references rows that did: row "+key+"; let them reference other rows or remove them, then run undo again") {
				t.Fatalf("undo: %v", err)
			}
		}
		exec(t, all[0], "UPDATE items SET owner_id = (SELECT id FROM players WHERE name = 'newcomer') WHERE template = 9")
		done, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
		if err != nil || done.SameAsBefore {
			t.Fatalf("%+v, %v", done, err)
		}
		if n := number(t, all[0], "SELECT (SELECT COUNT(*) FROM players) * 100 + (SELECT COUNT(*) FROM items)"); n != 616 {
			t.Errorf("%d players and %d items are left, want 6 and 16", n/100, n%100)
		}
		p = mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		if proof := verified(t, p, all[0], all[1:]); proof.Verdict != verdict.Pass {
			t.Errorf("%+v", proof)
		}
	})
}

// The same, of an undo that was interrupted.
func TestGamePlayedInUndo(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		p, target, sources := merged(t, e, planner.PlanOptions{})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := undo.UndoWith(ctx, p, target, sources, undo.UndoOptions{Options: job.Options{Parallel: 1, Progress: func(now job.Progress) {
			if now.Step == ledger.StepUndo && now.Table == "players" && now.Rows > 0 {
				cancel()
			}
		}}}, job.Hooks{Batch: time.Nanosecond})
		cancel()
		if !errors.Is(err, ledger.ErrStopped) {
			t.Fatal(err)
		}
		guarded(t, p, append([]rowio.Database{target}, sources...))
		force(t, p, target)
		left := number(t, target, "SELECT COUNT(*) FROM players WHERE name LIKE 'carl%'")
		if left == 0 {
			t.Fatal("all was removed")
		}
		play(t, target, 1, "newcomer", "carl7")
		refused := new(ledger.RefusedError)
		if _, err := undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "1 row of items (owner_id) that did not come") {
			t.Fatal(err)
		}
		if _, err := apply.Apply(t.Context(), p, target, sources, job.Options{}); err == nil || !strings.Contains(err.Error(), "run undo again to its end first") {
			t.Errorf("apply: %v", err)
		}
		exec(t, target, "DELETE FROM items WHERE template = 9")
		if _, err := undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM players"); n != 21 {
			t.Errorf("%d players, want 21", n)
		}
		startable(t, target, 1, true)
	})
}

// Without a registry no fence keeps a game away: rows that came or went are
// noticed when the merge is resumed, and when it is to be completed.
func TestNoRegistry(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{manyRows(t, e, "a", 1, 10), manyRows(t, e, "b", 100_000, 5000)}
		p := mustPlan(t, all[0], all[1:], manyOptions)
		ctx, cancel := context.WithCancel(t.Context())
		result, err := apply.ApplyWith(ctx, p, all[0], all[1:], job.Options{Progress: func(now job.Progress) {
			if now.Rows > 0 {
				cancel()
			}
		}}, job.Hooks{Batch: time.Nanosecond})
		if !errors.Is(err, ledger.ErrStopped) {
			t.Fatal(err)
		}
		exec(t, all[0], "INSERT INTO things VALUES (77, NULL, 'new', 1)")
		refused := new(ledger.RefusedError)
		want := fmt.Sprintf(`table "things": it has %d rows, and should have %d with the %d that the merge copied: another process wrote to it since the merge began: undo the merge, then plan again`, 11+result.Rows, 10+result.Rows, result.Rows)
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if again, err := planner.NewPlan(t.Context(), all[0], all[1:], manyOptions); err != nil || !strings.Contains(fmt.Sprint(again.Refusals), p.ID+" was begun there and not completed") {
			t.Errorf("%v, %v", again, err)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) * 1000 + SUM(id) FROM things"); n != 11_000+55+77 {
			t.Errorf("%d rows are left", n/1000)
		}

		// While it runs.
		p = mustPlan(t, all[0], all[1:], manyOptions)
		wrote := false
		_, err = apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{Pause: func(context.Context) error {
			if !wrote && number(t, all[0], "SELECT COUNT(*) FROM things") > 1000 {
				wrote = true
				exec(t, all[0], "INSERT INTO things VALUES (78, NULL, 'new', 1)")
			}
			return nil
		}}, job.Hooks{Batch: time.Nanosecond})
		if changed := new(ledger.ChangedError); !errors.As(err, &changed) || changed.Database != "a" || changed.Table != "things" || changed.Rows != 5012 || changed.Want != 5011 ||
			!strings.Contains(err.Error(), `database "a": table "things" has 5012 rows, and should have 5011: another process wrote to it`) {
			t.Errorf("it was completed: %v", err)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := number(t, all[0], "SELECT COUNT(*) FROM things"); n != 12 {
			t.Errorf("%d rows are left, want 12", n)
		}
	})
}

// A game server that ran while the merge did, past the fence, keeps it from being
// completed, also if it only moved its mark.
func TestMarkMovedMeanwhile(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 400, "bert")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		ran := false
		_, err := apply.ApplyWith(t.Context(), p, all[0], all[1:], job.Options{Parallel: 1, Pause: func(context.Context) error {
			if !ran {
				ran = true
				force(t, p, all[0])
				mint(t, all[0], 1)
			}
			return nil
		}}, job.Hooks{})
		changed := new(ledger.ChangedError)
		if !errors.As(err, &changed) || changed.Database != "s1" || !strings.Contains(err.Error(), "the mark of server 1 moved from ") || !strings.Contains(err.Error(), ": another process wrote to it since the merge began; undo the merge, then plan again") {
			t.Errorf("it was completed: %v", err)
		}
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		startable(t, all[0], 1, true)
	})
}

// A game that takes the old name of a renamed player keeps the undo from its end
// until the new one is renamed or removed; the row is named.
func TestOldNameTaken(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "same"), gameWorld(t, e, "s2", 2, 12, "same")}
		p := mustPlan(t, all[0], all[1:], keepActive)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := apply.ApplyWith(ctx, p, all[0], all[1:], job.Options{}, job.Hooks{Fail: func(point string) error {
			if point == "after update" {
				cancel()
			}
			return nil
		}})
		if !errors.Is(err, ledger.ErrStopped) {
			t.Fatal(err)
		}
		cancel()
		if number(t, all[0], "SELECT COUNT(*) FROM players WHERE name = 'same3'") != 0 {
			t.Fatal("nobody was renamed")
		}
		force(t, p, all[0])
		play(t, all[0], 1, "same3", "")
		for range 2 {
			_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{})
			if err == nil || !strings.Contains(err.Error(), "cannot get its old value back, because a new row has it: give the new row another value or remove it, then run undo again") {
				t.Fatalf("got %v", err)
			}
		}
		exec(t, all[0], "UPDATE players SET name = 'other' WHERE account = 'new'")
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if number(t, all[0], "SELECT COUNT(*) FROM players WHERE name LIKE 'same_'") != 5 {
			t.Error("not all have their names back")
		}
		startable(t, all[0], 1, true)
	})
}

// A new row may have the key that a row of a source would get only later. It did
// not come with the merge: an undo names it if it references what came, and leaves
// it otherwise.
func TestKeyOfALaterRow(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		world := func(name string, from, n int) rowio.Database {
			d := e.fresh(t, name)
			exec(t, d, "CREATE TABLE heroes (id INTEGER NOT NULL PRIMARY KEY, n INTEGER)",
				"CREATE TABLE items (id INTEGER NOT NULL, part INTEGER NOT NULL, hero INTEGER, PRIMARY KEY (id, part), FOREIGN KEY (hero) REFERENCES heroes (id))")
			var heroes, items []string
			for i := from; i < from+n; i++ {
				heroes, items = append(heroes, fmt.Sprintf("(%d, 1)", i)), append(items, fmt.Sprintf("(%d, 1, %d)", i, i))
			}
			exec(t, d, "INSERT INTO heroes VALUES "+strings.Join(heroes, ","), "INSERT INTO items VALUES "+strings.Join(items, ","))
			return d
		}
		all := []rowio.Database{world("a", 0, 5), world("b", 1000, 3000)}
		p := mustPlan(t, all[0], all[1:], oddAllowed)
		halfway(t, p, all)
		exec(t, all[0], "INSERT INTO items VALUES (3999, 1, 1001)", "INSERT INTO items VALUES (3998, 1, 1)")
		refused := new(ledger.RefusedError)
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "1 row of items (hero) that did not come with the merge references rows that did: row 3999/1; ") {
			t.Fatal(err)
		}
		exec(t, all[0], "UPDATE items SET hero = 2 WHERE id = 3999")
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := number(t, all[0], "SELECT (SELECT COUNT(*) FROM heroes) * 100 + (SELECT COUNT(*) FROM items)"); n != 507 {
			t.Errorf("%d heroes and %d items are left, want 5 and 7", n/100, n%100)
		}
	})
}

// Rows that reference what came are found in tables that no source has rows in,
// with a key or without.
func TestStrangersElsewhere(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 5, "anna"), gameWorld(t, e, "s2", 2, 400, "bert")}
		kind := map[string]string{"sqlite": "BLOB", "mariadb": "BINARY(10)"}[e.name]
		for _, d := range all {
			exec(t, d, "CREATE TABLE bans (id INTEGER NOT NULL PRIMARY KEY, player "+kind+" NOT NULL, FOREIGN KEY (player) REFERENCES players (id))",
				"CREATE TABLE visits (player "+kind+" NOT NULL, FOREIGN KEY (player) REFERENCES players (id))")
		}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{Check: declare.Options{Exclude: []string{"visits"}, Allow: []string{verdict.CodeTableExcluded}}})
		if _, err := apply.Apply(t.Context(), p, all[0], all[1:], job.Options{}); err != nil {
			t.Fatal(err)
		}
		var bans []string
		for i := range 12 {
			bans = append(bans, fmt.Sprintf("INSERT INTO bans SELECT %d, id FROM players WHERE name = 'bert%d'", 70+i, i))
		}
		exec(t, all[0], append(bans, "INSERT INTO visits SELECT id FROM players WHERE name IN ('bert7', 'anna2')")...)
		refused := new(ledger.RefusedError)
		_, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{Force: true})
		if !errors.As(err, &refused) || len(refused.Refusals) != 2 || !strings.Contains(err.Error(), "12 rows of bans (player) that did not come with the merge reference rows that did: row 70, row 71, ") ||
			!strings.Contains(err.Error(), "row 79, and more; ") || !strings.Contains(err.Error(), "1 row of visits (player) that did") {
			t.Fatal(err)
		}
		exec(t, all[0], "DELETE FROM bans", "DELETE FROM visits")
		if _, err := undo.Undo(t.Context(), p, all[0], all[1:], undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
	})
}
