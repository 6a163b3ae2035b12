package planner_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What the new database would refuse or change is known by the plan.

// onOne carries out statements on one connection: some set what holds for the session.
func onOne(t *testing.T, d world.Database, statements ...string) {
	t.Helper()
	db := worldtest.Pool(t, d)
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %.200s: %v", d.Name, s, err)
		}
	}
}

// A row of the first world may break a CHECK of its own table: it came while that was off. It is refused as one of
// another world is, also in a table of which the rows of the first world alone come.
func TestRowsBreakTheirCheck(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		off := "PRAGMA ignore_check_constraints = 1"
		if e.Name != "sqlite" {
			servertest.OnlyMariaDB(t, "rows that break a CHECK of their table")
			off = "SET check_constraint_checks = 0"
		}
		for _, table := range []string{"copied", "skipped", "alike"} {
			all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
			for i, d := range all {
				for _, name := range []string{"copied", "skipped"} {
					worldtest.Exec(t, d, "CREATE TABLE "+name+" (id INT PRIMARY KEY, v INT, CHECK (v > 0))", "INSERT INTO "+name+" VALUES ("+[]string{"1", "100"}[i]+", 5)")
				}
				worldtest.Exec(t, d, "CREATE TABLE alike (id INT PRIMARY KEY, v INT, CHECK (v > 0))", "INSERT INTO alike VALUES (1, 5)")
				if i == 0 || table == "alike" {
					onOne(t, d, off, "UPDATE "+table+" SET v = 0")
				}
			}
			opts := planner.PlanOptions{Check: rules.Options{Rules: worldtest.NamesNothing, Tables: []rules.TablePolicy{
				{Tables: []string{"skipped"}, Policy: rules.PolicySkip}, {Tables: []string{"alike"}, Policy: rules.PolicySame}}}}
			p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, opts)
			if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Table != table || !strings.Contains(p.Refusals[0].Reason, "1 row would be refused by") {
				t.Errorf("%s: %v, %v", table, p.Refusals, err)
			}
		}
	})
}

// A name of the new database that a DSN or a server does not take is an error that says what is taken, before
// anything is read.
func TestPlanNamesOfNew(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{e.Fresh(t, "s1"), e.Fresh(t, "s2")}
	for i, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE pl (id INT PRIMARY KEY)", "INSERT INTO pl VALUES ("+[]string{"1", "2"}[i]+")")
	}
	named := func(name string) world.Database {
		dsn := all[0].DSN
		database, params, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?")
		return world.Database{Name: "new", DSN: strings.TrimSuffix(strings.TrimSuffix(dsn, "?"+params), database) + name + "?" + params}
	}
	own := "mergesafe_names_" + strings.ToLower(rand.Text()[:8])
	for name, want := range map[string]string{
		own + "%25":                   "want letters, digits",
		own + "%3F":                   "want letters, digits",
		own + "%22":                   "want letters, digits",
		own + strings.Repeat("n", 41): "has 65 characters: want at most 64",
		own + "%20":                   "ends with a space",
		own + "%F0%9F%98%80":          "a character beyond U+FFFF",
		own + strings.Repeat("n", 40): "",
		own + "%20%60.%C3%A4":         "",
	} {
		into := named(name)
		p, err := planner.NewPlan(t.Context(), into, all, planner.PlanOptions{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), `database "new": `) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(p.Refusals) > 0 {
			t.Fatalf("%s: %v, %v", name, p, err)
		}
		if _, err := build.Apply(t.Context(), p, into, all, job.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := build.Undo(t.Context(), p, into, all, build.UndoOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		worldtest.Dropped(t, into)
	}
}
