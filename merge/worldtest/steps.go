package worldtest

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/entity"
	"mergesafe/gameid"
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
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// Second returns a failpoint that loses the connection at a point, but for the
// first time.
func Second(at string) world.Failpoint {
	times := 0
	return func(point string) error {
		if point == at {
			if times++; times > 1 {
				return driver.ErrBadConn
			}
		}
		return nil
	}
}

// RegistryIn is the registry of a database; none if it keeps none.
func RegistryIn(t testing.TB, d world.Database) []worldregistry.Server {
	t.Helper()
	if Number(t, d, hasRegistry(d)) == 0 {
		return nil
	}
	all, err := record.Servers(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hasRegistry counts the tables of a registry: none or one.
func hasRegistry(d world.Database) string {
	if strings.HasPrefix(d.DSN, "mysql:") {
		return "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'gameid_servers'"
	}
	return "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'gameid_servers'"
}

// RefusedBecause makes sure that nothing was written because of a reason.
func RefusedBecause(t testing.TB, what, want string, err error) {
	t.Helper()
	if _, is := errors.AsType[*record.RefusedError](err); !is || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: want a refusal with %q, got %v", what, want, err)
	}
}

// SteadyRows is steady without the tables of the record, and without what is another in every merge.
func SteadyRows(t testing.TB, p *plan.Plan, d world.Database) string {
	t.Helper()
	Exec(t, d, "UPDATE gameid_servers SET created_ms = 0, updated_ms = 0, lease_until_ms = 0, holder = ''", "UPDATE gameid_servers SET epoch = 1")
	return strings.ReplaceAll(Dump(t, d, record.RecordTable, record.ProgressTable, "sqlite_stat1", "sqlite_sequence"), p.ID, "ID")
}

// Opened opens a database that was made, and once more.
func Opened(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	done, err := build.Open(t.Context(), p, into, worlds, build.Options{})
	if err != nil || done.Before {
		t.Fatalf("%+v, %v", done, err)
	}
	if done, err = build.Open(t.Context(), p, into, worlds, build.Options{}); err != nil || !done.Before {
		t.Errorf("again: %+v, %v", done, err)
	}
}

// Proved makes sure that the proof passes.
func Proved(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	if proof := Verified(t, p, into, worlds); proof.Verdict != verdict.Pass {
		t.Fatalf("%+v", proof)
	}
}

// Sound makes sure that nothing of the proof fails: some of it may not be verified.
func Sound(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) {
	t.Helper()
	if proof := Verified(t, p, into, worlds); proof.Verdict == verdict.Fail {
		t.Errorf("%+v", proof)
	}
}

// ExistsNow reports whether a database has anything in it.
func ExistsNow(ctx context.Context, d world.Database) (bool, error) {
	if there, err := world.Exists(ctx, d); err != nil || !there {
		return false, err
	}
	r := &world.Connection{Database: d}
	defer r.Close()
	names, err := world.Contains(ctx, r)
	return len(names) > 0, err
}

func ReasonsOf(p *plan.Plan) (all []string) {
	for _, r := range p.Refusals {
		all = append(all, r.String())
	}
	slices.Sort(all)
	return all
}

// CountingGame is an old game that counts the keys of its items in a row.
func CountingGame(t *testing.T, e Engine) (all []world.Database, opts planner.PlanOptions) {
	t.Helper()
	all = OldGame(t, e, "w0", "w1")
	for _, d := range all {
		Exec(t, d, "CREATE TABLE seq (name VARCHAR(9) NOT NULL PRIMARY KEY, next INT NOT NULL)", "INSERT INTO seq VALUES ('item', 32)")
	}
	opts = planner.PlanOptions{Check: OldRules()}
	opts.Check.Allow = []string{verdict.CodeWorldMerged}
	opts.Check.Rekey.Counters = []rules.CounterRow{{At: "seq.next", Space: "items.id"}}
	opts.Check.Tables = []rules.TablePolicy{{Tables: []string{"seq"}, Policy: rules.PolicySkip}}
	return all, opts
}

// Database is the name of a database on its server.
func Database(d world.Database) string {
	name := d.DSN[strings.LastIndex(d.DSN, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	return "`" + name + "`"
}

// RefusedFor makes sure that the plan is refused once, because of this database.
func RefusedFor(t *testing.T, p *plan.Plan, err error, d world.Database, reason string) {
	t.Helper()
	if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Source != d.Name ||
		!strings.Contains(p.Refusals[0].Reason, reason) {
		t.Fatalf("%v, %v", p.Refusals, err)
	}
}

// Dropped makes sure that an undo left nothing of a new database.
func Dropped(t *testing.T, into world.Database) {
	t.Helper()
	if there, err := ExistsNow(t.Context(), into); err != nil || there {
		t.Errorf("%s is there after its undo: %v", into.Name, err)
	}
}

// MergedAndBack plans, applies, verifies and undoes a merge of game worlds: nothing is left of it, and the worlds
// are as before.
func MergedAndBack(t *testing.T, e Engine, all []world.Database, opts planner.PlanOptions) {
	t.Helper()
	var before []string
	for _, d := range all {
		before = append(before, Dump(t, d, worldregistry.Table)) // which gets fences
	}
	p, into := MergeOf(t, e, all, opts)
	Sound(t, p, into, all)
	MustDrop(t, p, into, all)
	Dropped(t, into)
	for i, d := range all {
		if after := Dump(t, d, worldregistry.Table); before[i] != after {
			t.Errorf("%s after the undo:\n%s\nwant\n%s", d.Name, after, before[i])
		}
	}
}

// Watched returns a check that nothing was written since: the worlds are as they are now, and nothing is in the new
// database.
func Watched(t *testing.T, into world.Database, worlds []world.Database) (unwritten func(what string)) {
	t.Helper()
	var before []string
	for _, d := range worlds {
		before = append(before, Dump(t, d))
	}
	return func(what string) {
		t.Helper()
		for i, d := range worlds {
			if diff := cmp.Diff(before[i], Dump(t, d)); diff != "" {
				t.Errorf("%s: %s was changed:\n%s", what, d.Name, diff)
			}
		}
		if there, err := ExistsNow(t.Context(), into); err != nil || there {
			t.Errorf("%s: there is something in %s: %v", what, into.Name, err)
		}
	}
}

// Mint runs a node and takes an ID.
func Mint(t *testing.T, d world.Database, server gameid.ServerID) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
	if err == nil {
		_, err = gameid.NewGenerator[entity.Player](node).Next()
		err = errors.Join(err, node.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Serve runs a node for the time of a test.
func Serve(t *testing.T, d world.Database, server gameid.ServerID) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close(); db.Close() })
}

// Startable tells whether a server starts on a database.
func Startable(t *testing.T, d world.Database, server gameid.ServerID, want bool) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
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

// Recordless takes the record of all merges out of a database, as a copy that was restored without these tables
// has none.
func Recordless(t *testing.T, d world.Database) {
	t.Helper()
	for _, table := range []string{record.RecordTable, record.MergesTable, record.ProgressTable, record.RenamesTable} {
		Exec(t, d, "DROP TABLE IF EXISTS "+table)
	}
}

func Verified(t testing.TB, p *plan.Plan, into world.Database, worlds []world.Database) *evidence.Proof {
	t.Helper()
	proof, err := prove.Verify(t.Context(), p, into, worlds, job.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return proof
}
