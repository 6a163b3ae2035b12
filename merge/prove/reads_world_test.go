package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// allWorlds are worlds of which a merge needs all that there is: a registry, keys of ours and keys
// that every world counts, accounts that are matched, rows that are combined, tables that are
// emptied, stay behind, or are the same everywhere, names that are taken, numbers within an
// account, counters, keys inside cells, and a table without a key. The second was made of two worlds by an
// earlier merge, so it has a record of keys.
func allWorlds(t testing.TB, e worldtest.Engine) []world.Database {
	t.Helper()
	auto, fold := "INTEGER PRIMARY KEY AUTOINCREMENT", "VARCHAR(40) COLLATE NOCASE"
	if e.Name != "sqlite" {
		auto, fold = "INT AUTO_INCREMENT PRIMARY KEY", "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
	}
	logins := [][]string{{"alice", "bob", "me"}, {"BOB", "eve", "carl"}, {"Eve", "bob", "dora"}, {"zoe", "Alice", "carl"}}
	var all []world.Database
	for w, names := range logins {
		d := worldtest.GameWorld(t, e, fmt.Sprint("s", w+1), gameid.ServerID(w+1), 4, "hero")
		for _, s := range []string{
			"CREATE TABLE accounts (id " + auto + ", name " + fold + ", gold INT NOT NULL)",
			"CREATE TABLE chars (guid " + auto + ", account INT NOT NULL, place INT, name VARCHAR(40) NOT NULL UNIQUE, CHECK (name <> 'nobody'))",
			"INSERT INTO chars VALUES (1, 5, 0, 'hero'), (2, 6, 0, 'c2-%d'), (3, 7, 1, 'c3-%d'), (4, 777, 0, 'gone-%d')",
			"CREATE TABLE loot (id INTEGER NOT NULL PRIMARY KEY, owner INT, tag VARCHAR(20), FOREIGN KEY (owner) REFERENCES chars (guid))",
			"INSERT INTO loot VALUES (1, 3, 'w%d'), (2, 1, 'w%d'), (3, NULL, 'w%d')",
			"CREATE TABLE bank (account INT NOT NULL PRIMARY KEY, gold BIGINT NOT NULL, theme VARCHAR(20), CHECK (gold >= 0))",
			"INSERT INTO bank VALUES (5, 1%d0, 'dark'), (6, 2%d0, 'light'), (7, 1, 'w%d')",
			"CREATE TABLE online (id INTEGER NOT NULL PRIMARY KEY, who INT)", "INSERT INTO online VALUES (1, 2), (2, 3)",
			"CREATE TABLE kinds (id INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(20))", "INSERT INTO kinds VALUES (1, 'sword'), (2, 'bow')",
			"CREATE TABLE log (account INT NOT NULL, tag VARCHAR(20))", "INSERT INTO log VALUES (5, 'w%d'), (5, 'w%d'), (0, 'w%d none'), (778, 'w%d gone')",
			"CREATE TABLE clubs (id INTEGER NOT NULL PRIMARY KEY, members VARCHAR(80))", "INSERT INTO clubs VALUES (1, '5 7'), (2, ''), (3, '6 99')",
			"CREATE TABLE seq (name VARCHAR(20) NOT NULL PRIMARY KEY, next INT NOT NULL)", "INSERT INTO seq VALUES ('item', 4)",
			"CREATE TABLE auction (id INTEGER NOT NULL PRIMARY KEY, seller INT)", "INSERT INTO auction VALUES (1, 1), (2, 2)",
			"CREATE TABLE bids (id INTEGER NOT NULL PRIMARY KEY, auction INT)", "INSERT INTO bids VALUES (1, 1), (2, 0), (3, 9)",
			"CREATE TABLE npcs (id INTEGER NOT NULL PRIMARY KEY, tag VARCHAR(20))", "INSERT INTO npcs VALUES (1, 'guard'), (100, 'w%d npc')",
		} {
			worldtest.Exec(t, d, strings.ReplaceAll(s, "%d", fmt.Sprint(w)))
		}
		for i, name := range names {
			worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO accounts VALUES (%d, '%s', %d)", 5+i, name, i))
		}
		all = append(all, d)
	}
	all[1].Name = "w2"
	s2 := e.Fresh(t, "s2")
	p := worldtest.MustPlan(t, s2, all[1:3], allOptions())
	if _, err := build.Apply(t.Context(), p, s2, all[1:3], job.Options{}); err != nil {
		t.Fatal(err)
	}
	worldtest.Opened(t, p, s2, all[1:3])
	return []world.Database{all[0], s2, all[3]}
}

func allOptions() planner.PlanOptions {
	space := func(key string) rules.Space { return rules.Space{Keys: []string{key}} }
	matched, built := space("accounts.id"), space("npcs.id")
	matched.Match, built.Keep = []string{"accounts.name"}, "<100"
	place := rules.TablePolicy{Tables: []string{"chars"}, Policy: rules.PolicyCopy, Renumber: "place", Within: []string{"account"}}
	return planner.PlanOptions{
		RangeRows: 2,
		Names:     []plan.NamePolicy{{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"}, {Table: "chars", Column: "name", Keep: plan.KeepFirst}},
		Check: rules.Options{
			Allow: []string{verdict.CodeAutoIncrement},
			Tables: []rules.TablePolicy{place,
				{Tables: []string{"bank"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum", "theme": "first"}},
				{Tables: []string{"online"}, Policy: rules.PolicyReset}, {Tables: []string{"kinds"}, Policy: rules.PolicySame},
				{Tables: []string{"seq"}, Policy: rules.PolicySkip}, {Tables: []string{"auction"}, Policy: rules.PolicySkip}},
			Rekey: &rules.Rekey{Spaces: []rules.Space{matched, space("chars.guid"), space("loot.id"), space("clubs.id"), space("bids.id"), built},
				Counters: []rules.CounterRow{{At: "seq.next", Space: "loot.id"}}},
			Rules: []rules.Declarations{{
				Shared: []string{"kinds.id"},
				Plain:  []string{"*.tag", "*.name", "*.gold", "bank.theme", "chars.place", "auction.seller", "players.*", "items.count", "items.template", "guild*.*", "online.who"},
				References: []rules.DeclaredReference{
					{At: []string{"chars.account", "bank.account"}, To: []string{"accounts.id"}},
					{At: []string{"log.account"}, To: []string{"accounts.id"}, None: []string{"0"}},
					{At: []string{"clubs.members"}, To: []string{"accounts.id"}, Format: "list sep=' ' every"},
					{At: []string{"bids.auction"}, To: []string{"auction.id"}, None: []string{"0"}, Gone: rules.GoneNone},
				},
			}},
		},
	}
}

var firstAccount = keys.Signed(5)
