package planner_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What cannot be copied faithfully is refused in the plan, with the reason.
func TestPlanRefuses(t *testing.T) {
	e := worldtest.OnSQLite(t)
	id := "id INTEGER NOT NULL PRIMARY KEY"
	for _, c := range []struct {
		name    string
		both    []string // in all worlds
		first   []string // in the first world alone
		other   []string
		options planner.PlanOptions
		want    string
	}{
		{name: "not verified", both: []string{"CREATE TABLE t (" + id + ", v BLOB)"}, other: []string{"INSERT INTO t VALUES (1, 'x')"}, want: verdict.CodeColumnOpaque},
		{name: "no table", both: []string{"CREATE TABLE z (" + id + ")"}, other: []string{"CREATE TABLE t (" + id + ")", "INSERT INTO t VALUES (1)"}, want: verdict.CodeSchemaTable},
		{name: "a column that is not there", first: []string{"CREATE TABLE t (" + id + ")"}, other: []string{"CREATE TABLE t (" + id + ", v INTEGER)", "INSERT INTO t VALUES (1, 2)"}, want: verdict.CodeSchemaColumn},
		{name: "a column that the first world alone has", first: []string{"CREATE TABLE t (" + id + ", v INTEGER)"}, other: []string{"CREATE TABLE t (" + id + ")", "INSERT INTO t VALUES (1)"}, want: verdict.CodeSchemaColumn},
		{name: "a column that the first world alone has, beside a name", first: []string{"CREATE TABLE t (" + id + ", v VARCHAR(9) UNIQUE, w INTEGER)", "INSERT INTO t VALUES (2, 'x', 1)"},
			other: []string{"CREATE TABLE t (" + id + ", v VARCHAR(9) UNIQUE)", "INSERT INTO t VALUES (1, 'x')"}, want: verdict.CodeSchemaColumn,
			options: planner.PlanOptions{Names: []plan.NamePolicy{{Table: "t", Column: "v", MaxLength: 9, Keep: plan.KeepActive, By: "w", Set: []rules.Setting{{Column: "w", Bits: 1}}}}}},
		{name: "same keys", both: []string{"CREATE TABLE t (" + id + ")", "INSERT INTO t VALUES (1)"}, want: verdict.CodeKeyCollision,
			options: planner.PlanOptions{Check: rules.Options{Allow: []string{verdict.CodeKeyCollision, verdict.CodeAutoIncrement}}}},
		{name: "a name that refers to another", both: []string{"CREATE TABLE c (" + id + ", v VARCHAR(9) UNIQUE)", "CREATE TABLE t (" + id + ", v VARCHAR(9) UNIQUE, FOREIGN KEY (v) REFERENCES c (v))"},
			first: []string{"INSERT INTO c VALUES (1, 'x')", "INSERT INTO t VALUES (3, 'x')"}, other: []string{"INSERT INTO c VALUES (2, 'x')", "INSERT INTO t VALUES (4, 'x')"}, want: "refers to c.v by a foreign key, which gets no new names: declare the [[merge.name]] for that",
			options: planner.PlanOptions{Names: []plan.NamePolicy{{Table: "t", Column: "v", MaxLength: 9}}}},
		{name: "a name in a foreign key of two columns", both: []string{"CREATE TABLE t (" + id + ", w INTEGER, v VARCHAR(9) UNIQUE, UNIQUE (w, v))", "CREATE TABLE c (" + id + ", w INTEGER, v VARCHAR(9), FOREIGN KEY (w, v) REFERENCES t (w, v))"},
			first: []string{"INSERT INTO t VALUES (1, 7, 'x')"}, other: []string{"INSERT INTO t VALUES (2, 7, 'x')", "INSERT INTO c VALUES (1, 7, 'x')"}, want: "is part of a foreign key of several columns",
			options: planner.PlanOptions{Names: []plan.NamePolicy{{Table: "t", Column: "v", MaxLength: 9}}}},
		{name: "refers to what is skipped", both: []string{"CREATE TABLE p (" + id + ")", "CREATE TABLE t (" + id + ", v INTEGER, FOREIGN KEY (v) REFERENCES p (id))"},
			other: []string{"INSERT INTO p VALUES (1)", "INSERT INTO t VALUES (1, 1)"}, want: `refers to p, whose rows stay behind`, options: planner.PlanOptions{Check: rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"p"}, Policy: rules.PolicySkip}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			worlds, into := []world.Database{e.Fresh(t, "a"), e.Fresh(t, "b")}, e.Fresh(t, "new")
			worldtest.Exec(t, worlds[0], append(c.both, c.first...)...)
			worldtest.Exec(t, worlds[1], append(c.both, c.other...)...)
			p, err := planner.NewPlan(t.Context(), into, worlds, c.options)
			if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), c.want) {
				t.Fatalf("%+v, %v, want %q", p, err, c.want)
			}
			unwritten := worldtest.Watched(t, into, worlds)
			_, err = build.Apply(t.Context(), p, into, worlds, job.Options{})
			if refused := new(record.RefusedError); !errors.As(err, &refused) {
				t.Errorf("apply: %v", err)
			}
			unwritten(c.name)
		})
	}
}

// A counter whose next number a CHECK or the partitions refuse would let the game create no more rows.
func TestNextNumberIsRefused(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEvery(t, func(t *testing.T, e worldtest.Engine) {
		reasons := func(id, further string) string {
			var all []world.Database
			for i := range 2 {
				d := e.Fresh(t, fmt.Sprint("w", i))
				worldtest.Exec(t, d, "CREATE TABLE pl (id "+id+", tag VARCHAR(20) NOT NULL "+further, fmt.Sprintf("INSERT INTO pl (tag) VALUES ('a%d'), ('b%[1]d')", i))
				all = append(all, d)
			}
			p := worldtest.Planned(t, e.Fresh(t, "new"), all, planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Rekey: &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}}}}}})
			return strings.Join(worldtest.ReasonsOf(p), "; ")
		}
		id, bounds := "INTEGER PRIMARY KEY AUTOINCREMENT", map[string]string{", CHECK (id < 1500))": "the constraint CHECK"}
		if e.Name != "sqlite" {
			id = "INT PRIMARY KEY AUTO_INCREMENT"
			bounds = map[string]string{") PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (1500))": "refuses, so the game could create no more rows"}
		}
		for bound, want := range bounds {
			if got := reasons(id, bound); !strings.Contains(got, "id continues at 2000, which ") || !strings.Contains(got, want) {
				t.Errorf("%s: %s", bound, got)
			}
			if got := reasons(id, strings.ReplaceAll(bound, "1500", "2001")); got != "" {
				t.Errorf("with room: %s", got)
			}
			if e.Name == "sqlite" {
				if got := reasons("INTEGER PRIMARY KEY", bound); got != "" { // which continues after the largest key
					t.Errorf("without AUTOINCREMENT: %s", got)
				}
			}
		}
	})
}
