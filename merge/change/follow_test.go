package change_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// mailWorlds are two worlds that have players and rows that name them.
func mailWorlds(t *testing.T, e worldtest.Engine) []world.Database {
	t.Helper()
	collate := "NOCASE" // as the names
	if e.Name != "sqlite" {
		collate = "utf8mb4_unicode_520_ci"
	}
	first, second := worldtest.GameWorld(t, e, "s1", 1, 5, "t"), worldtest.GameWorld(t, e, "s2", 2, 5, "two")
	setNames(t, first, "t", "Aria", "Bob", "Cleo", "Dan")
	setNames(t, second, "two", "Aria", "bob", "Cleo", "Zoe")
	worldtest.Exec(t, first, "UPDATE players SET gold = 9", "UPDATE players SET gold = 1 WHERE name = 'Cleo'") // and so Cleo of the first world is renamed
	worldtest.Exec(t, second, "UPDATE players SET gold = 5")
	for _, d := range []world.Database{first, second} {
		worldtest.Exec(t, d, "CREATE TABLE mail (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, to_name VARCHAR(32) COLLATE "+collate+")")
	}
	worldtest.Exec(t, second, "INSERT INTO mail VALUES (11, 0, 'Aria'), (12, 0, 'BOB'), (13, 0, 'Nobody'), (14, 0, NULL), (15, 0, ''), (16, 7, 'Aria'), (17, 0, 'Zoe'), (18, 0, 'aria.S2')")
	worldtest.Exec(t, first, "INSERT INTO mail VALUES (1, 0, 'Cleo'), (2, 0, 'CLEO'), (3, 0, 'Aria'), (4, 0, 'nobody'), (5, 7, 'Cleo'), (6, 0, 'cleo')")
	return []world.Database{first, second}
}

func namedMail(to string) rules.Options {
	return rules.Options{
		Allow: []string{verdict.CodeAutoIncrement, verdict.CodeReferenceDangle},
		Rules: append(slices.Clone(worldtest.NamesNothing), rules.Declarations{
			Plain: []string{"mail.kind", "mail.id"},
			References: []rules.DeclaredReference{{At: []string{"mail.to_name"}, To: []string{to}, None: []string{""},
				When: &rules.When{Column: "kind", Not: []string{"7"}}, Others: rules.OthersPlain}},
		}),
	}
}

// Rows that name players by name follow them, those of the first world too. Rows that name nobody stay
// as they are.
func TestNamesThatAreReferences(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := mailWorlds(t, e)
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{
		Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}},
		Check: namedMail("players.name"),
	})
	worldtest.MustApply(t, p, into, all)
	got := make(map[string]string)
	for _, row := range worldtest.Rows(t, into, "SELECT id, to_name FROM mail ORDER BY id") {
		got[row[0]] = row[1]
	}
	// aria.S2 names nobody, and so is no name for Aria.
	want := map[string]string{"11": "Aria.s2.2", "12": "bob.s2", "13": "Nobody", "14": got["14"], "15": "", "16": "Aria", "17": "Zoe", "18": "aria.S2",
		"1": "Cleo.s1", "2": "Cleo.s1", "3": "Aria", "4": "nobody", "5": "Cleo", "6": "Cleo.s1"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got\n%v, want\n%v", got, want)
	}
	worldtest.Sound(t, p, into, all)
}

// Rows of the first world follow also if no other one has a row in their table.
func TestRowsOfFirstWorldFollowAlone(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := mailWorlds(t, e)
	worldtest.Exec(t, all[1], "DELETE FROM mail")
	p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{
		Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}},
		Check: namedMail("players.name"),
	})
	worldtest.MustApply(t, p, into, all)
	worldtest.Says(t, into, map[string]string{"SELECT to_name FROM mail WHERE id = 1": "[[Cleo.s1]]"})
	worldtest.Sound(t, p, into, all)
}

// A column that copies names along may be of another character set than these.
func TestCopiesOfAnotherCharacterSet(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) { // SQLite has one
		e := worldtest.Engines()[1]
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "same"), worldtest.GameWorld(t, e, "s2", 2, 4, "same")}
		for _, d := range all {
			worldtest.Exec(t, d, "ALTER TABLE players MODIFY name VARCHAR(32) CHARACTER SET latin1 NOT NULL", "ALTER TABLE items ADD COLUMN owner_name VARCHAR(32) CHARACTER SET utf8mb4")
		}
		worldtest.PlanOf(t, e, all, planner.PlanOptions{
			Names:  []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32}},
			Copies: []plan.NameCopy{{Table: "items", Column: "owner_name", Key: "owner_id", OfTable: "players", OfColumn: "name"}},
		})
	})
}

// Names in utf8mb3 are compared with what refers to them in utf8mb4.
func TestFollowsInAnotherCharacterSet(t *testing.T) {
	servertest.OnMySQLToo(t, func(t *testing.T) { // SQLite has one
		e := worldtest.Engines()[1]
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 2, "same"), worldtest.GameWorld(t, e, "s2", 2, 2, "same")}
		for i, d := range all {
			worldtest.Exec(t, d, "ALTER TABLE players MODIFY name VARCHAR(32) CHARACTER SET utf8mb3 NOT NULL", "CREATE TABLE mail (id INTEGER PRIMARY KEY, to_name VARCHAR(40))",
				fmt.Sprintf("INSERT INTO mail VALUES (%d1, 'Same0'), (%[1]d2, x'73616d6530f09f9089'), (%[1]d3, 'same?')", i+1))
		}
		p, into := worldtest.PlanOf(t, e, all, planner.PlanOptions{Names: []plan.NamePolicy{{Table: "players", Column: "name", Template: "{name}.{source}"}}, Check: rules.Options{
			Allow: []string{verdict.CodeAutoIncrement, verdict.CodeReferenceDangle},
			Rules: append(slices.Clone(worldtest.NamesNothing), rules.Declarations{References: []rules.DeclaredReference{{At: []string{"mail.to_name"}, To: []string{"players.name"}}}})}})
		worldtest.MustApply(t, p, into, all)
		worldtest.Says(t, into, map[string]string{"SELECT id, IF(id % 10 = 2, HEX(to_name), to_name) FROM mail ORDER BY id": "[[11 Same0] [12 73616D6530F09F9089] [13 same?] [21 same0.s2] [22 73616D6530F09F9089] [23 same?]]"})
		worldtest.Sound(t, p, into, all)
	})
}

// What cannot follow refuses the plan, and says why.
func TestCannotFollow(t *testing.T) {
	e := worldtest.OnSQLite(t)
	exactly := "VARCHAR(32) COLLATE BINARY"
	for _, c := range []struct{ change, want string }{
		{"CREATE TABLE feats (who " + exactly + " PRIMARY KEY, id INTEGER DEFAULT 7)", `one name is written as "SAME1" and as "same1": write it the same way everywhere`},
		{"CREATE TABLE feats (id INTEGER DEFAULT 7 PRIMARY KEY, who VARCHAR(5))", "leaves no room"},
	} {
		all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 2, "same"), worldtest.GameWorld(t, e, "s2", 2, 2, "same")}
		for _, d := range all {
			worldtest.Exec(t, d, c.change)
		}
		worldtest.Exec(t, all[1], "INSERT INTO feats (who) VALUES ('same1')")
		if strings.Contains(c.change, exactly) {
			worldtest.Exec(t, all[1], "INSERT INTO feats (who) VALUES ('SAME1')")
		}
		p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, planner.PlanOptions{
			Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Template: "{name}.of.{source}"}},
			Check: rules.Options{Rules: append(slices.Clone(worldtest.NamesNothing), rules.Declarations{
				References: []rules.DeclaredReference{{At: []string{"feats.who"}, To: []string{"players.name"}}}})},
		})
		if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), c.want) {
			t.Errorf("%s: %v %v", c.change, p, err)
		}
	}
}
