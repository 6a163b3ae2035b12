package worldtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

var ErrKilled = errors.New("killed")

// KilledAt ends the work at the n-th time that it comes to a point.
func KilledAt(point string, n int) job.Hooks {
	return job.Hooks{Batch: time.Nanosecond, Fail: func(at string) error {
		if at == point {
			if n--; n == 0 {
				return ErrKilled
			}
		}
		return nil
	}}
}

// RacedWorlds are worlds of which a merge takes all kinds of steps: keys get new values, a
// counter in a row and those of the tables are raised, names of both worlds change, tables are
// reset, others are combined, and both have a registry.
func RacedWorlds(t *testing.T, e Engine) ([]world.Database, planner.PlanOptions) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "INTEGER NOT NULL PRIMARY KEY AUTO_INCREMENT"
	}
	all := KeyWorlds(t, e, 2,
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
	o := KeyOptions(func(o *rules.Options, d *rules.Declarations) {
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

// ManyRows makes a world of one table with that many rows.
func ManyRows(t testing.TB, e Engine, name string, from, n int) world.Database {
	t.Helper()
	d := e.Fresh(t, name)
	Exec(t, d, "CREATE TABLE things (id BIGINT NOT NULL PRIMARY KEY, owner VARBINARY(10), note VARCHAR(40), n BIGINT)")
	if e.Name == "mariadb" {
		Exec(t, d, "INSERT INTO things SELECT seq, LPAD(seq, 10, 'x'), CONCAT('note ', seq), seq * 7 FROM "+servertest.Seq(from, from+n-1))
		return d
	}
	Exec(t, d, fmt.Sprintf("INSERT INTO things WITH RECURSIVE s(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM s WHERE i + 1 < %d)", from, from+n)+
		" SELECT i, CAST(printf('%010d', i) AS BLOB), 'note ' || i, i * 7 FROM s")
	return d
}

var ManyOptions = planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeColumnOpaque, verdict.CodeAutoIncrement}, Rules: NamesNothing}}

// NamesNothing declares that no column is a reference, for tests of other things.
var NamesNothing = []rules.Declarations{{Plain: []string{"*.*"}}}

// Untouched is all that a world of SQLite is: the bytes of its file, and what lies beside it.
func Untouched(t *testing.T, d world.Database) string {
	path := strings.TrimPrefix(d.DSN, "sqlite:")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	return fmt.Sprintln(files, err, string(b))
}

// InterruptedAnywhere interrupts the apply of a plan at points of it, and resumes or undoes
// it; and the undo of the completed merge, which is resumed. What there is afterwards must be
// what it is without an interruption: the same new database, or none, and the same worlds. step is
// how many points lie between two of them.
func InterruptedAnywhere(t *testing.T, e Engine, p *plan.Plan, all []world.Database, step int) {
	t.Helper()
	if *Long {
		step = 1
	}
	into := e.Fresh(t, p.New.Name)
	small := func(h job.Hooks) job.Hooks { h.Clock, h.Batch = FixedClock, time.Nanosecond; return h }
	// An answer that is lost may be found out by itself: what tells that there are no more points is that this one is not met.
	lost := func(n int) (h job.Hooks, met *atomic.Bool) {
		met = new(atomic.Bool)
		return small(job.Hooks{Fail: At(int64(n), func() error { met.Store(true); return context.Canceled })}), met
	}
	made := func() string {
		t.Helper() // the record of keys counts what it has
		return strings.ReplaceAll(WithoutCounters(Dump(t, into, record.KeysTable, record.RecordTable, record.ProgressTable)), p.ID, "ID")
	}
	complete := func() {
		t.Helper()
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, small(job.Hooks{})); err != nil {
			t.Fatal(err)
		}
	}
	var before []string
	for _, d := range all {
		before = append(before, Dump(t, d, worldregistry.Table)) // where fences leave their number
	}
	undone := func(what string, n int) {
		t.Helper()
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil && !errors.Is(err, record.ErrNoMerge) {
			t.Fatalf("%s, point %d: undo: %v", what, n, err)
		}
		if there, err := ExistsNow(t.Context(), into); err != nil || there {
			t.Fatalf("%s, point %d: %s is there after its undo: %v", what, n, into.Name, err)
		}
		for i, d := range all {
			if diff := cmp.Diff(before[i], Dump(t, d, worldregistry.Table)); diff != "" {
				t.Fatalf("%s, point %d: %s was changed:\n%s", what, n, d.Name, diff)
			}
		}
	}
	complete()
	want := made()
	if proof := Verified(t, p, into, all); proof.Verdict != verdict.Pass {
		t.Errorf("%+v", proof)
	}
	undone("apply", -1)
	for n := step - 1; ; n += step {
		hooks, met := lost(n)
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, hooks); !met.Load() {
			if err != nil || n < step {
				t.Errorf("apply ended before point %d: %v", n, err)
			}
			break
		}
		if n/step%2 == 1 {
			complete()
			if diff := cmp.Diff(want, made()); diff != "" {
				t.Fatalf("point %d: (-smooth +resumed):\n%s", n, diff)
			}
		}
		undone("apply", n)
	}
	for n, ended := 0, false; !ended; n += step {
		complete()
		hooks, met := lost(n)
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, hooks)
		if ended = !met.Load(); ended && err != nil {
			t.Errorf("undo, point %d: %v", n, err)
		}
		undone("undo", n)
	}
}

var (
	Long = flag.Bool("torture.long", servertest.LongIsSet(), "let things go wrong at every point, and hundreds of times")
	Seed = flag.Uint64("torture.seed", 7, "what the random worlds and points are made of")
)

// At returns a failpoint that calls f at the n-th point, counted from 0.
func At(n int64, f func() error) world.Failpoint {
	var count atomic.Int64
	return func(string) error {
		if count.Add(1)-1 == n {
			return f()
		}
		return nil
	}
}

// Points is how many points a merge goes through. The worlds and the new database are as before afterwards.
func Points(t *testing.T, p *plan.Plan, into world.Database, worlds []world.Database) int64 {
	t.Helper()
	var n atomic.Int64
	if _, err := build.ApplyWith(t.Context(), p, into, worlds, job.Options{}, job.Hooks{Fail: func(string) error { n.Add(1); return nil }}); err != nil {
		t.Fatal(err)
	}
	if _, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	return n.Load()
}

// OnEachWay runs a test on a server where rows are written by LOAD DATA LOCAL, and where they are by INSERT.
func OnEachWay(t *testing.T, test func(t *testing.T, e Engine)) {
	servertest.NotShort(t)
	server := servertest.Private(t)
	e := Engine{"mariadb", func(t testing.TB, name string) world.Database {
		dsn, err := server.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return world.Database{Name: name, DSN: "mysql:" + dsn}
	}}
	for _, way := range []struct{ name, loads string }{{"load", "ON"}, {"insert", "OFF"}} {
		Exec(t, e.Fresh(t, "any"), "SET GLOBAL local_infile = "+way.loads)
		t.Run(way.name, func(t *testing.T) { test(t, e) })
	}
}
