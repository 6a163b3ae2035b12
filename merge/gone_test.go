package merge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/merge/build"
	"mergesafe/merge/catalog"
	"mergesafe/merge/job"
	"mergesafe/merge/prove"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A world that is gone, or whose tables are, is named by every command, with what to do: also if that happens while it runs.
func TestGone(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		var p *merge.Plan
		var into world.Database
		var all []world.Database
		one := job.Options{Parallel: 1}
		for _, c := range []struct {
			name string
			made bool
			run  func(h job.Hooks) error
		}{
			{"apply", false, func(h job.Hooks) error { _, err := build.ApplyWith(t.Context(), p, into, all, one, h); return err }},
			{"status", true, func(job.Hooks) error { _, err := build.LookUp(t.Context(), p, into, all); return err }},
			{"verify", true, func(h job.Hooks) error { _, err := prove.VerifyWith(t.Context(), p, into, all, one, h); return err }},
			{"open", true, func(h job.Hooks) error {
				_, err := build.With(t.Context(), p, into, all, build.Options{Options: one}, h)
				return err
			}},
			{"undo", true, func(h job.Hooks) error {
				_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: one}, h)
				return err
			}},
		} {
			for n := 0; ; n++ { // before the command, and at points within it
				if n == servertest.Scale(3, 6) {
					n = 6
				}
				point, at := max(0, n-5)*servertest.Scale(90, 17), 0
				if point > 0 && e.Name == "sqlite" {
					break
				}
				all = []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 5, "bert")}
				p, into = worldtest.PlanOf(t, e, all, merge.PlanOptions{})
				if c.made {
					worldtest.MustApply(t, p, into, all)
				}
				d, goes := all[n%2], []func(testing.TB, world.Database) string{dropDatabase, renameTables, renameRegistry}[n%3]
				said, gone := "", point == 0
				if gone {
					said = goes(t, d)
				}
				err := c.run(job.Hooks{Batch: time.Nanosecond, Fail: func(string) error {
					if at++; at == point {
						said, gone = goes(t, d), true
					}
					return nil
				}})
				if !gone {
					break
				}
				if e.Name != "sqlite" && n%3 == 0 { // the test drops it when it ends
					server, name, err := world.Server(d)
					if err != nil {
						t.Fatal(err)
					}
					defer worldtest.Exec(t, server, "CREATE DATABASE "+name)
				}
				told := merge.Gone(t.Context(), c.name, p, into, all, err)
				if err == nil && (point > 0 || c.name == "status" && n%3 == 1) { // it had all that it needed
					continue
				}
				if _, refused := errors.AsType[*merge.RefusedError](told); !refused || !strings.Contains(told.Error(), fmt.Sprintf("database %q: %s", d.Name, said)) || !strings.Contains(told.Error(), "restore ") &&
					!strings.Contains(told.Error(), "was added since the plan was made: take that back") { // read as the tables were renamed
					t.Errorf("%s of %s at point %d: %v", c.name, d.Name, point, told)
				}
			}
		}
	})
}

// dropDatabase drops a world, and returns the words by which a command must report it.
func dropDatabase(t testing.TB, d world.Database) string {
	if path, is := strings.CutPrefix(d.DSN, "sqlite:"); is {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	} else {
		worldtest.Exec(t, d, "DROP DATABASE "+d.DSN[strings.LastIndex(d.DSN, "/")+1:])
	}
	return "there is no such database any more"
}

// renameTables renames the tables of the game in a world. It returns no words: they depend on when the command notices it.
func renameTables(t testing.TB, d world.Database) string {
	for _, table := range []string{"players", "items", "guilds", "guild_members"} {
		worldtest.Exec(t, d, "ALTER TABLE "+table+" RENAME TO gone_"+table)
	}
	return ""
}

// renameRegistry renames the registry of a world, with words as those of renameTables.
func renameRegistry(t testing.TB, d world.Database) string {
	worldtest.Exec(t, d, "ALTER TABLE gameid_servers RENAME TO gone_servers")
	return ""
}

// A plan of a world that is gone says so, without the words of the server.
func TestPlanOfALostWorld(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 5, "bert")}
		server, name, err := world.Server(all[1])
		if err != nil {
			t.Fatal(err)
		}
		dropDatabase(t, all[1])
		defer worldtest.Exec(t, server, "CREATE DATABASE "+name) // the test drops it when it ends
		if _, err := merge.NewPlan(t.Context(), e.Fresh(t, "new"), all, merge.PlanOptions{}); err == nil ||
			err.Error() != `merge: database "s2": there is no such database: restore it, or correct its DSN` {
			t.Errorf("%v", err)
		}
	})
}

// vanishing is a world of which a table is dropped when the catalogue was read.
type vanishing struct {
	*world.Source
	drop func()
}

func (v vanishing) Catalog(ctx context.Context) (*catalog.Catalog, error) {
	defer v.drop()
	return v.Source.Catalog(ctx)
}

// A check of a world of which a table is gone says what happened before the words of the server.
func TestCheckOfALostTable(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		var all []catalog.Source
		for i, name := range []string{"s1", "s2"} {
			d := worldtest.GameWorld(t, e, name, gameid.ServerID(i+1), 5, name)
			s, err := world.Open(t.Context(), d.Name, d.DSN)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			all = append(all, vanishing{s, func() {}})
			if i == 1 {
				all[i] = vanishing{s, func() { worldtest.Exec(t, d, "DROP TABLE items") }}
			}
		}
		_, err := merge.Check(t.Context(), all, rules.Options{})
		if lost, is := errors.AsType[*catalog.ReadError](err); !is || lost.World != "s2" || lost.Table != "items" ||
			!strings.HasPrefix(err.Error(), "merge: a table or a database was dropped or renamed while the check ran: run it again, which says what is missing") {
			t.Errorf("%v", err)
		}
	})
}
