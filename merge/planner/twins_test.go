package planner_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// aliased is another name of a database, and another way to it.
func aliased(t *testing.T, d world.Database, name string) world.Database {
	t.Helper()
	if path, file := strings.CutPrefix(d.DSN, "sqlite:"); file {
		link := filepath.Join(t.TempDir(), name+".db")
		if err := os.Symlink(path, link); err != nil {
			t.Skip(err)
		}
		return world.Database{Name: name, DSN: "sqlite:" + link}
	}
	dsn := strings.Replace(d.DSN, "tcp(127.0.0.1:", "tcp(localhost:", 1)
	if dsn == d.DSN {
		t.Skip("the server of the tests is not at 127.0.0.1")
	}
	return world.Database{Name: name, DSN: dsn}
}

// One database is never merged with itself, nor made in the place of a world, by whatever names it is given.
func TestOneDatabaseUnderTwoNames(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		s1, s2 := worldtest.CountedWorld(t, e, "s1", 3), worldtest.CountedWorld(t, e, "s2", 5)
		into := e.Fresh(t, "new")
		for name, tt := range map[string]struct {
			into   world.Database
			worlds []world.Database
			want   string
		}{
			"a world twice":        {into, []world.Database{s1, aliased(t, s1, "again")}, "world-twice: s1 and again are one database"},
			"a third time":         {into, []world.Database{s1, s2, aliased(t, s2, "again")}, "world-twice: s2 and again are one database"},
			"a world as new":       {aliased(t, s2, "again"), []world.Database{s1, s2}, `database "again": it is the database of the world "s2": choose one that does not exist`},
			"the first one as new": {aliased(t, s1, "again"), []world.Database{s1, s2}, `database "again": it is the database of the world "s1": choose one that does not exist`},
		} {
			if got := worldtest.RefusalsOf(t, tt.into, tt.worlds, worldtest.CountedRules()); !strings.Contains(got, tt.want) {
				t.Errorf("%s: got %s, want %s", name, got, tt.want)
			}
		}
		p := worldtest.MustPlan(t, into, []world.Database{s1, s2}, worldtest.CountedRules())
		twice := []world.Database{s1, aliased(t, s1, "s2")}
		_, err := build.Apply(t.Context(), p, into, twice, job.Options{})
		worldtest.RefusedBecause(t, "apply", `database "s2": it is the same database as "s1": check which databases their DSNs lead to`, err)
		if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
			t.Errorf("it wrote before it refused: %t, %v", there, err)
		}
		if _, err := build.Apply(t.Context(), p, into, []world.Database{s1, s2}, job.Options{}); err != nil {
			t.Fatal(err)
		}
		_, err = prove.Verify(t.Context(), p, into, twice, job.Options{})
		worldtest.RefusedBecause(t, "verify", `it is the same database as "s1"`, err)
		_, err = prove.Verify(t.Context(), p, into, []world.Database{s1, aliased(t, into, "s2")}, job.Options{})
		worldtest.RefusedBecause(t, "verify of itself", `database "s2": it has the record of this merge, so it is the new database`, err)
	})
}

// A copy of a world is merged only if the operator says that people play in both.
func TestCopiesAreNotVerified(t *testing.T) {
	e := worldtest.OnSQLite(t)
	s1, copied := worldtest.CountedWorld(t, e, "s1", 3), worldtest.CountedWorld(t, e, "s2", 3)
	into, worlds, opts := e.Fresh(t, "new"), []world.Database{s1, copied}, worldtest.CountedRules()
	const want = "world-copied: not verified: a world seems to be a copy of another one: s2: it seems to be a copy of s1: both have 60 compared keys in table pl, of which 60 have equal rows"
	if got := worldtest.RefusalsOf(t, into, worlds, opts); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	opts.Check.Allow = []string{verdict.CodeWorldCopied}
	if got := worldtest.RefusalsOf(t, into, worlds, opts); got != "" {
		t.Errorf("allowed, and refused: %s", got)
	}
	worldtest.Exec(t, copied, "UPDATE pl SET gold = 7000 + id WHERE id <= 30") // people play
	if got := worldtest.RefusalsOf(t, into, worlds, worldtest.CountedRules()); got != "" {
		t.Errorf("with half of the rows: %s", got)
	}
}

// A world with a registry is known by it, whatever its name leads to now.
func TestAnotherWorldIsGiven(t *testing.T) {
	e := worldtest.OnSQLite(t)
	s1, s2 := worldtest.GameWorld(t, e, "s1", 1, 4, "one"), worldtest.GameWorld(t, e, "s2", 2, 3, "two")
	p, into := worldtest.PlanOf(t, e, []world.Database{s1, s2}, planner.PlanOptions{})
	other := worldtest.GameWorld(t, e, "s2", 2, 3, "two")
	want := `database "s2": it is not the planned world: its registry does not list server 2 of world ` + p.Worlds[1].Servers[0].World + ": check which database its DSN leads to"
	_, err := build.Apply(t.Context(), p, into, []world.Database{s1, other}, job.Options{})
	worldtest.RefusedBecause(t, "apply", want, err)
	worldtest.MakeAll(t, p, into, []world.Database{s1, s2})
	_, err = prove.Verify(t.Context(), p, into, []world.Database{s1, other}, job.Options{})
	worldtest.RefusedBecause(t, "verify", want, err)
}

// A database with the record of another merge, in whatever state, is not empty and not ours: also if the name of the new
// database leads there.
func TestRecordOfAnotherMerge(t *testing.T) {
	e := worldtest.OnSQLite(t)
	var all []world.Database
	for i := range 4 {
		all = append(all, worldtest.GameWorld(t, e, fmt.Sprint("s", i+1), gameid.ServerID(i+1), 2, fmt.Sprint("hero", i)))
	}
	theirs, in := worldtest.PlanOf(t, e, all[:2], planner.PlanOptions{})
	ours, _ := worldtest.PlanOf(t, e, all[2:], planner.PlanOptions{})
	refused := func(state string) {
		t.Helper()
		before := worldtest.Dump(t, in)
		_, err := build.Apply(t.Context(), ours, in, all[2:], job.Options{})
		if _, is := errors.AsType[*record.RefusedError](err); !is {
			t.Errorf("%s: apply: %v", state, err)
		}
		_, err = build.Open(t.Context(), ours, in, all[2:], build.Options{})
		worldtest.RefusedBecause(t, state+": open", "it was not made", err)
		if now := worldtest.Dump(t, in); now != before {
			t.Errorf("%s: it was changed", state)
		}
	}
	killed := errors.New("killed")
	at := func(point string) job.Hooks {
		return job.Hooks{Clock: worldtest.FixedClock, Fail: func(at string) error {
			if at == point {
				return killed
			}
			return nil
		}}
	}
	for _, point := range []string{"before fence", "after fence"} {
		if _, err := build.ApplyWith(t.Context(), theirs, in, all[:2], job.Options{}, at(point)); !errors.Is(err, killed) {
			t.Fatal(err)
		}
		refused(point)
	}
	worldtest.MakeAll(t, theirs, in, all[:2])
	refused("made")
	worldtest.Opened(t, theirs, in, all[:2])
	refused("open")
}
