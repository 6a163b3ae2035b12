package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/mariadbtest"
	"mergesafe/merge"
	"mergesafe/store"
)

// What cannot be copied faithfully is refused in the plan, with the reason.
func TestPlanRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		id := "id INTEGER NOT NULL PRIMARY KEY"
		for _, c := range []struct {
			name    string
			both    []string // in target and source
			target  []string // in the target alone
			source  []string
			options PlanOptions
			want    string
		}{
			{name: "no primary key", both: []string{"CREATE TABLE t (v INTEGER)"}, source: []string{"INSERT INTO t VALUES (1)"}, want: "no primary key"},
			{name: "not verified", both: []string{"CREATE TABLE t (" + id + ", v BLOB)"}, source: []string{"INSERT INTO t VALUES (1, 'x')"}, want: merge.CodeColumnOpaque},
			{name: "no table", both: []string{"CREATE TABLE z (" + id + ")"}, source: []string{"CREATE TABLE t (" + id + ")", "INSERT INTO t VALUES (1)"}, want: merge.CodeSchemaTable},
			{name: "a column that is not there", target: []string{"CREATE TABLE t (" + id + ")"}, source: []string{"CREATE TABLE t (" + id + ", v INTEGER)", "INSERT INTO t VALUES (1, 2)"}, want: merge.CodeSchemaColumn},
			{name: "same keys", both: []string{"CREATE TABLE t (" + id + ")", "INSERT INTO t VALUES (1)"}, want: merge.CodeKeyCollision,
				options: PlanOptions{Check: merge.Options{Allow: []string{merge.CodeKeyCollision, merge.CodeAutoIncrement}}}},
			{name: "trigger", both: []string{"CREATE TABLE t (" + id + ", v INTEGER)", "CREATE TABLE log (" + id + ")"},
				target: []string{"CREATE TRIGGER tr AFTER INSERT ON t " + body(e, "INSERT INTO log VALUES (1)")}, source: []string{"INSERT INTO t VALUES (1, 2)"}, want: `trigger "tr"`},
			{name: "a name that is referred to", both: []string{"CREATE TABLE t (" + id + ", v VARCHAR(9) UNIQUE)", "CREATE TABLE c (" + id + ", v VARCHAR(9), FOREIGN KEY (v) REFERENCES t (v))"},
				target: []string{"INSERT INTO t VALUES (1, 'x')"}, source: []string{"INSERT INTO t VALUES (2, 'x')", "INSERT INTO c VALUES (1, 'x')"}, want: "takes part in a foreign key",
				options: PlanOptions{Names: []NamePolicy{{Table: "t", Column: "v", MaxLength: 9}}}},
			{name: "refers to what is excluded", both: []string{"CREATE TABLE p (" + id + ")", "CREATE TABLE t (" + id + ", v INTEGER, FOREIGN KEY (v) REFERENCES p (id))"},
				source: []string{"INSERT INTO p VALUES (1)", "INSERT INTO t VALUES (1, 1)"}, want: `refers to rows of "p"`, options: PlanOptions{Check: merge.Options{Exclude: []string{"p"}}}},
		} {
			t.Run(c.name, func(t *testing.T) {
				target, source := e.fresh(t, "a"), e.fresh(t, "b")
				exec(t, target, append(c.both, c.target...)...)
				exec(t, source, append(c.both, c.source...)...)
				p, err := NewPlan(t.Context(), target, []Database{source}, c.options)
				if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), c.want) {
					t.Fatalf("%+v, %v, want %q", p, err, c.want)
				}
				before := dump(t, target)
				_, err = Apply(t.Context(), p, target, []Database{source}, Options{})
				if refused := new(RefusedError); !errors.As(err, &refused) {
					t.Errorf("apply: %v", err)
				}
				if before != dump(t, target) {
					t.Error("it was changed")
				}
			})
		}
	})
}

// body is the statement of a trigger.
func body(e engine, statement string) string {
	if e.name == "sqlite" {
		return "BEGIN " + statement + "; END"
	}
	return "FOR EACH ROW " + statement
}

// What is no longer as planned, or must not be touched, is refused before
// anything is written.
func TestApplyRefuses(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := []Database{gameWorld(t, e, "s1", 1, 4, "a"), gameWorld(t, e, "s2", 2, 4, "b")}
		p := mustPlan(t, all[0], all[1:], PlanOptions{})
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
			{"another schema", func(t *testing.T) { exec(t, worlds[0], "ALTER TABLE items ADD COLUMN extra INTEGER") }, "not made as they were"},
			{"another merge", func(t *testing.T) {
				exec(t, worlds[0], createTables(dialect(strings.SplitN(worlds[0].DSN, ":", 2)[0]))...)
				exec(t, worlds[0], "INSERT INTO "+MergesTable+" (id, state, plan, began) VALUES ('other', 'copying', '', '2026-01-01 00:00:00')")
			}, "the merge other was begun"},
			{"fenced by another merge", func(t *testing.T) {
				db, err := store.Open(t.Context(), worlds[1].DSN)
				if err == nil {
					err = db.Registry().Fence(t.Context(), 2, store.FenceTo("other", "elsewhere", fixedClock()))
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
				_, err := Apply(t.Context(), p, worlds[0], worlds[1:], Options{})
				if refused := new(RefusedError); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if c.name != "a server runs on the source" && c.name != "a server runs on the target" && (before[0] != dump(t, worlds[0]) || before[1] != dump(t, worlds[1])) {
					t.Error("something was changed")
				}
			})
		}
		refillAll(t, all, worlds)
		if _, err := Apply(t.Context(), p, worlds[1], worlds[:1], Options{}); err == nil || !strings.Contains(err.Error(), `"s1"`) {
			t.Errorf("databases in another order: %v", err)
		}
	})
}

// mint runs a node and takes an ID.
func mint(t *testing.T, d Database, server gameid.ServerID) {
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
func serve(t *testing.T, d Database, server gameid.ServerID) {
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

// A plan that was changed by hand is not carried out, nor read.
func TestPlanChanged(t *testing.T) {
	e := engines()[0]
	target, sources := gameWorld(t, e, "s1", 1, 4, "a"), []Database{gameWorld(t, e, "s2", 2, 4, "b")}
	p := mustPlan(t, target, sources, PlanOptions{})
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, strings.TrimPrefix(target.DSN, "sqlite:")) {
		t.Error("the plan has a DSN in it")
	}
	again, err := ReadPlan(strings.NewReader(text))
	if err != nil || again.ID != p.ID {
		t.Fatal(err)
	}
	var b2 bytes.Buffer
	again.Write(&b2)
	if b2.String() != text {
		t.Error("what was read is written otherwise")
	}
	for _, c := range []string{
		strings.Replace(text, `"name": "s2"`, `"name": "s3"`, 1), strings.Replace(text, `"rows": 4`, `"rows": 5`, 1), strings.Replace(text, `"version": 1`, `"version": 2`, 1),
		text + "x", strings.Replace(text, `"engine"`, `"engines"`, 1), "{}", "",
	} {
		if _, err := ReadPlan(strings.NewReader(c)); err == nil {
			t.Errorf("read: %.100s", c)
		}
	}
	p.Tables[0].Sources[0].Rows++
	if _, err := Apply(t.Context(), p, target, sources, Options{}); err == nil || !strings.Contains(err.Error(), "was changed after it was made") {
		t.Error(err)
	}
	p.Tables[0].Sources[0].Rows--
	later, err := NewPlan(t.Context(), target, sources, PlanOptions{})
	if err != nil || later.ID != p.ID {
		t.Errorf("the same databases give another plan: %v", err)
	}
}

// An account that lacks a right is told so before anything is written.
func TestApplyRights(t *testing.T) {
	e := engines()[1]
	all := []Database{gameWorld(t, e, "s1", 1, 4, "a"), gameWorld(t, e, "s2", 2, 4, "b")}
	with := func(d Database, rights string) Database {
		d.DSN = "mysql:" + mariadbtest.Grant(t, rights, strings.TrimPrefix(d.DSN, "mysql:"))
		return d
	}
	reader := with(all[1], "SELECT, TRIGGER")
	p := mustPlan(t, with(all[0], "SELECT, TRIGGER"), []Database{reader}, PlanOptions{})
	before := dump(t, all[0])
	refused := new(RefusedError)
	for _, c := range []struct {
		target, source Database
		want           string
	}{
		{with(all[0], "SELECT, TRIGGER"), all[1], "INSERT command denied"},
		{with(all[0], "SELECT, TRIGGER, INSERT, UPDATE"), all[1], "DELETE command denied"},
		{with(all[0], "SELECT, TRIGGER, INSERT, UPDATE, DELETE"), all[1], "CREATE command denied"},
		{all[0], reader, "may not write the fence"},
	} {
		if _, err := Apply(t.Context(), p, c.target, []Database{c.source}, Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if before != dump(t, all[0]) {
			t.Error("something was changed")
		}
	}
	// Without a fence, SELECT is enough for a source.
	p = mustPlan(t, all[0], []Database{reader}, PlanOptions{NoFence: true})
	if _, err := Apply(t.Context(), p, with(all[0], "SELECT, TRIGGER, INSERT, UPDATE, DELETE, CREATE"), []Database{reader}, Options{}); err != nil {
		t.Error(err)
	}
}
