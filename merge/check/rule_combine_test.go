package check_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// withWallets is a game with a table of a row for each account, to which rows refer.
func withWallets(name string, first int, accounts ...int) *mergetest.Database {
	db := game(name, first, 3)
	db.Schema.Tables = append(db.Schema.Tables, catalog.Table{
		Name: "wallets", Primary: []string{"account"},
		Columns:       []catalog.Column{number("account"), number("gold"), number("season"), number("best"), {Name: "name", Type: "VARCHAR(20)", Kind: catalog.KindText, Collation: mergetest.Binary}},
		AutoIncrement: &catalog.AutoIncrement{Column: "account", Next: 4, Max: 1000},
		Uniques:       []catalog.Unique{{Name: "name", Columns: []string{"name"}}},
		References:    []catalog.Reference{{Columns: []string{"best"}, ToTable: "things", ToColumns: []string{"id"}}},
	}, catalog.Table{
		Name: "things", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), number("account")},
		References: []catalog.Reference{{Columns: []string{"account"}, ToTable: "wallets", ToColumns: []string{"account"}}},
	})
	for n, account := range accounts {
		db.Rows["wallets"] = append(db.Rows["wallets"], mergetest.Row{"account": int64(account), "gold": int64(n), "season": int64(3), "best": int64(first + n), "name": fmt.Sprint("n", account)})
		db.Rows["things"] = append(db.Rows["things"], mergetest.Row{"id": int64(first + n), "account": int64(account)})
	}
	return db
}

// Keys of a table that is combined are no conflicts, nor are unique values of rows with one
// key; rows that are not to be combined are, and values of rows
// with different keys.
func TestCombinedTables(t *testing.T) {
	policy := rules.TablePolicy{Tables: []string{"wallets"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum", "best": "first", "name": "last"}}
	plain := []rules.Declarations{{Plain: []string{"wallets.gold", "wallets.season"}}}
	opts := rules.Options{Tables: []rules.TablePolicy{policy}, Rules: plain}
	of := func(opts rules.Options, dbs ...*mergetest.Database) []string {
		return codesOf(mustCheck(t, opts, dbs...), "wallets", "things")
	}
	a, b, c := withWallets("a", 101, 1, 2, 3), withWallets("b", 201, 2, 3), withWallets("c", 301, 3, 4)
	want := "key-collision unique-collision auto-increment reference-ambiguous"
	if got := strings.Join(of(rules.Options{Rules: plain}, a, b, c), " "); got != want {
		t.Errorf("undeclared: %s, want %s", got, want)
	}
	if got := of(opts, a, b, c); len(got) > 0 {
		t.Errorf("declared: %v", got)
	}
	report := mustCheck(t, opts, a, b, c)
	r := find(report, verdict.CodeKeyCollision, "wallets", "account")[0]
	if r.Combined != 2 || r.Count != 0 || !strings.HasPrefix(r.Message, "the rows of 2 keys will be combined, by [[merge.table]]: 2 keys occur more than once, in 5 rows") {
		t.Errorf("%+v", r)
	}
	if len(report.Combined) != 1 || report.Combined[0].Table != "wallets" || report.Combined[0].Formula("best").Op != rules.FormulaFirst {
		t.Errorf("%+v", report.Combined)
	}

	some := policy
	some.When = &rules.When{Column: "season", Is: []string{"3"}}
	someOnly := rules.Options{Tables: []rules.TablePolicy{some}, Rules: plain}
	if got := of(someOnly, a, b, c); len(got) > 0 {
		t.Errorf("some rows: %v", got)
	}
	c.Rows["wallets"][1]["season"] = int64(4) // whose key is there once
	if got := of(someOnly, a, b, c); len(got) > 0 {
		t.Errorf("a row of its own outside: %v", got)
	}
	c.Rows["wallets"][0]["season"] = int64(4)
	if got := strings.Join(of(someOnly, a, b, c), " "); !strings.Contains(got, "key-collision") {
		t.Errorf("a row outside: %s", got)
	}
	if r := find(mustCheck(t, someOnly, a, b, c), verdict.CodeKeyCollision, "wallets", "account")[0]; r.Count != 2 || !strings.Contains(r.Message, "1 row of these is not among those that are combined (when season is 3)") {
		t.Errorf("%+v", r)
	}
	b.Rows["wallets"][0]["name"] = "n1" // which is a's account 1
	if got := strings.Join(of(opts, a, b), " "); got != "unique-collision" {
		t.Errorf("one name, two keys: %s", got)
	}
}

// What cannot be combined so is an error of the options.
func TestCombinedTablesRefused(t *testing.T) {
	a, b := withWallets("a", 101, 1), withWallets("b", 201, 1)
	good := rules.TablePolicy{Tables: []string{"wallets"}, Policy: rules.PolicyCombine, Columns: map[string]string{"gold": "sum", "best": "first", "name": "last"}}
	with := func(change func(p *rules.TablePolicy)) rules.TablePolicy {
		p := good
		p.Columns = maps.Clone(good.Columns)
		change(&p)
		return p
	}
	formula := func(column, text string) rules.TablePolicy {
		return with(func(p *rules.TablePolicy) { p.Columns[column] = text })
	}
	for _, c := range []struct {
		policy rules.TablePolicy
		rules  rules.Declarations
		want   string
	}{
		{formula("gold", "add"), rules.Declarations{}, `gold: "add": want "sum"`},
		{formula("gold", "append 0"), rules.Declarations{}, `want "sum"`},
		{formula("silver", "sum"), rules.Declarations{}, "no table that it names has a column silver"},
		{formula("account", "max"), rules.Declarations{}, "column account, \"max\": it is part of the key"},
		{formula("best", "max"), rules.Declarations{}, "column best, \"max\": it is a reference"},
		{formula("season", "max"), rules.Declarations{References: []rules.DeclaredReference{{At: []string{"wallets.season"}, To: []string{"things.id"}}}}, "column season, \"max\": it is a reference"},
		{formula("season", "sum"), rules.Declarations{Shared: []string{"wallets.season"}}, "it is declared shared"},
		{formula("name", "sum"), rules.Declarations{}, "column name, \"sum\": it is VARCHAR(20)"},
		{formula("name", "append 21"), rules.Declarations{}, "it takes 20 characters"},
		{formula("name", "max"), rules.Declarations{}, "the unique index name of name would hold values that no row had before"},
		{with(func(p *rules.TablePolicy) { p.When = &rules.When{Column: "year", Is: []string{"1"}} }), rules.Declarations{}, `when: it has no column "year"`},
		{with(func(p *rules.TablePolicy) { p.When = &rules.When{Column: "season"} }), rules.Declarations{}, "when wants values"},
		{with(func(p *rules.TablePolicy) { p.Policy = rules.PolicySkip }), rules.Declarations{}, `with the policy "skip"`},
	} {
		_, err := merge.Check(t.Context(), sources(a, b), rules.Options{Tables: []rules.TablePolicy{c.policy}, Rules: []rules.Declarations{c.rules}})
		if !errors.Is(err, rules.ErrOptions) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.policy, err, c.want)
		}
	}
}
