package merge

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
)

// mailWorlds are two worlds that have players and rows that name them.
func mailWorlds(t *testing.T, e engine) []world.Database {
	t.Helper()
	collate := "NOCASE" // as the names
	if e.name != "sqlite" {
		collate = "utf8mb4_unicode_520_ci"
	}
	first, second := gameWorld(t, e, "s1", 1, 5, "t"), gameWorld(t, e, "s2", 2, 5, "two")
	setNames(t, first, "t", "Aria", "Bob", "Cleo", "Dan")
	setNames(t, second, "two", "Aria", "bob", "Cleo", "Zoe")
	exec(t, first, "UPDATE players SET gold = 9", "UPDATE players SET gold = 1 WHERE name = 'Cleo'") // and so Cleo of the first world is renamed
	exec(t, second, "UPDATE players SET gold = 5")
	for _, d := range []world.Database{first, second} {
		exec(t, d, "CREATE TABLE mail (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, to_name VARCHAR(32) COLLATE "+collate+")")
	}
	exec(t, second, "INSERT INTO mail VALUES (11, 0, 'Aria'), (12, 0, 'BOB'), (13, 0, 'Nobody'), (14, 0, NULL), (15, 0, ''), (16, 7, 'Aria'), (17, 0, 'Zoe'), (18, 0, 'aria.S2')")
	exec(t, first, "INSERT INTO mail VALUES (1, 0, 'Cleo'), (2, 0, 'CLEO'), (3, 0, 'Aria'), (4, 0, 'nobody'), (5, 7, 'Cleo'), (6, 0, 'cleo')")
	return []world.Database{first, second}
}

func namedMail(to string) rules.Options {
	return rules.Options{
		Allow: []string{verdict.CodeAutoIncrement, verdict.CodeReferenceDangle},
		Rules: append(slices.Clone(namesNothing), rules.Declarations{
			Plain: []string{"mail.kind", "mail.id"},
			References: []rules.DeclaredReference{{At: []string{"mail.to_name"}, To: []string{to}, None: []string{""},
				When: &rules.When{Column: "kind", Not: []string{"7"}}, Others: rules.OthersPlain}},
		}),
	}
}

// Rows that name players by name follow them, those of the first world too. Rows that name nobody stay
// as they are.
func TestNamesThatAreReferences(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := mailWorlds(t, e)
		p, into := planOf(t, e, all, planner.PlanOptions{
			Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}},
			Check: namedMail("players.name"),
		})
		mustApply(t, p, into, all)
		db := pool(t, into)
		defer db.Close()
		got := make(map[string]string)
		for _, row := range readCell(t, db, "SELECT id, to_name FROM mail ORDER BY id") {
			got[row[0]] = row[1]
		}
		// aria.S2 names nobody, and so is no name for Aria.
		want := map[string]string{"11": "Aria.s2.2", "12": "bob.s2", "13": "Nobody", "14": got["14"], "15": "", "16": "Aria", "17": "Zoe", "18": "aria.S2",
			"1": "Cleo.s1", "2": "Cleo.s1", "3": "Aria", "4": "nobody", "5": "Cleo", "6": "Cleo.s1"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got\n%v, want\n%v", got, want)
		}
		if proof := verified(t, p, into, all); proof.Verdict == verdict.Fail {
			t.Errorf("%+v", proof)
		}
	})
}

// Rows of the first world follow also if no other one has a row in their table.
func TestRowsOfFirstWorldFollowAlone(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := mailWorlds(t, e)
		exec(t, all[1], "DELETE FROM mail")
		p, into := planOf(t, e, all, planner.PlanOptions{
			Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}},
			Check: namedMail("players.name"),
		})
		mustApply(t, p, into, all)
		db := pool(t, into)
		defer db.Close()
		if got := fmt.Sprint(readCell(t, db, "SELECT to_name FROM mail WHERE id = 1")); got != "[[Cleo.s1]]" {
			t.Error(got)
		}
		if proof := verified(t, p, into, all); proof.Verdict == verdict.Fail {
			t.Errorf("%+v", proof)
		}
	})
}

// A column that copies names along may be of another character set than these.
func TestCopiesOfAnotherCharacterSet(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		if e.name == "sqlite" {
			return // it has one
		}
		all := []world.Database{gameWorld(t, e, "s1", 1, 4, "same"), gameWorld(t, e, "s2", 2, 4, "same")}
		for _, d := range all {
			exec(t, d, "ALTER TABLE players MODIFY name VARCHAR(32) CHARACTER SET latin1 NOT NULL", "ALTER TABLE items ADD COLUMN owner_name VARCHAR(32) CHARACTER SET utf8mb4")
		}
		planOf(t, e, all, planner.PlanOptions{
			Names:  []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32}},
			Copies: []plan.NameCopy{{Table: "items", Column: "owner_name", Key: "owner_id", OfTable: "players", OfColumn: "name"}},
		})
	})
}

// What cannot follow refuses the plan, and says why.
func TestCannotFollow(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		for _, c := range []struct{ change, want string }{
			{"CREATE TABLE feats (who VARCHAR(32) PRIMARY KEY)", "the column who is part of the key"},
			{"CREATE TABLE feats (id INTEGER DEFAULT 7, who VARCHAR(32))", "no key"},
			{"CREATE TABLE feats (id INTEGER DEFAULT 7 PRIMARY KEY, who VARCHAR(5))", "leaves no room"},
		} {
			all := []world.Database{gameWorld(t, e, "s1", 1, 2, "same"), gameWorld(t, e, "s2", 2, 2, "same")}
			for _, d := range all {
				exec(t, d, c.change)
			}
			exec(t, all[1], "INSERT INTO feats (who) VALUES ('same1')")
			p, err := planner.NewPlan(t.Context(), e.fresh(t, "new"), all, planner.PlanOptions{
				Names: []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Template: "{name}.of.{source}"}},
				Check: rules.Options{Rules: append(slices.Clone(namesNothing), rules.Declarations{
					References: []rules.DeclaredReference{{At: []string{"feats.who"}, To: []string{"players.name"}}}})},
			})
			if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), c.want) {
				t.Errorf("%s: %v %v", c.change, p, err)
			}
		}
	})
}
