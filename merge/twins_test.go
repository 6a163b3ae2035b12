package merge

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
	"mergesafe/merge/record"
	"mergesafe/merge/rules"

	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
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

// countedWorld is a world without a registry, whose 60 players are counted from 1. Each has as much gold times his number.
func countedWorld(t *testing.T, e engine, name string, gold int) world.Database {
	t.Helper()
	d := e.fresh(t, name)
	rows := make([]string, 60)
	for i := range rows {
		rows[i] = fmt.Sprintf("(%d, 'p', %d)", i+1, gold*(i+1))
	}
	exec(t, d, "CREATE TABLE pl (id INT NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL, gold INT NOT NULL)", "INSERT INTO pl VALUES "+strings.Join(rows, ", "))
	return d
}

func refusalsOf(t *testing.T, into world.Database, worlds []world.Database, opts planner.PlanOptions) string {
	t.Helper()
	p, err := planner.NewPlan(t.Context(), into, worlds, opts)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range p.Refusals {
		all = append(all, r.String())
	}
	return strings.Join(all, "\n")
}

func countedRules() planner.PlanOptions {
	return planner.PlanOptions{Check: rules.Options{Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}}}}, Rules: []rules.Declarations{{Plain: []string{"pl.gold"}}}}}
}

// One database is never merged with itself, nor made in the place of a world, by whatever names it is given.
func TestOneDatabaseUnderTwoNames(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		s1, s2 := countedWorld(t, e, "s1", 3), countedWorld(t, e, "s2", 5)
		into := e.fresh(t, "new")
		for name, tt := range map[string]struct {
			into   world.Database
			worlds []world.Database
			want   string
		}{
			"a world twice":        {into, []world.Database{s1, aliased(t, s1, "again")}, "world-twice: s1 and again are one database"},
			"a third time":         {into, []world.Database{s1, s2, aliased(t, s2, "again")}, "world-twice: s2 and again are one database"},
			"a world as new":       {aliased(t, s2, "again"), []world.Database{s1, s2}, `database "again": it is the database of the world "s2": name one that does not exist`},
			"the first one as new": {aliased(t, s1, "again"), []world.Database{s1, s2}, `database "again": it is the database of the world "s1": name one that does not exist`},
		} {
			if got := refusalsOf(t, tt.into, tt.worlds, countedRules()); !strings.Contains(got, tt.want) {
				t.Errorf("%s: got %s, want %s", name, got, tt.want)
			}
		}
		p := mustPlan(t, into, []world.Database{s1, s2}, countedRules())
		twice := []world.Database{s1, aliased(t, s1, "s2")}
		_, err := build.Apply(t.Context(), p, into, twice, job.Options{})
		refusedBecause(t, "apply", `database "s2": it is the same database as "s1": look where their DSNs lead`, err)
		if there, err := existsNow(t.Context(), into); err != nil || there {
			t.Errorf("it wrote before it refused: %t, %v", there, err)
		}
		if _, err := build.Apply(t.Context(), p, into, []world.Database{s1, s2}, job.Options{}); err != nil {
			t.Fatal(err)
		}
		_, err = prove.Verify(t.Context(), p, into, twice, job.Options{})
		refusedBecause(t, "verify", `it is the same database as "s1"`, err)
		_, err = prove.Verify(t.Context(), p, into, []world.Database{s1, aliased(t, into, "s2")}, job.Options{})
		refusedBecause(t, "verify of itself", `database "new": it is the same database as "s2"`, err)
	})
}

// A copy of a world is merged only if the operator says that people play in both.
func TestCopiesAreNotVerified(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		s1, copied := countedWorld(t, e, "s1", 3), countedWorld(t, e, "s2", 3)
		into, worlds, opts := e.fresh(t, "new"), []world.Database{s1, copied}, countedRules()
		const want = "world-copied: not verified: a world seems to be a copy of another one: s2: it seems to be a copy of s1: of the 60 keys of table pl that both have, 60 have equal rows"
		if got := refusalsOf(t, into, worlds, opts); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		opts.Check.Allow = []string{verdict.CodeWorldCopied}
		if got := refusalsOf(t, into, worlds, opts); got != "" {
			t.Errorf("allowed, and refused: %s", got)
		}
		exec(t, copied, "UPDATE pl SET gold = 7000 + id WHERE id <= 30") // people play
		if got := refusalsOf(t, into, worlds, countedRules()); got != "" {
			t.Errorf("with half of the rows: %s", got)
		}
	})
}

// A world with a registry is known by it, whatever its name leads to now.
func TestAnotherWorldIsGiven(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		s1, s2 := gameWorld(t, e, "s1", 1, 4, "one"), gameWorld(t, e, "s2", 2, 3, "two")
		p, into := planOf(t, e, []world.Database{s1, s2}, planner.PlanOptions{})
		makeAll(t, p, into, []world.Database{s1, s2})
		other := gameWorld(t, e, "s2", 2, 3, "two")
		_, err := prove.Verify(t.Context(), p, into, []world.Database{s1, other}, job.Options{})
		refusedBecause(t, "verify", `database "s2": it is another world than the planned one: its registry does not list server 2 of world `+p.Worlds[1].Servers[0].World, err)
	})
}

// A database with the record of another merge, in whatever state, is not empty and not ours: also if the name of the new
// database leads there.
func TestRecordOfAnotherMerge(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		var all []world.Database
		for i := range 4 {
			all = append(all, gameWorld(t, e, fmt.Sprint("s", i+1), gameid.ServerID(i+1), 2, fmt.Sprint("hero", i)))
		}
		theirs, in := planOf(t, e, all[:2], planner.PlanOptions{})
		ours, _ := planOf(t, e, all[2:], planner.PlanOptions{})
		refused := func(state string) {
			t.Helper()
			before := dump(t, in)
			_, err := build.Apply(t.Context(), ours, in, all[2:], job.Options{})
			if _, is := errors.AsType[*record.RefusedError](err); !is {
				t.Errorf("%s: apply: %v", state, err)
			}
			_, err = build.Open(t.Context(), ours, in, all[2:], build.Options{})
			refusedBecause(t, state+": open", "it was not made", err)
			if now := dump(t, in); now != before {
				t.Errorf("%s: it was changed", state)
			}
		}
		killed := errors.New("killed")
		at := func(point string) job.Hooks {
			return job.Hooks{Clock: fixedClock, Fail: func(at string) error {
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
		makeAll(t, theirs, in, all[:2])
		refused("made")
		opened(t, theirs, in, all[:2])
		refused("open")
	})
}
