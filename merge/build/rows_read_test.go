package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store/storetest/faulty"
)

// readings counts how often the tables of a game are read in full, by the statements that a command sends: one that
// names a table reads it, unless it looks for a key or for the first rows.
type readings struct {
	tables []string
	new    string // the DSN of the new database

	mu       sync.Mutex
	of       map[string]int // by database and table
	ofWorlds int            // the most readings of a table of a world,
	ofNew    int            // and of one of the new database
	all      []string       // the statements
}

var (
	named = regexp.MustCompile("(?:FROM|JOIN) [\"`]?(\\w+)")
	few   = regexp.MustCompile(` = \?| IN \(| LIMIT (1|65|100)\b|MAX\(`)
)

func (r *readings) note(dsn, statement string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !strings.HasPrefix(statement, "SELECT") || few.MatchString(statement) {
		return
	}
	for _, m := range named.FindAllStringSubmatch(statement, -1) {
		if !slices.Contains(r.tables, m[1]) {
			continue
		}
		at := dsn + " " + m[1]
		r.of[at]++
		r.all = append(r.all, at+": "+statement)
		if dsn == r.new {
			r.ofNew = max(r.ofNew, r.of[at])
		} else {
			r.ofWorlds = max(r.ofWorlds, r.of[at])
		}
	}
}

// in returns the context of a command, of which nothing was counted yet.
func (r *readings) in(ctx context.Context) context.Context {
	r.of, r.ofWorlds, r.ofNew, r.all = make(map[string]int), 0, 0, nil
	return sqldb.Through(func(dsn string, c driver.Connector) driver.Connector {
		return &faulty.Wire{Connector: c, Fault: func(what string) (error, bool) { r.note(dsn, what); return nil, false }}
	}).With(ctx)
}

// Each row is read once by each step; more often where that is said here. The keys of two worlds collide, and some rows
// lead nowhere.
func TestRowsReadOnce(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		binary := ""
		if e.Name != "sqlite" {
			binary = " CHARACTER SET latin1 COLLATE latin1_bin" // which MariaDB does not sort as it compares
		}
		all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE friends (owner INTEGER NOT NULL, friend INTEGER NOT NULL, PRIMARY KEY (owner, friend))",
			"INSERT INTO friends VALUES (1, 2), (2, 1), (3, 77)",
			"CREATE TABLE guilds (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)", "INSERT INTO guilds VALUES (1, 'guild of w%d')",
			"CREATE TABLE worn (owner INTEGER NOT NULL PRIMARY KEY, slots VARCHAR(80) NOT NULL)", "INSERT INTO worn VALUES (1, '2 1'), (2, '0 9')",
			"CREATE TABLE vars (owner INTEGER NOT NULL, word VARCHAR(20)"+binary+" NOT NULL, PRIMARY KEY (owner, word))", "INSERT INTO vars VALUES (1, 'a'), (1, 'b')",
			"CREATE TABLE logs (id INTEGER NOT NULL PRIMARY KEY, what INTEGER NOT NULL)", "INSERT INTO logs VALUES (1, 7), (2, 8)")
		opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
			d.References[0].At = append(d.References[0].At, "friends.owner", "friends.friend")
			d.References[0].At = append(d.References[0].At, "worn.owner", "vars.owner")
			d.References = append(d.References, rules.DeclaredReference{At: []string{"worn.slots"}, To: []string{"items.id"}, Format: "list sep=' ' every", None: []string{"0"}})
			d.Plain = append(d.Plain, "guilds.name")
			o.Tables = append(o.Tables, rules.TablePolicy{Tables: []string{"logs"}, Policy: rules.PolicySkip})
			o.Rekey.Spaces = []rules.Space{{Name: "objects", Keys: []string{"chars.guid", "items.id", "guilds.id"}}}
		})
		into := e.Fresh(t, "new")
		r := &readings{new: into.DSN, tables: []string{"chars", "items", "friends", "guilds", "worn", "vars", "logs"}}
		var p *plan.Plan
		undo := func(ctx context.Context, from record.State) error {
			at, err := build.LookUp(t.Context(), p, into, all)
			if err == nil && at.State != from {
				t.Errorf("the merge is %q, want %q", at.State, from)
			}
			if err == nil {
				_, err = build.Undo(ctx, p, into, all, build.UndoOptions{})
			}
			return err
		}
		for _, c := range []struct {
			name        string
			run         func(ctx context.Context) error
			worlds, new int
		}{
			// Unique names are read again in their order, and rows of a skipped table of another world are counted.
			{"plan", func(ctx context.Context) (err error) {
				p, err = planner.NewPlan(ctx, into, all, opts)
				return err
			}, 2, 0},
			{"undo of a rehearsal", func(ctx context.Context) error {
				if _, err := build.Apply(t.Context(), p, into, all, job.Options{Try: true}); err != nil {
					return err
				}
				return undo(ctx, record.StateTried)
			}, 0, 0},
			{"undo of an interrupted apply", func(ctx context.Context) error {
				stop := worldtest.At(worldtest.Points(t, p, into, all)*2/3, func() error { return context.Canceled })
				if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Fail: stop}); err == nil {
					return errors.New("apply was not interrupted")
				}
				return undo(ctx, record.StateCopying)
			}, 0, 0},
			{"apply", func(ctx context.Context) error {
				_, err := build.Apply(ctx, p, into, all, job.Options{})
				return err
			}, 1, 0},
			{"verify", func(ctx context.Context) error {
				proof, err := prove.Verify(ctx, p, into, all, job.Options{})
				if err == nil && proof.Verdict != "PASS" {
					t.Errorf("%+v", proof)
				}
				return err
			}, 1, 1},
			{"undo", func(ctx context.Context) error { return undo(ctx, record.StateMade) }, 0, 1},
		} {
			if err := c.run(r.in(t.Context())); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if r.ofWorlds > c.worlds || r.ofNew > c.new {
				t.Errorf("%s: reads a table of a world up to %d times, and of the new database up to %d times, want %d and %d:\n%s", c.name, r.ofWorlds, r.ofNew, c.worlds, c.new, strings.Join(slices.Sorted(slices.Values(r.all)), "\n"))
			}
			for at, n := range r.of {
				if n > 1 && !strings.HasSuffix(at, " guilds") && at != all[1].DSN+" logs" {
					t.Errorf("%s: reads %s %d times, want 1:\n%s", c.name, at, n, strings.Join(slices.Sorted(slices.Values(r.all)), "\n"))
				}
			}
			if c.worlds > 0 && len(r.of) < 12 {
				t.Errorf("%s reads only %v", c.name, slices.Collect(maps.Keys(r.of)))
			}
		}
	})
}

// The same of worlds of store, whose IDs stay. Names are read again in their order.
func TestStoreRowsReadOnce(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "w1", 1, 40, "one"), worldtest.GameWorld(t, e, "w2", 2, 40, "two")}
		into := e.Fresh(t, "new")
		r := &readings{new: into.DSN, tables: []string{"players", "items", "guilds", "guild_members"}}
		var p *plan.Plan
		for _, c := range []struct {
			name               string
			run                func(ctx context.Context) error
			named, others, new int // readings of a table with unique names, of another, and of one of the new database
		}{
			{"mergecheck", func(ctx context.Context) error {
				report, err := worldtest.Checked(ctx, all, rules.Options{})
				if err == nil && report.Verdict != verdict.Pass {
					t.Errorf("%+v", report)
				}
				return err
			}, 2, 1, 0},
			{"plan", func(ctx context.Context) (err error) {
				p, err = planner.NewPlan(ctx, into, all, planner.PlanOptions{})
				if err == nil && len(p.Refusals) > 0 {
					t.Error(p.Refusals)
				}
				return err
			}, 2, 1, 0},
			{"apply", func(ctx context.Context) error {
				_, err := build.Apply(ctx, p, into, all, job.Options{})
				return err
			}, 1, 1, 0},
			{"verify", func(ctx context.Context) error {
				proof, err := prove.Verify(ctx, p, into, all, job.Options{})
				if err == nil && proof.Verdict != "PASS" {
					t.Errorf("%+v", proof)
				}
				return err
			}, 1, 1, 1},
			{"open", func(ctx context.Context) error {
				_, err := build.Open(ctx, p, into, all, build.Options{})
				return err
			}, 1, 1, 1},
		} {
			if err := c.run(r.in(t.Context())); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			for at, n := range r.of {
				want := c.others
				switch named := strings.HasSuffix(at, " players") || strings.HasSuffix(at, " guilds"); {
				case strings.HasPrefix(at, into.DSN):
					want = c.new
				case named:
					want = c.named
				}
				if n > want {
					t.Errorf("%s: reads %s %d times, want %d:\n%s", c.name, at, n, want, strings.Join(slices.Sorted(slices.Values(r.all)), "\n"))
				}
			}
		}
	})
}

// Rows that are matched are read in the order of their keys, by the index of their name for the pairs and once more for what is
// unique, and once for their new keys: that their names have one key each is known from the pairs.
func TestMatchedRowsRead(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE accounts (id INTEGER NOT NULL PRIMARY KEY, login VARCHAR(20) NOT NULL UNIQUE)",
		"INSERT INTO accounts VALUES (1, 'eve'), (2, 'w%d'), (3, 'bob')")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"accounts.id"}, Match: []string{"accounts.login"}})
		d.Plain = append(d.Plain, "accounts.login")
	})
	r := &readings{tables: []string{"accounts"}}
	if report, err := worldtest.Checked(r.in(t.Context()), all, opts.Check); err != nil || report.Verdict != verdict.Pass {
		t.Fatalf("%+v: %v", report, err)
	}
	if r.ofWorlds > 4 {
		t.Errorf("read %d times, want 4:\n%s", r.ofWorlds, strings.Join(r.all, "\n"))
	}
}
