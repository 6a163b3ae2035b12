package transfer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
	"mergesafe/store"
	"mergesafe/store/registry"
)

// What is no longer as planned, or must not be touched, is refused before
// anything is written.
func TestApplyRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []rowio.Database{gameWorld(t, e, "s1", 1, 4, "a"), gameWorld(t, e, "s2", 2, 4, "b")}
		p := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
		worlds := clones(t, e, all)
		hero := "INSERT INTO players (id, account, name, level, gold, created_at, updated_at) SELECT %s, account, 'new', 1, 1, created_at, updated_at FROM players LIMIT 1"
		for _, c := range []struct {
			name string
			do   func(t *testing.T)
			want string
		}{
			{"a server runs on the source", func(t *testing.T) { serve(t, worlds[1], 2) }, "server 2 runs"},
			{"a server runs on the target", func(t *testing.T) { serve(t, worlds[0], 1) }, "server 1 runs"},
			{"a server ran", func(t *testing.T) { mint(t, worlds[1], 2) }, "the mark of server 2 moved"},
			{"a row more in the source", func(t *testing.T) { exec(t, worlds[1], fmt.Sprintf(hero, "x'00000000010000020001'")) }, "it has 5 rows, and had 4"},
			{"a row more in the target", func(t *testing.T) { exec(t, worlds[0], fmt.Sprintf(hero, "x'00000000010000010001'")) }, "it has 5 rows, and had 4"},
			{"another schema", func(t *testing.T) { exec(t, worlds[0], "ALTER TABLE items ADD COLUMN extra INTEGER") }, "another schema than when the plan was made"},
			{"another merge", func(t *testing.T) {
				exec(t, worlds[0], ledger.CreateTables(rowio.Dialect{Dialect: sqldb.Dialect(strings.SplitN(worlds[0].DSN, ":", 2)[0])})...)
				exec(t, worlds[0], "INSERT INTO "+ledger.MergesTable+" (id, state, plan, began) VALUES ('other', 'copying', '', '2026-01-01 00:00:00')")
			}, "the merge other was begun"},
			{"fenced by another merge", func(t *testing.T) {
				db, err := store.Open(t.Context(), worlds[1].DSN)
				if err == nil {
					err = db.Registry().Fence(t.Context(), 2, registry.FenceTo("other", "elsewhere", fixedClock()))
					db.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}, `its world went to "elsewhere" by another merge`},
		} {
			t.Run(c.name, func(t *testing.T) {
				refillAll(t, all, worlds)
				if c.name == "another schema" {
					defer func() { exec(t, worlds[0], "ALTER TABLE items DROP COLUMN extra") }()
				}
				c.do(t)
				before := []string{dump(t, worlds[0]), dump(t, worlds[1])}
				_, err := apply.Apply(t.Context(), p, worlds[0], worlds[1:], job.Options{})
				if refused := new(ledger.RefusedError); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if c.name != "a server runs on the source" && c.name != "a server runs on the target" && (before[0] != dump(t, worlds[0]) || before[1] != dump(t, worlds[1])) {
					t.Error("something was changed")
				}
			})
		}
		refillAll(t, all, worlds)
		if _, err := apply.Apply(t.Context(), p, worlds[1], worlds[:1], job.Options{}); err == nil || !strings.Contains(err.Error(), `"s1"`) {
			t.Errorf("databases in another order: %v", err)
		}
	})
}

// mint runs a node and takes an ID.
func mint(t *testing.T, d rowio.Database, server gameid.ServerID) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	node, err := db.OpenNode(t.Context(), server, gameid.Options{})
	if err == nil {
		_, err = gameid.NewGenerator[entity.Player](node).Next()
		err = errors.Join(err, node.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// serve runs a node for the time of a test.
func serve(t *testing.T, d rowio.Database, server gameid.ServerID) {
	t.Helper()
	db, err := store.Open(t.Context(), d.DSN)
	if err != nil {
		t.Fatal(err)
	}
	node, err := db.OpenNode(t.Context(), server, gameid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close(); db.Close() })
}

// An account that lacks a right is told so before anything is written.
func TestApplyRights(t *testing.T) {
	e := engines()[1]
	all := []rowio.Database{gameWorld(t, e, "s1", 1, 4, "a"), gameWorld(t, e, "s2", 2, 4, "b")}
	with := func(d rowio.Database, rights string) rowio.Database {
		d.DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(d.DSN, "mysql:"))
		return d
	}
	reader := with(all[1], "SELECT, TRIGGER")
	p := mustPlan(t, with(all[0], "SELECT, TRIGGER"), []rowio.Database{reader}, planner.PlanOptions{})
	before := dump(t, all[0])
	refused := new(ledger.RefusedError)
	for _, c := range []struct {
		target, source rowio.Database
		want           string
	}{
		{with(all[0], "SELECT, TRIGGER"), all[1], "INSERT command denied"},
		{with(all[0], "SELECT, TRIGGER, INSERT, UPDATE"), all[1], "DELETE command denied"},
		{with(all[0], "SELECT, TRIGGER, INSERT, UPDATE, DELETE"), all[1], "DROP command denied"},
		{with(all[0], "SELECT, TRIGGER, INSERT, UPDATE, DELETE, DROP"), all[1], "CREATE command denied"},
		{with(all[0], "SELECT, INSERT, UPDATE, DELETE, CREATE"), all[1], "triggers: it is not certain that the account can see them: it needs GRANT TRIGGER"},
		{all[0], reader, "may not write the fence"},
	} {
		if _, err := apply.Apply(t.Context(), p, c.target, []rowio.Database{c.source}, job.Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if before != dump(t, all[0]) {
			t.Error("something was changed")
		}
	}
	// Without a fence, SELECT is enough for a source.
	p = mustPlan(t, all[0], []rowio.Database{reader}, planner.PlanOptions{NoFence: true})
	if _, err := apply.Apply(t.Context(), p, with(all[0], "SELECT, TRIGGER, INSERT, UPDATE, DELETE, CREATE, DROP"), []rowio.Database{reader}, job.Options{}); err != nil {
		t.Error(err)
	}
	// An undo takes them too, and says so before it removes anything.
	merged := dump(t, all[0])
	if _, err := undo.Undo(t.Context(), p, with(all[0], "SELECT, TRIGGER, INSERT, UPDATE, DELETE"), []rowio.Database{reader}, undo.UndoOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "DROP command denied") {
		t.Errorf("%v, want the right to DROP", err)
	}
	if merged != dump(t, all[0]) {
		t.Error("something was changed by the undo")
	}
}

// The right to raise a counter is missed before the rows are copied, not after.
func TestApplyRightsOfCounters(t *testing.T) {
	e := engines()[1]
	all := []rowio.Database{e.fresh(t, "s1"), e.fresh(t, "s2")}
	for i, d := range all {
		exec(t, d, "CREATE TABLE counted (id INT AUTO_INCREMENT PRIMARY KEY)", fmt.Sprintf("INSERT INTO counted VALUES (%d)", 10*i+1))
	}
	p := mustPlan(t, all[0], all[1:], oddAllowed)
	before := dump(t, all[0])
	as := func(rights string) rowio.Database {
		return rowio.Database{Name: "s1", DSN: "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(all[0].DSN, "mysql:"))}
	}
	const rights = "SELECT, TRIGGER, INSERT, UPDATE, DELETE, CREATE, DROP"
	refused := new(ledger.RefusedError)
	if _, err := apply.Apply(t.Context(), p, as(rights), all[1:], job.Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "ALTER command denied") {
		t.Errorf("without ALTER: %v", err)
	}
	if before != dump(t, all[0]) {
		t.Error("something was changed")
	}
	d := as(rights + ", ALTER")
	if _, err := apply.Apply(t.Context(), p, d, all[1:], job.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := undo.Undo(t.Context(), p, d, all[1:], undo.UndoOptions{}); err != nil {
		t.Fatal(err)
	}
	if after := dump(t, all[0]); before != after {
		t.Errorf("after the undo:\n%s\nwant\n%s", after, before)
	}
}
