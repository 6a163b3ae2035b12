package planner_test

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

// A key that the database counts up needs no space of its own beside one that is matched, unless it
// seems to be the key of the matched rows.
func TestMatchNeedsNoOtherSpaces(t *testing.T) {
	e := worldtest.OnSQLite(t)
	a := worldtest.LoginWorld(t, e, "s1", worldtest.Login{ID: 1, Name: "anna"}, worldtest.Login{ID: 2, Name: "bert"}, worldtest.Login{ID: 3, Name: "carl"})
	b := worldtest.LoginWorld(t, e, "s2", worldtest.Login{ID: 1, Name: "bert"}, worldtest.Login{ID: 2, Name: "dora"}, worldtest.Login{ID: 3, Name: "emil"})
	rules := worldtest.LoginRules()
	rules.Rekey.Spaces = rules.Rekey.Spaces[:1]
	worldtest.PlanOf(t, e, []world.Database{a, b}, planner.PlanOptions{Check: rules})
}

// A column that changes with a name is declared by that, for plan and for verify.
func TestCopyOnUndecidedColumn(t *testing.T) {
	e := worldtest.OnSQLite(t)
	unique := "VARCHAR(20) NOT NULL UNIQUE COLLATE NOCASE"
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE heroes (id INTEGER NOT NULL PRIMARY KEY, name "+unique+")", "INSERT INTO heroes VALUES (1, 'anna'), (2, 'bert')",
		"CREATE TABLE mail (id INTEGER NOT NULL PRIMARY KEY, sender INTEGER NOT NULL, by_name BLOB)", "INSERT INTO mail VALUES (1, 1, 'anna'), (2, 2, 'bert')")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"heroes.id"}}, rules.Space{Keys: []string{"mail.id"}})
		d.References = append(d.References, rules.DeclaredReference{At: []string{"mail.sender"}, To: []string{"heroes.id"}})
		d.Undecided = []string{"mail.by_name"}
	})
	opts.Names = []plan.NamePolicy{{Table: "heroes", Column: "name"}}
	opts.Copies = []plan.NameCopy{{Table: "mail", Column: "by_name", Key: "sender", OfTable: "heroes", OfColumn: "name"}}
	_, into := worldtest.Rekeyed(t, e, all, opts)
	worldtest.Asked(t, into, "SELECT h.name FROM heroes AS h JOIN mail AS m ON m.sender = h.id AND m.by_name = h.name WHERE h.id > 2 ORDER BY h.id", "anna.s0", "bert.s0")
}

// A space of a later file takes the place of what an earlier one says of its key, for plan and for
// verify.
func TestSpaceOverUndecidedKey(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE parties (id INTEGER NOT NULL PRIMARY KEY)", "INSERT INTO parties VALUES (1), (2)")
	worldtest.Rekeyed(t, e, all, worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		d.Undecided = []string{"parties.id"}
		o.Rekey.Spaces = append(o.Rekey.Spaces, rules.Space{Keys: []string{"parties.id"}, After: 1})
	}))
}

// Of a table that is the same in every world only the rows of the first one come, so that what its
// columns hold in the others is not asked. What the first world's rows hold is.
func TestSameTableIsNotAsked(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2, "CREATE TABLE ranks (rank_no VARCHAR(9) NOT NULL PRIMARY KEY, level INTEGER, picture BLOB)", "INSERT INTO ranks VALUES ('a', 1, x'00'), ('b', 2, NULL)")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Tables = []rules.TablePolicy{{Tables: []string{"ranks"}, Policy: rules.PolicySame}}
	})
	worldtest.Rekeyed(t, e, all, opts)
}

func TestSameTableOfFirstWorldIsAsked(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := worldtest.KeyWorlds(t, e, 2,
		"CREATE TABLE ranks (rank_no VARCHAR(9) NOT NULL PRIMARY KEY, level INTEGER)", "INSERT INTO ranks VALUES ('a', 7)", "INSERT INTO chars VALUES (7 + %d * 9, 'x')", "DELETE FROM chars WHERE %d = 0 AND guid = 7")
	// Nothing is rekeyed: the second world's key 16 comes as it is, and 7 leads nowhere in either.
	worldtest.Exec(t, all[1], "UPDATE chars SET guid = guid + 100", "UPDATE items SET id = id + 100, owner = owner + 100", "UPDATE chars SET guid = 7 WHERE guid = 116")
	opts := worldtest.KeyOptions(func(o *rules.Options, d *rules.Declarations) {
		o.Rekey, o.Tables = nil, []rules.TablePolicy{{Tables: []string{"ranks"}, Policy: rules.PolicySame}}
	})
	p := worldtest.Planned(t, e.Fresh(t, "new"), all, opts)
	open := func(r plan.Refusal) bool { return r.Code == verdict.CodeReferenceUndeclared && r.Table == "ranks" }
	if !slices.ContainsFunc(p.Refusals, open) || !strings.Contains(fmt.Sprint(p.Refusals), "w0: 1") {
		t.Errorf("the first world's rank would name a row that comes: %q", p.Refusals)
	}
}
