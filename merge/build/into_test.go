package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// A merge makes the new database, the worlds stay as they are but for their fences, and an undo leaves
// nothing. What the rows are is compared by the tests of package oracle.
func TestInto(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 25, "same"), worldtest.GameWorld(t, e, "s2", 2, 32, "same"), worldtest.GameWorld(t, e, "s3", 3, 11, "other")}
		opts := planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}}}
		before := make([]string, len(all))
		for i, d := range all {
			before[i] = worldtest.Dump(t, d, "gameid_servers")
		}
		p, into := worldtest.PlanOf(t, e, all, opts)
		result, err := build.Apply(t.Context(), p, into, all, job.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if result.Rows != p.Rows() {
			t.Errorf("%d rows, want %d", result.Rows, p.Rows())
		}
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM gameid_servers WHERE role = 'merged'"); n != 2 {
			t.Errorf("%d merged servers", n)
		}
		worldtest.Startable(t, into, 1, false)
		for i := range all {
			worldtest.Startable(t, all[i], gameid.ServerID(i+1), false)
		}
		worldtest.Opened(t, p, into, all)
		for _, table := range []string{"players", "items", "guilds", "guild_members"} {
			want := int64(0)
			for _, d := range all {
				want += worldtest.Number(t, d, "SELECT COUNT(*) FROM "+table)
			}
			if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM "+table); n != want {
				t.Errorf("%d rows in %s, want %d", n, table, want)
			}
		}
		worldtest.Startable(t, into, 1, true)
		for i, d := range all {
			worldtest.Startable(t, d, gameid.ServerID(i+1), false)
			if diff := cmp.Diff(before[i], worldtest.Dump(t, d, "gameid_servers")); diff != "" {
				t.Errorf("%s was changed:\n%s", d.Name, diff)
			}
		}
		undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		if err != nil || !undone.Dropped || len(undone.Lifted) != len(all) {
			t.Fatalf("%+v, %v", undone, err)
		}
		if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
			t.Errorf("%s is there after its undo: %v", into.Name, err)
		}
		for i, d := range all {
			worldtest.Startable(t, d, gameid.ServerID(i+1), true)
		}
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); !errors.Is(err, record.ErrNoMerge) {
			t.Errorf("undone again: %v", err)
		}
	})
}

// Whatever goes wrong, and wherever, the same call resumes, and makes what a smooth run makes; or
// an undo leaves nothing.
func TestIntoResumed(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 15, "same"), worldtest.GameWorld(t, e, "s2", 2, 12, "same")}
		opts := planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32}}}
		p, into := worldtest.PlanOf(t, e, all, opts)
		var n atomic.Int64
		hooks := job.Hooks{Clock: worldtest.FixedClock, Fail: func(string) error { n.Add(1); return nil }}
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, hooks); err != nil {
			t.Fatal(err)
		}
		want := worldtest.SteadyRows(t, p, worldtest.Clone(t, e, into))
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		step := max(1, n.Load()/e.Short(6))
		if *worldtest.Long {
			step = 1
		}
		for k, f := range faults() {
			t.Run(f.name, func(t *testing.T) {
				for i := step * int64(2*k+1) / 6; i < n.Load(); i += step { // each at other points
					ctx, options, hooked := f.options(t.Context(), i)
					hooked.Clock = worldtest.FixedClock
					_, err := build.ApplyWith(ctx, p, into, all, options, hooked)
					if err != nil && !errors.Is(err, record.ErrStopped) {
						t.Fatalf("point %d: %v", i, err)
					}
					if i/step%2 == 0 {
						if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: worldtest.FixedClock}); err != nil {
							t.Fatalf("point %d, again: %v", i, err)
						}
						if diff := cmp.Diff(want, worldtest.SteadyRows(t, p, worldtest.Clone(t, e, into))); diff != "" {
							t.Fatalf("point %d: not the result of a smooth run (-smooth +resumed):\n%s", i, diff)
						}
					}
					_, err = build.Undo(t.Context(), p, into, all, build.UndoOptions{})
					if err != nil && !errors.Is(err, record.ErrNoMerge) {
						t.Fatalf("point %d: undo: %v", i, err)
					}
					if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
						t.Fatalf("point %d: %s is there after its undo: %v", i, into.Name, err)
					}
					at, err := build.LookUp(t.Context(), p, into, all)
					if err != nil || at.Fenced() {
						t.Fatalf("point %d: %+v, %v", i, at, err)
					}
				}
			})
		}
	})
}

// Whatever is not as planned in what was made is found, and it is not opened.
func TestIntoTampered(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 15, "one"), worldtest.GameWorld(t, e, "s2", 2, 12, "two")}
		worldtest.Exec(t, all[0], "CREATE TABLE settings (name VARCHAR(20) NOT NULL PRIMARY KEY, value VARCHAR(20))", "INSERT INTO settings VALUES ('rate', '2')")
		worldtest.Exec(t, all[1], "CREATE TABLE settings (name VARCHAR(20) NOT NULL PRIMARY KEY, value VARCHAR(20))")
		opts := planner.PlanOptions{}
		opts.Check.Allow = []string{verdict.CodeSchemaColumn}
		p, into := worldtest.PlanOf(t, e, all, opts)
		for _, c := range []struct{ do, back, want string }{
			{"UPDATE players SET gold = gold + 1 WHERE name = 'two3'", "UPDATE players SET gold = gold - 1 WHERE name = 'two3'", "players"},
			{"UPDATE players SET gold = gold + 1 WHERE name = 'one3'", "UPDATE players SET gold = gold - 1 WHERE name = 'one3'", "players"},
			{"UPDATE settings SET value = '3'", "UPDATE settings SET value = '2'", "settings"},
			{"INSERT INTO settings VALUES ('more', '1')", "DELETE FROM settings WHERE name = 'more'", "settings"},
			{"CREATE INDEX more ON players (gold)", map[bool]string{true: "DROP INDEX more", false: "DROP INDEX more ON players"}[e.Name == "sqlite"], "index more"},
			{"CREATE VIEW poor AS SELECT * FROM players WHERE gold = 0", "DROP VIEW poor", "view poor"},
		} {
			worldtest.MustApply(t, p, into, all)
			worldtest.Exec(t, into, c.do)
			proof, err := prove.Verify(t.Context(), p, into, all, job.Options{})
			if err != nil || proof.Verdict != verdict.Fail || !strings.Contains(fmt.Sprintf("%+v", proof), c.want) {
				t.Errorf("%s: %+v, %v", c.do, proof, err)
			}
			if _, err := build.Open(t.Context(), p, into, all, build.Options{}); err == nil {
				t.Errorf("%s: opened", c.do)
			}
			worldtest.Exec(t, into, c.back)
		}
		worldtest.Proved(t, p, into, all)
		worldtest.Exec(t, into, "DELETE FROM items")
		if _, err := build.Open(t.Context(), p, into, all, build.Options{}); !errors.Is(err, build.ErrNotProved) {
			t.Errorf("opened without its items: %v", err)
		}
	})
}

// A database in which the game has played since is dropped only by force; what was given there is
// never given again by the first world.
func TestIntoUndonePlayed(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 15, "one"), worldtest.GameWorld(t, e, "s2", 2, 12, "two")}
		for _, d := range all {
			worldtest.Exec(t, d, map[bool]string{true: "CREATE TABLE mails (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT)", false: "CREATE TABLE mails (id INT AUTO_INCREMENT PRIMARY KEY, body TEXT)"}[e.Name == "sqlite"])
		}
		worldtest.Exec(t, all[0], "INSERT INTO mails VALUES (900001, 'a'), (900002, 'b')")
		for _, d := range all { // a table in which no world has a row
			worldtest.Exec(t, d, map[bool]string{true: "CREATE TABLE bids (id INTEGER PRIMARY KEY AUTOINCREMENT, gold INT)", false: "CREATE TABLE bids (id INT AUTO_INCREMENT PRIMARY KEY, gold INT)"}[e.Name == "sqlite"])
		}
		p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
		worldtest.Opened(t, p, into, all)
		last := newPlayer(t, into, 1, "new one")
		numbered := newNumbers(t, into, 1)
		worldtest.Exec(t, into, "INSERT INTO mails (body) VALUES ('c'), ('d')", "INSERT INTO bids (gold) VALUES (1), (2)")
		worldtest.Exec(t, into, "UPDATE gameid_servers SET reserved_ms = reserved_ms + 12345 WHERE server_id = 2") // it was started there, too
		mark := worldtest.Number(t, into, "SELECT reserved_ms FROM gameid_servers WHERE server_id = 2")
		_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{})
		if refused, ok := errors.AsType[*record.RefusedError](err); !ok || len(refused.Refusals) != 3 {
			t.Fatalf("undone though the game played: %v", err)
		}
		worldtest.Startable(t, into, 1, true) // the game goes on there
		if g := generation(t, into); g != 1 {
			t.Errorf("the new database has the generation %d, want 1", g)
		}
		undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true})
		if err != nil || !undone.Dropped {
			t.Fatalf("%+v, %v", undone, err)
		}
		if g := generation(t, all[0]); g != 2 {
			t.Errorf("the first world has the generation %d after the undo, want 2", g)
		}
		if next := newPlayer(t, all[0], 1, "new one"); next.Compare(last) <= 0 {
			t.Errorf("%s after %s", next, last)
		}
		if next := newNumbers(t, all[0], 1); next[0] <= numbered[0] || next[1] <= numbered[1] {
			t.Errorf("the numbers %d after %d", next, numbered)
		}
		worldtest.Exec(t, all[0], "INSERT INTO mails (body) VALUES ('e')")
		if n := worldtest.Number(t, all[0], "SELECT MAX(id) FROM mails"); n != 900005 {
			t.Errorf("the next mail is %d, want 900005", n)
		}
		worldtest.Exec(t, all[0], "INSERT INTO bids (gold) VALUES (3)")
		if n := worldtest.Number(t, all[0], "SELECT MAX(id) FROM bids"); n != 3 {
			t.Errorf("the next bid is %d, want 3", n)
		}
		if now := worldtest.Number(t, all[1], "SELECT reserved_ms FROM gameid_servers WHERE server_id = 2"); now != mark {
			t.Errorf("the mark of the other world is %d, want %d", now, mark)
		}
	})
}

// generation is that of the world of server 1 in a database.
func generation(t testing.TB, d world.Database) int64 {
	t.Helper()
	servers, err := record.Servers(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if s.ID == 1 {
			return s.Generation()
		}
	}
	return -1
}

// newNumbers takes a short number of a sequence and an integer key, which are never given again.
func newNumbers(t testing.TB, d world.Database, server gameid.ServerID) (all [2]int64) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	short, err := numbers.Open(t.Context(), db.Registry(), server, "people", numbers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := short.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return [2]int64{int64(n), worldtest.NewKeys(t, db, server, 1, numbers.KeyOptions{})[0]}
}

// newPlayer starts a server, which makes a player.
func newPlayer(t testing.TB, d world.Database, server gameid.ServerID, name string) gameid.ID {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	id, err := gameid.NewGenerator[entity.Player](node).Next()
	if err == nil {
		now := entity.Time(time.Now())
		err = starter.Players.Insert(t.Context(), db, entity.Player{ID: id, Account: "acc", Name: name, Level: 1, CreatedAt: now, UpdatedAt: now})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id.ID()
}

// Values of every type arrive as they are, by both ways in which rows are written.
func TestIntoTypes(t *testing.T) {
	servertest.NotShort(t)
	server := servertest.Private(t)
	e := worldtest.EngineOn(server)
	for i, allowed := range []string{"ON", "OFF"} {
		rnd := rand.New(rand.NewPCG(*worldtest.Seed, uint64(i)))
		var all []world.Database
		for n := range 3 {
			all = append(all, worldtest.OddWorld(t, e, rnd, fmt.Sprint("w", i, n), n))
		}
		worldtest.Exec(t, all[0], "SET GLOBAL local_infile = "+allowed)
		into := e.Fresh(t, "new")
		_, name, _ := strings.Cut(into.DSN, ")/")
		name, _, _ = strings.Cut(name, "?")
		worldtest.Exec(t, into, "DROP DATABASE "+name)
		p := worldtest.MustPlan(t, into, all, worldtest.OddAllowed)
		worldtest.MustApply(t, p, into, all)
		if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict == verdict.Fail {
			t.Errorf("LOAD DATA LOCAL %s: %+v, %v", allowed, proof, err)
		}
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := worldtest.Number(t, all[0], "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '"+name+"'"); n != 0 {
			t.Errorf("the database %s is there after its undo", name)
		}
	}
}

// A database that was made is a world like any other: the first of the next merge, or another one. It
// knows where its keys came from, and older merges are not undone in it.
func TestIntoChain(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all := worldtest.OldGame(t, e, "w0", "w1", "w2")
	opts := planner.PlanOptions{Check: worldtest.OldRules()}
	opts.Check.Allow = []string{verdict.CodeWorldMerged} // they began with the same rows
	merged := func(name string, worlds ...world.Database) (*plan.Plan, world.Database) {
		into := e.Fresh(t, name)
		p := worldtest.MustPlan(t, into, worlds, opts)
		worldtest.MustApply(t, p, into, worlds)
		worldtest.Opened(t, p, into, worlds)
		return p, into
	}
	p1, n1 := merged("n1", all[0], all[1])
	p2, n2 := merged("n2", n1, all[2]) // as the first world
	for key, want := range map[uint64]string{1003: "w1", 2003: "w2"} {
		from, err := record.Whois(t.Context(), n2, "chars", keys.Integer{Bits: key})
		if err != nil || len(from) == 0 || from[len(from)-1].Source != want || from[len(from)-1].Old.Bits != 3 {
			t.Errorf("%d came from %+v, %v", key, from, err)
		}
	}
	if _, err := build.Undo(t.Context(), p1, world.Database{Name: p1.New.Name, DSN: n2.DSN}, all[:2], build.UndoOptions{}); err == nil {
		t.Errorf("an older merge was undone in a copy that came of it")
	}
	worldtest.Proved(t, p2, n2, []world.Database{n1, all[2]})
	other := worldtest.OldGame(t, e, "w4")
	worldtest.Exec(t, other[0], "UPDATE chars SET name = REPLACE(name, 'n', 'x')")
	_, n3 := merged("n3", other[0], n2) // as another one
	if n := worldtest.Number(t, n3, "SELECT COUNT(*) FROM chars"); n != 20 {
		t.Errorf("%d characters of four worlds, want 20", n)
	}
	from, err := record.Whereis(t.Context(), n3, "w1", "chars", keys.Integer{Bits: 3})
	if err != nil || len(from) != 2 || worldtest.Number(t, n3, fmt.Sprintf("SELECT COUNT(*) FROM chars WHERE guid = %d", from[1].New.Bits)) != 1 {
		t.Errorf("the character 3 of w1 became %+v, %v", from, err)
	}
	steps, err := record.ByPlan(t.Context(), n3, "w0", "chars", "3", nil) // of a first world the plans know
	if err != nil || len(steps) != 3 || steps[0].New != "3" || steps[1].New != "3" || steps[2].Source != "n2" ||
		worldtest.Number(t, n3, "SELECT COUNT(*) FROM chars WHERE guid = "+steps[2].New) != 1 {
		t.Errorf("the character 3 of w0 became %+v, %v", steps, err)
	}
}

// A world that was merged knows where its keys came from, also after a merge in which no key gets a new value.
func TestKeysComeAlong(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.OldGame(t, e, "w0", "w1", "w2")
	opts := planner.PlanOptions{Check: worldtest.OldRules()}
	opts.Check.Allow = []string{verdict.CodeWorldMerged}
	merged := func(name string, worlds ...world.Database) world.Database {
		into := e.Fresh(t, name)
		p := worldtest.MustPlan(t, into, worlds, opts)
		worldtest.MustApply(t, p, into, worlds)
		worldtest.Opened(t, p, into, worlds)
		return into
	}
	n1 := merged("n1", all[0], all[1])
	for _, table := range []string{"chars", "stats", "items", "spells", "log", "mail"} {
		worldtest.Exec(t, all[2], "DELETE FROM "+table)
	}
	opts.Check.Rekey, opts.Check.Allow = nil, append(opts.Check.Allow, verdict.CodeReferenceDangle)
	n2 := merged("n2", all[2], n1)
	from, err := record.Whereis(t.Context(), n2, "w1", "chars", keys.Integer{Bits: 3})
	if err != nil || len(from) == 0 || from[len(from)-1].New.Bits != 1003 {
		t.Errorf("the character 3 of w1 became %+v, %v", from, err)
	}
}

// What the account may not see cannot come along unnoticed: a plan is refused, with the grants that
// show all, and so is an apply by another account.
func TestIntoHidden(t *testing.T) { servertest.OnMySQLToo(t, testIntoHidden) }

func testIntoHidden(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	worldtest.Exec(t, all[0], "CREATE TRIGGER seen BEFORE DELETE ON items FOR EACH ROW SET @seen = 1", "CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DISABLE DO SET @n = 1",
		"CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n")
	as := func(rights string) []world.Database {
		some := append([]world.Database{}, all...)
		for i, d := range all {
			some[i].DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(d.DSN, "mysql:"))
		}
		return some
	}
	into := e.Fresh(t, "new")
	options := planner.PlanOptions{}
	for rights, want := range map[string][]string{
		"SELECT":                   {"TRIGGER", "EVENT", "EXECUTE"},
		"SELECT, TRIGGER, EXECUTE": {"EVENT"},
	} {
		some := as(rights)
		p := worldtest.Planned(t, into, some, options)
		reasons := strings.Join(worldtest.ReasonsOf(p), "\n")
		for _, right := range want {
			if !strings.Contains(reasons, "GRANT "+right+" ON") {
				t.Errorf("with %s: no word of %s: %s", rights, right, reasons)
			}
		}
	}
	p := worldtest.MustPlan(t, into, all, options)
	_, err := build.Apply(t.Context(), p, into, as("SELECT, UPDATE"), job.Options{})
	if refused, ok := errors.AsType[*record.RefusedError](err); !ok || !strings.Contains(refused.Error(), "cannot see everything") {
		t.Errorf("applied by an account that sees a part: %v", err)
	}
	worldtest.MustApply(t, p, into, all)
	proof, err := prove.Verify(t.Context(), p, into, as("SELECT, TRIGGER, EXECUTE"), job.Options{})
	if err != nil || proof.Verdict == verdict.Pass || len(proof.Unseen) != 1 {
		t.Errorf("proved by an account that sees a part: %+v, %v", proof, err)
	}
	worldtest.Opened(t, p, into, all)
}

// Rows of a world that something else than a game removed or changed since, past its fence, are noticed by verify and by
// open, in the first world as in another.
func TestIntoWorldsChanged(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 15, "one"), worldtest.GameWorld(t, e, "s2", 2, 12, "two")}
	p, into := worldtest.MergeOf(t, e, all, planner.PlanOptions{})
	stays := func(what string) {
		t.Helper()
		if proof, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err != nil || proof.Verdict != verdict.Fail {
			t.Errorf("%s: %+v, %v", what, proof, err)
		}
		if done, err := build.Open(t.Context(), p, into, all, build.Options{}); !errors.Is(err, build.ErrNotProved) || done.Proof.Verdict != verdict.Fail {
			t.Errorf("%s: opened: %+v, %v", what, done, err)
		}
		if at, err := build.LookUp(t.Context(), p, into, all); err != nil || at.State != record.StateMade {
			t.Errorf("%s: %+v, %v", what, at, err)
		}
		worldtest.Startable(t, into, 1, false)
	}
	worldtest.Proved(t, p, into, all)
	for _, d := range all {
		worldtest.Exec(t, d, "UPDATE items SET count = count + 1")
		stays(d.Name + " was changed")
		worldtest.Exec(t, d, "UPDATE items SET count = count - 1")
	}
	worldtest.Exec(t, all[1], "DELETE FROM items")
	stays("without its items")
}

// The number 0 of an ENUM is taken by no strict server, and if there is an empty member, cannot be told from that.
func TestIntoEnumNumberless(t *testing.T) { servertest.OnMySQLToo(t, testIntoEnumNumberless) }

func testIntoEnumNumberless(t *testing.T) {
	e := worldtest.Engines()[1]
	for members, says := range map[string]string{"'a', '', 'b'": "has the value 0 in 1 row", "'a', 'b'": "1 row would be refused"} {
		all := []world.Database{e.Fresh(t, "w0"), e.Fresh(t, "w1")}
		for i, d := range all {
			worldtest.Exec(t, d, "CREATE TABLE t (id INT PRIMARY KEY, e ENUM("+members+"))", fmt.Sprintf("INSERT INTO t VALUES (%d, 'a'), (%d, NULL)", 10*i, 10*i+1))
		}
		worldtest.Exec(t, all[0], "INSERT IGNORE INTO t VALUES (5, 'other')")
		worldtest.Refuses(t, e.Fresh(t, "new"), all, planner.PlanOptions{}, says)
	}
}

// A member of an ENUM or a SET that is in its list twice reads as the first. The plan refuses rows that have the second.
func TestIntoMemberTwice(t *testing.T) {
	e := worldtest.Engines()[1]
	if e.Name != "mariadb" {
		t.Skip("MySQL takes no such list")
	}
	for _, kind := range []string{"ENUM", "SET"} {
		all := []world.Database{e.Fresh(t, "w0"), e.Fresh(t, "w1")}
		for i, d := range all {
			lax := world.Database{Name: d.Name, DSN: d.DSN + "?sql_mode=%27%27"}
			worldtest.Exec(t, lax, "CREATE TABLE t (id INT PRIMARY KEY, e "+kind+"('a', 'b', 'a'))", fmt.Sprintf("INSERT INTO t VALUES (%d, 1), (%d, NULL)", 10*i, 10*i+1))
		}
		worldtest.PlanOf(t, e, all, planner.PlanOptions{})
		worldtest.Exec(t, all[1], "INSERT INTO t VALUES (15, "+map[string]string{"ENUM": "3", "SET": "4"}[kind]+")")
		reason := worldtest.Refuses(t, e.Fresh(t, "new"), all, planner.PlanOptions{}, "holds the second one, which reads as the first, in 1 row")
		_, statement, _ := strings.Cut(reason, "give them that: ")
		worldtest.Exec(t, all[1], statement)
		worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	}
}

// An apply that did not come to its end is undone also by force, whatever was made until then: what has
// given nothing has nothing to teach.
func TestIntoUndoneUnfinished(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all, opts := worldtest.CountingGame(t, e)
		p, into := worldtest.PlanOf(t, e, all, opts)
		if len(p.Counters) == 0 {
			t.Fatal("no counter is raised")
		}
		var points atomic.Int64
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Fail: func(string) error { points.Add(1); return nil }}); err != nil {
			t.Fatal(err)
		}
		failAt, forced, tries := worldtest.At, int64(0), e.Short(24)
		for i := range tries {
			at, err := build.LookUp(t.Context(), p, into, all)
			if err != nil {
				t.Fatal(err)
			}
			unfinished := at.State == record.StateCopying
			if unfinished {
				forced++
			}
			if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: unfinished}); err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Fatalf("point %d: %v", i, err)
			}
			_, err = build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: -1}, job.Hooks{Fail: failAt(points.Load()*i/tries, func() error { return driver.ErrBadConn })})
			if err != nil && !errors.Is(err, record.ErrStopped) {
				t.Fatalf("point %d: %v", i, err)
			}
		}
		if forced < tries/3 {
			t.Errorf("forced %d times, want %d", forced, tries/3)
		}
	})
}

// An undo of an open database that is interrupted wherever, also while its tables are dropped, resumes, and
// the first world knows in the end what was given there.
func TestIntoUndoResumed(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		worlds, opts := worldtest.CountingGame(t, e)
		var points atomic.Int64
		failAt := worldtest.At
		for i, step := int64(-1), int64(1); i < points.Load(); i += step { // first without any failure
			all := worldtest.Clones(t, e, worlds)
			p, into := worldtest.MergeOf(t, e, all, opts)
			worldtest.Opened(t, p, into, all)
			given := 9000 + 10*i
			worldtest.Exec(t, into, fmt.Sprintf("UPDATE seq SET next = %d", given), fmt.Sprintf("INSERT INTO items (id, owner) VALUES (%d, 1)", given+1))
			placed := 0
			options := build.UndoOptions{Options: job.Options{RetryFor: -1}, Force: true, Placing: func(context.Context) error { placed++; return nil }}
			hooks := job.Hooks{Fail: func(string) error { points.Add(1); return nil }}
			if i >= 0 {
				hooks.Fail = failAt(i, func() error { return driver.ErrBadConn })
			}
			if _, err := build.UndoWith(t.Context(), p, into, all, options, hooks); err != nil {
				if !errors.Is(err, record.ErrStopped) {
					t.Fatalf("point %d: %v", i, err)
				}
				_, err := build.Undo(t.Context(), p, into, all, options)
				if err != nil && !errors.Is(err, record.ErrNoMerge) {
					t.Fatalf("point %d, again: %v", i, err)
				}
			}
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there || placed == 0 {
				t.Fatalf("point %d: there: %t, %v; placed %d times", i, there, err, placed)
			}
			if next := worldtest.Number(t, all[0], "SELECT next FROM seq"); next != given {
				t.Errorf("point %d: the counter in a row is %d, want %d", i, next, given)
			}
			worldtest.Exec(t, all[0], "INSERT INTO items (owner) VALUES (1)")
			if next := worldtest.Number(t, all[0], "SELECT MAX(id) FROM items"); next != given+2 {
				t.Errorf("point %d: the next item is %d, want %d", i, next, given+2)
			}
			if i < 0 {
				step = max(1, points.Load()/e.Short(9))
				if *worldtest.Long {
					step = 1
				}
			}
		}
	})
}

// Of a game without a registry, what was written to the new database is found from the moment on that it
// is made; and it is not dropped, forced or not, if it has the only rows of a world.
func TestIntoUndoWithoutRegistry(t *testing.T) {
	servertest.NotShort(t)
	e := worldtest.OnSQLite(t)
	all := worldtest.OldGame(t, e, "w0", "w1")
	opts := planner.PlanOptions{Check: worldtest.OldRules()}
	opts.Check.Allow = []string{verdict.CodeWorldMerged}
	p, into := worldtest.PlanOf(t, e, all, opts)
	refusedFor := func(force bool, want string) {
		t.Helper()
		_, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: force})
		if refused, ok := errors.AsType[*record.RefusedError](err); !ok || !strings.Contains(refused.Error(), want) {
			t.Fatalf("got %v, want a refusal with %q", err, want)
		}
		if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || !there {
			t.Fatalf("%s was dropped: %v", into.Name, err)
		}
	}
	worldtest.MustApply(t, p, into, all)
	worldtest.Exec(t, into, "INSERT INTO items (id, owner) VALUES (70000, 1)")
	refusedFor(false, "changes there would be lost")
	worldtest.Exec(t, into, "DELETE FROM items WHERE id = 70000")
	worldtest.Opened(t, p, into, all)
	worldtest.Exec(t, all[1], "ALTER TABLE items RENAME TO things")
	refusedFor(true, "which has a copy, is not dropped")
	worldtest.Exec(t, all[1], "ALTER TABLE things RENAME TO items")
	if file, ok := strings.CutPrefix(all[1].DSN, "sqlite:"); ok {
		if err := os.Rename(file, file+".away"); err != nil {
			t.Fatal(err)
		}
		refusedFor(true, "which has a copy, is not dropped")
		if _, err := os.Stat(file); err == nil {
			t.Error("the undo made the file of a world")
		}
		if err := os.Rename(file+".away", file); err != nil {
			t.Fatal(err)
		}
	}
	worldtest.Exec(t, into, "ALTER TABLE spells RENAME TO magic")
	if _, err := prove.Verify(t.Context(), p, into, all, job.Options{}); err == nil || !strings.Contains(err.Error(), "dropped or renamed") {
		t.Errorf("verify of a database without a table: %v", err)
	}
	refusedFor(false, "-force drops it")
	undone, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{Force: true})
	if err != nil || len(undone.Others) != 1 || undone.Others[0] != "magic" { // which the merge did not make
		t.Errorf("%+v, %v", undone, err)
	}
}
