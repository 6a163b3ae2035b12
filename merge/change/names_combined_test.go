package change_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// twoNames are worlds in which a player is the same by his uuid, and may have another name in each: one that there is another
// player's.
func twoNames(t *testing.T, e worldtest.Engine) (all []world.Database, opts planner.PlanOptions) {
	t.Helper()
	for i, players := range [][]string{{"Aria u1", "Bob u2", "Cleo u3", "Eve u7"}, {"Robert u2", "Aria u4", "Aria2 u1", "Bob u5", "Dora u6", "Eve u7"}} {
		d := e.Fresh(t, fmt.Sprint("s", i+1))
		worldtest.Exec(t, d, "CREATE TABLE pl (id INTEGER NOT NULL PRIMARY KEY, uuid VARCHAR(9) NOT NULL UNIQUE, name VARCHAR(20) NOT NULL UNIQUE)",
			"CREATE TABLE seen (uuid VARCHAR(9) NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, gold INTEGER NOT NULL)",
			"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, receiver VARCHAR(20), sender INTEGER, sender_name VARCHAR(20))",
			fmt.Sprintf("INSERT INTO mail VALUES (%d00, 'nobody', NULL, NULL)", i+1))
		for k, player := range players {
			name, uuid, _ := strings.Cut(player, " ")
			worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO pl VALUES (%d, '%s', '%s')", k+1, uuid, name), fmt.Sprintf("INSERT INTO seen VALUES ('%s', '%s', 5)", uuid, name),
				fmt.Sprintf("INSERT INTO mail VALUES (%d0%d, '%s', %[2]d, '%[3]s')", i+1, k+1, name))
		}
		all = append(all, d)
	}
	return all, planner.PlanOptions{
		Names:  []plan.NamePolicy{{Table: "pl", Column: "name", Template: "{name}.{source}"}, {Table: "seen", Column: "name", Template: "{name}.{source}"}},
		Copies: []plan.NameCopy{{Table: "mail", Column: "sender_name", Key: "sender", OfTable: "pl", OfColumn: "name"}},
		Check: rules.Options{Allow: []string{verdict.CodeAutoIncrement, verdict.CodeReferenceDangle},
			Rekey:  &rules.Rekey{Spaces: []rules.Space{{Keys: []string{"pl.id"}, Match: []string{"pl.uuid"}}}},
			Tables: []rules.TablePolicy{{Tables: []string{"seen"}, Policy: rules.PolicyCombine, Columns: map[string]string{"name": "first", "gold": "sum"}}},
			Rules: []rules.Declarations{{Plain: []string{"*.*"}}, {References: []rules.DeclaredReference{
				{At: []string{"mail.receiver"}, To: []string{"pl.name"}}, {At: []string{"mail.sender"}, To: []string{"pl.id"}}}}}},
	}
}

// Of rows that are one thing one gives the name; another row with it gets a new one, and what names any of them follows.
func TestNamesOfCombinedRows(t *testing.T) {
	worldtest.OnEachIfLong(t, func(t *testing.T, e worldtest.Engine) {
		for _, c := range []struct{ formula, players, mail string }{
			{"first", "[[1 u1 Aria] [2 u2 Bob] [3 u3 Cleo] [4 u7 Eve] [1002 u4 Aria.s2] [1004 u5 Bob.s2] [1005 u6 Dora]]",
				"[[100 nobody] [101 Aria] [102 Bob] [103 Cleo] [104 Eve] [200 nobody] [201 Bob] [202 Aria.s2] [203 Aria] [204 Bob.s2] [205 Dora] [206 Eve]]"},
			{"last", "[[1 u1 Aria2] [2 u2 Robert] [3 u3 Cleo] [4 u7 Eve] [1002 u4 Aria] [1004 u5 Bob] [1005 u6 Dora]]",
				"[[100 nobody] [101 Aria2] [102 Robert] [103 Cleo] [104 Eve] [200 nobody] [201 Robert] [202 Aria] [203 Aria2] [204 Bob] [205 Dora] [206 Eve]]"},
		} {
			all, opts := twoNames(t, e)
			if c.formula == "last" {
				opts.Check.Tables[0].Columns["name"] = "last"
				opts.Check.Tables = append(opts.Check.Tables, rules.TablePolicy{Tables: []string{"pl"}, Policy: rules.PolicyCombine, Columns: map[string]string{"name": "last"}})
			}
			count := int64(0)
			opts.Report = func(r *verdict.Report) { count = r.Renames }
			p, into := worldtest.PlanOf(t, e, all, opts)
			if count != 4 { // Aria and Bob, in two tables
				t.Errorf("the check counts %d renames", count)
			}
			worldtest.MustApply(t, p, into, all)
			worldtest.Sound(t, p, into, all)
			seen := strings.NewReplacer("1 u1 ", "u1 10 ", "2 u2 ", "u2 10 ", "3 u3 ", "u3 5 ", "[4 u7 Eve] ", "", "1002 u4 ", "u4 5 ", "1004 u5 ", "u5 5 ", "1005 u6 Dora]]", "u6 5 Dora] [u7 10 Eve]]").Replace(c.players)
			worldtest.Says(t, into, map[string]string{
				"SELECT id, uuid, name FROM pl ORDER BY id":                                              c.players,
				"SELECT uuid, gold, name FROM seen ORDER BY uuid":                                        seen,
				"SELECT id, receiver FROM mail ORDER BY id":                                              c.mail,
				"SELECT COUNT(*) FROM mail WHERE receiver <> sender_name":                                "[[0]]",
				"SELECT COUNT(*) FROM mail AS m JOIN pl ON pl.id = m.sender AND pl.name = m.sender_name": "[[10]]",
			})
		}
	})
}

// A table whose rows are combined has a formula for its names, and they are no part of its key. What has to be unique and
// names a row that gets another world's name is refused: two rows might become the same.
func TestNamesOfCombinedRowsRefused(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all, opts := twoNames(t, e)
	for column, formula := range map[string]string{"name": "append 20", "gold": "sum"} {
		wrong := opts
		wrong.Check.Tables = []rules.TablePolicy{{Tables: []string{"seen"}, Policy: rules.PolicyCombine, Columns: map[string]string{column: formula}}}
		if _, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, wrong); err == nil || !strings.Contains(err.Error(), `its column name gets new names: want a formula for it, "first" or "last"`) &&
			!strings.Contains(err.Error(), "would hold values that no row had before") {
			t.Errorf("%s %s: %v", column, formula, err)
		}
	}
	worldtest.Exec(t, all[0], "UPDATE pl SET name = '' WHERE uuid = 'u2'")
	p, err := planner.NewPlan(t.Context(), e.Fresh(t, "new"), all, opts)
	if err != nil || !strings.Contains(fmt.Sprint(p.Refusals), `the row that is "Robert" in "s2" has no name in "s1"`) {
		t.Errorf("%v, %v", p.Refusals, err)
	}
	worldtest.Exec(t, all[0], "UPDATE pl SET name = 'Bob' WHERE uuid = 'u2'")
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE friends (account VARCHAR(20) NOT NULL, companion VARCHAR(20) NOT NULL, PRIMARY KEY (account, companion))")
	}
	worldtest.Exec(t, all[1], "INSERT INTO friends VALUES ('Robert', 'Dora')")
	opts.Check.Rules = append(opts.Check.Rules, rules.Declarations{References: []rules.DeclaredReference{{At: []string{"friends.account", "friends.companion"}, To: []string{"pl.name"}}}})
	worldtest.Refuses(t, e.Fresh(t, "new"), all, opts, `refers to "Robert", who is "Bob" in another world`)
}
