package check_test

import (
	"errors"
	"strings"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// withTemplates is a game with a table of its own data, to which rows refer.
func withTemplates(name string, first int) *mergetest.Database {
	db := game(name, first, 3)
	db.Schema.Tables = append(db.Schema.Tables, catalog.Table{
		Name: "templates", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), number("price")},
		AutoIncrement: &catalog.AutoIncrement{Column: "id", Next: 4, Max: 1000},
		Uniques:       []catalog.Unique{{Name: "price", Columns: []string{"price"}}},
	}, catalog.Table{
		Name: "things", Primary: []string{"id"}, Columns: []catalog.Column{number("id"), number("template")},
		References: []catalog.Reference{{Columns: []string{"template"}, ToTable: "templates", ToColumns: []string{"id"}}},
	})
	for n := range 3 {
		db.Rows["templates"] = append(db.Rows["templates"], mergetest.Row{"id": int64(n + 1), "price": int64(10 * n)})
		db.Rows["things"] = append(db.Rows["things"], mergetest.Row{"id": int64(first + n), "template": int64(n + 1)})
	}
	return db
}

// A table that is the same in every world is proved to be so: its keys and values do
// not collide, references to it are not ambiguous, its counter does not matter.
func TestSameTables(t *testing.T) {
	same := rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"templ*"}, Policy: rules.PolicySame}}}
	of := func(opts rules.Options, dbs ...*mergetest.Database) []string {
		return codesOf(mustCheck(t, opts, dbs...), "templates", "things")
	}
	a, b, c := withTemplates("a", 101), withTemplates("b", 201), withTemplates("c", 301)
	want := "key-collision unique-collision auto-increment reference-ambiguous"
	if got := strings.Join(of(rules.Options{}, a, b, c), " "); got != want {
		t.Errorf("undeclared: %s, want %s", got, want)
	}
	if got := of(same, a, b, c); len(got) > 0 {
		t.Errorf("declared: %v", got)
	}
	r := find(mustCheck(t, same, a, b, c), verdict.CodeTableDiffers, "templates", "")[0]
	if r.Verdict != verdict.Pass || r.Read != 9 || r.Message != "the rows are the same in every database" {
		t.Errorf("%+v", r)
	}

	b.Rows["templates"][2]["price"] = int64(21)
	r = find(mustCheck(t, same, a, b, c), verdict.CodeTableDiffers, "templates", "")[0]
	if r.Verdict != verdict.Fail || r.Count != 1 || r.Message != "the rows are not those of a, 3 rows: b: 3 rows" {
		t.Errorf("%+v", r)
	}
	r = find(mustCheck(t, same, b, a, c), verdict.CodeTableDiffers, "templates", "")[0]
	if r.Count != 2 || r.Message != "the rows are not those of b, 3 rows: a: 3 rows; c: 3 rows" {
		t.Errorf("%+v", r)
	}

	// An exact name beats a pattern, whatever their order.
	exact := rules.Options{Tables: []rules.TablePolicy{{Tables: []string{"templates"}, Policy: rules.PolicyCopy}, same.Tables[0]}}
	if got := strings.Join(of(exact, a, c), " "); got != want {
		t.Errorf("exact: %s, want %s", got, want)
	}
	for _, bad := range []rules.TablePolicy{{Tables: []string{"tmpl*"}, Policy: rules.PolicySame}, {Tables: []string{"templates"}, Policy: "lose"}, {Tables: []string{"templates.id"}, Policy: rules.PolicySame}} {
		if _, err := merge.Check(t.Context(), sources(a, c), rules.Options{Tables: []rules.TablePolicy{bad}}); !errors.Is(err, rules.ErrOptions) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
