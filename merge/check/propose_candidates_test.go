package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// countedTable is a table of integer columns, of which the database counts the first.
func countedTable(name string, columns ...string) catalog.Table {
	t := catalog.Table{Name: name, Primary: columns[:1], AutoIncrement: &catalog.AutoIncrement{Column: columns[0], Next: 1000, Max: 1<<31 - 1}}
	for _, c := range columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c, Type: "int", Kind: catalog.KindInteger})
	}
	return t
}

// rowsOf makes rows of a counted table with the keys 1, 2 ... and these values in its second column.
func rowsOf(t catalog.Table, values ...int64) (all []mergetest.Row) {
	for i, v := range values {
		row := mergetest.Row{}
		for _, c := range t.Columns {
			row[c.Name] = v
		}
		row[t.Columns[0].Name] = int64(i + 1)
		all = append(all, row)
	}
	return all
}

func upTo(n int64) (all []int64) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// Every buddy and planet has an owner among 21 users; there are only 13 buddies. A column names users, whatever the names of
// tables sound like.
func TestProposalsMatchEveryRow(t *testing.T) {
	users, buddy, planets := countedTable("users", "id", "coins"), countedTable("buddy", "id", "sender", "owner"), countedTable("planets", "id", "id_owner")
	world := func(label string) *mergetest.Database {
		return &mergetest.Database{Label: label, Schema: catalog.Catalog{Engine: "mariadb", Tables: []catalog.Table{buddy, planets, users}}, Rows: map[string][]mergetest.Row{
			"users": rowsOf(users, 90, 310, 511, 312, 113, 94, 75, 36, 97, 38, 49, 50, 91, 82, 93, 64, 75, 76, 77, 98, 101),
			"buddy": rowsOf(buddy, 3, 14, 21, 7, 19, 5, 16, 2, 11, 18, 20, 15, 9), "planets": rowsOf(planets, upTo(21)...),
		}}
	}
	report := mustCheck(t, rules.Options{Propose: true}, world("a"), world("b"))
	for _, at := range []string{"buddy.sender", "buddy.owner", "planets.id_owner"} {
		if c := proposed(t, report, at); c.Class != verdict.ClassUndecided || c.To != "users.id" {
			t.Errorf("%s is %s %s: %s", at, c.Class, c.To, c.Evidence)
		}
	}
}

// If the names suggest one key and only another has a match for every row, both are listed, and a person decides.
func TestProposalsOfARivalWithoutMisses(t *testing.T) {
	guild, hero, gift := countedTable("guild", "id", "hall"), countedTable("hero", "id", "hall"), countedTable("gift", "n", "hero_id")
	world := func(label string) *mergetest.Database {
		return &mergetest.Database{Label: label, Schema: catalog.Catalog{Engine: "mariadb", Tables: []catalog.Table{gift, guild, hero}}, Rows: map[string][]mergetest.Row{
			"guild": rowsOf(guild, upTo(30)...), "hero": rowsOf(hero, upTo(27)...), "gift": rowsOf(gift, 1, 2, 30, 29, 14, 9, 9, 11, 6, 5, 20, 27),
		}}
	}
	report := mustCheck(t, rules.Options{Propose: true}, world("a"), world("b"))
	text := writtenRules(t, report)
	want := `  # hero.id may be meant, but only guild.id matches every row; 0 of 24 rows without a match, 0 of them with a match in another world
  # [[check.reference]]
  # to = "guild.id"
  # at = ["gift.hero_id"]
  # or to = "hero.id": 4 of 24 rows without a match, 0 of them with a match in another world
  # or: plain, or shared
  "gift.hero_id",
`
	if !strings.Contains(text, want) {
		t.Errorf("want\n%sin\n%s", want, text)
	}
	var got []string
	for _, k := range proposed(t, report, "gift.hero_id").Candidates {
		got = append(got, fmt.Sprintf("%s %d-%d %s", k.Key, k.Matched, k.Misses(), k.Name))
	}
	if diff := cmp.Diff([]string{"guild.id 24-0 no", "hero.id 20-4 clear", "gift.n 14-10 no"}, got); diff != "" {
		t.Error(diff)
	}
}

// Equal keys are not equal rows: only a table whose rows are the same in all worlds is proposed as shared.
func TestProposalsCompareRows(t *testing.T) {
	columns := []catalog.Column{{Name: "id", Type: "int", Kind: catalog.KindInteger}, {Name: "rate", Type: "int", Kind: catalog.KindInteger}}
	world := func(label string, differing int) *mergetest.Database {
		db := &mergetest.Database{Label: label, Rows: make(map[string][]mergetest.Row), Schema: catalog.Catalog{Engine: "mariadb", Tables: []catalog.Table{{Name: "rates", Primary: []string{"id"}, Columns: columns}}}}
		for i := range 23 {
			row := mergetest.Row{"id": int64(3 * i), "rate": int64(900 + i)}
			if i < differing {
				row["rate"] = int64(500 - i)
			}
			db.Rows["rates"] = append(db.Rows["rates"], row)
		}
		return db
	}
	for differing, want := range map[int]verdict.ColumnClass{0: verdict.ClassShared, 13: verdict.ClassUndecided} {
		if c := proposed(t, mustCheck(t, rules.Options{Propose: true}, world("a", 0), world("b", differing)), "rates.id"); c.Class != want {
			t.Errorf("with %d differing rows it is %s: %s", differing, c.Class, c.Evidence)
		}
	}
}
