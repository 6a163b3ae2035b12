package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// garages are worlds in which names are keys, or parts of them: plates of cars, which a foreign key names and another names
// that one, and lists of friends, who are there by name alone.
func garages(t *testing.T, e worldtest.Engine, worlds ...string) (all []world.Database, opts planner.PlanOptions) {
	t.Helper()
	collate := " COLLATE NOCASE"
	if e.Name != "sqlite" {
		collate = ""
	}
	name := "VARCHAR(20)" + collate + " NOT NULL"
	for i, w := range worlds {
		d := e.Fresh(t, w)
		worldtest.Exec(t, d,
			"CREATE TABLE cars (plate "+name+" PRIMARY KEY, model INTEGER NOT NULL)",
			"CREATE TABLE trunk (plate "+name+" PRIMARY KEY, items VARCHAR(40) NOT NULL, FOREIGN KEY (plate) REFERENCES cars (plate) ON UPDATE CASCADE)",
			"CREATE TABLE trunk_lock (plate "+name+", slot INTEGER NOT NULL, PRIMARY KEY (plate, slot), FOREIGN KEY (plate) REFERENCES trunk (plate) ON UPDATE CASCADE)",
			"CREATE TABLE clan (realm INTEGER NOT NULL, name "+name+", PRIMARY KEY (realm, name))",
			"CREATE TABLE pl (id INTEGER NOT NULL PRIMARY KEY, name "+name+" UNIQUE)",
			"CREATE TABLE friends (account "+name+", companion "+name+", PRIMARY KEY (account, companion))",
			"CREATE TABLE profile (id INTEGER NOT NULL PRIMARY KEY, who "+name+" UNIQUE)",
			"INSERT INTO cars VALUES ('ABC 1', 1), ('ABC 2', 2), ('own "+w+"', 3)",
			"INSERT INTO clan VALUES (1, 'Red'), (2, 'Blue')",
			"INSERT INTO trunk VALUES ('ABC 1', 'of "+w+"'), ('ABC 2', 'of "+w+"')",
			"INSERT INTO trunk_lock VALUES ('ABC 1', 0), ('ABC 1', 1), ('ABC 2', 0)",
			fmt.Sprintf("INSERT INTO pl VALUES (%d1, 'Aria'), (%[1]d2, 'Bob'), (%[1]d3, 'only %s')", i+1, w),
			"INSERT INTO friends VALUES ('Aria', 'Bob'), ('Bob', 'Aria'), ('Aria', 'only "+w+"'), ('only "+w+"', 'aria')",
			fmt.Sprintf("INSERT INTO profile VALUES (%d1, 'Aria'), (%[1]d2, 'bob'), (%[1]d3, 'nobody of %s')", i+1, w))
		all = append(all, d)
	}
	return all, planner.PlanOptions{
		Names: []plan.NamePolicy{{Table: "cars", Column: "plate", Template: "{name}.{source}"}, {Table: "pl", Column: "name", Template: "{name}.{source}"}, {Table: "clan", Column: "name"}},
		Check: rules.Options{Allow: []string{verdict.CodeAutoIncrement, verdict.CodeReferenceDangle},
			Rules: append(slices.Clone(worldtest.NamesNothing), rules.Declarations{References: []rules.DeclaredReference{
				{At: []string{"friends.account", "friends.companion", "profile.who"}, To: []string{"pl.name"}}}})},
	}
}

// A name that is or is part of a key, that a foreign key refers to, or that is repeated in a UNIQUE column, gets its new
// value like any other, and what names it follows.
func TestNamesInKeys(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		all, opts := garages(t, e, "s1", "s2", "s3")
		p, into := worldtest.PlanOf(t, e, all, opts)
		worldtest.MustApply(t, p, into, all)
		worldtest.Sound(t, p, into, all)
		worldtest.Says(t, into, map[string]string{
			"SELECT plate, model FROM cars ORDER BY plate":                                                "[[ABC 1 1] [ABC 1.s2 1] [ABC 1.s3 1] [ABC 2 2] [ABC 2.s2 2] [ABC 2.s3 2] [own s1 3] [own s2 3] [own s3 3]]",
			"SELECT plate, items FROM trunk ORDER BY plate":                                               "[[ABC 1 of s1] [ABC 1.s2 of s2] [ABC 1.s3 of s3] [ABC 2 of s1] [ABC 2.s2 of s2] [ABC 2.s3 of s3]]",
			"SELECT plate, slot FROM trunk_lock WHERE plate LIKE '%.s2' ORDER BY plate, slot":             "[[ABC 1.s2 0] [ABC 1.s2 1] [ABC 2.s2 0]]",
			"SELECT account, companion FROM friends WHERE account LIKE '%s2' ORDER BY account, companion": "[[Aria.s2 Bob.s2] [Aria.s2 only s2] [Bob.s2 Aria.s2] [only s2 Aria.s2]]",
			"SELECT realm, name FROM clan ORDER BY realm, name":                                           "[[1 Red] [1 Red.s0] [1 Red.s0.2] [2 Blue] [2 Blue.s0] [2 Blue.s0.2]]",
			"SELECT COUNT(*) FROM friends":                                                                "[[12]]",
			"SELECT id, who FROM profile ORDER BY id":                                                     "[[11 Aria] [12 bob] [13 nobody of s1] [21 Aria.s2] [22 Bob.s2] [23 nobody of s2] [31 Aria.s3] [32 Bob.s3] [33 nobody of s3]]",
		})
		// The proof finds a row that names the wrong one.
		worldtest.Exec(t, into, "UPDATE friends SET companion = 'Bob' WHERE account = 'Aria.s2' AND companion = 'Bob.s2'")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail {
			t.Errorf("a friend of another world: %s", proof.Verdict)
		}
	})
}

// Rows with one key that no new name tells apart are a conflict: none of the names in it is one, or they have one name.
func TestNamesInKeysThatStay(t *testing.T) {
	e := worldtest.OnSQLite(t)
	for _, c := range []struct{ rows, code, where string }{
		{"INSERT INTO friends VALUES ('gone', 'away')", verdict.CodeKeyCollision, "friends"},
		{"INSERT INTO profile SELECT 1000 + MIN(id), 'gone' FROM profile", verdict.CodeUniqueCollision, "profile"},
	} {
		all, opts := garages(t, e, "s1", "s2")
		worldtest.Exec(t, all[0], c.rows)
		worldtest.Exec(t, all[1], c.rows)
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, opts)
		if err != nil || len(p.Refusals) != 1 || p.Refusals[0].Code != c.code || p.Refusals[0].Table != c.where || !strings.Contains(p.Refusals[0].Reason, "1 ") {
			t.Errorf("%s: %v, %v", c.rows, p.Refusals, err)
		}
	}
}
