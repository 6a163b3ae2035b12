package check_test

import (
	"strings"
	"testing"

	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A table that is the same everywhere is told apart from one in which rows are
// in each other's way. It fails all the same.
func TestAlike(t *testing.T) {
	for name, test := range map[string]struct {
		plant func(a, b, c *mergetest.Database)
		want  bool
	}{
		"the same":     {func(a, b, c *mergetest.Database) {}, true},
		"one is empty": {func(a, b, c *mergetest.Database) { b.Rows["guild"] = nil }, true},
		"another row":  {func(a, b, c *mergetest.Database) { c.Rows["guild"][1]["leader"] = int64(9) }, false},
		"a row more": {func(a, b, c *mergetest.Database) {
			c.Rows["guild"] = append(c.Rows["guild"], mergetest.Row{"id": int64(9), "name": "x"})
		}, false},
		"nothing in common":   {func(a, b, c *mergetest.Database) { a.Rows["guild"], b.Rows["guild"] = nil, nil }, false},
		"another in one only": {func(a, b, c *mergetest.Database) { b.Rows["guild"][0]["id"] = int64(8) }, false},
	} {
		dbs := []*mergetest.Database{game("a", 1, 2), game("b", 11, 2), game("c", 21, 2)}
		for _, db := range dbs {
			db.Schema.Tables[1].Uniques = []catalog.Unique{{Name: "n", Columns: []string{"name"}}}
			db.Rows["guild"] = []mergetest.Row{{"id": int64(1), "name": "Orcs", "leader": int64(0)}, {"id": int64(2), "name": "Elves", "leader": int64(0)}}
		}
		test.plant(dbs[0], dbs[1], dbs[2])
		report := mustCheck(t, rules.Options{}, dbs...)
		for _, code := range []string{verdict.CodeKeyCollision, verdict.CodeUniqueCollision} {
			r := find(report, code, "guild", "")[0]
			if r.Alike != test.want || r.Alike && r.Verdict != verdict.Fail {
				t.Errorf("%s, %s: alike %v, want %v; %s", name, code, r.Alike, test.want, r.Message)
			}
		}
		if text := strings.Join(strings.Fields(textOf(report)), " "); strings.Contains(text, "the game's own data? guild") != test.want {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// A unique index without NULLs does for a key; one with NULLs does not.
func TestTableWithoutPrimaryKey(t *testing.T) {
	dbs := func(nullable bool) (a, b *mergetest.Database) {
		a, b = game("a", 1, 5), game("b", 101, 5)
		for _, db := range []*mergetest.Database{a, b} {
			pets := &db.Schema.Tables[2]
			pets.Uniques = []catalog.Unique{{Name: "owner_name", Columns: []string{"owner", "name"}}}
			pets.Columns[1].Nullable = nullable
		}
		b.Rows["pets"][0]["owner"] = int64(3)
		return a, b
	}
	a, b := dbs(false)
	report := mustCheck(t, rules.Options{}, a, b)
	if r := find(report, verdict.CodeKeyCollision, "pets", "")[0]; r.Count != 1 || r.Subject != "(owner, name)" || len(r.Samples) != 1 {
		t.Errorf("got %+v, want 1 key (owner, name)", r)
	}
	if again := find(report, verdict.CodeUniqueCollision, "pets", ""); len(again) > 0 {
		t.Errorf("the same index twice: %+v", again)
	}
	// Without one, rows are only there more often: nothing can collide. What the index says is checked.
	a, b = dbs(true)
	report = mustCheck(t, rules.Options{}, a, b)
	r := find(report, verdict.CodeKeyCollision, "pets", "")[0]
	if r.Verdict != verdict.Pass || r.Read != 10 || !strings.HasPrefix(r.Message, "the table has no primary key, and its unique index (owner, name) leaves out rows with NULL: its rows are merged as they are") {
		t.Errorf("got %+v, want PASS", r)
	}
	if r := find(report, verdict.CodeUniqueCollision, "pets", "(owner, name)")[0]; r.Count != 1 {
		t.Errorf("got %+v, want 1 value", r)
	}
}

// Keys that are equal within one database are so by the collation of a column only if a world compares that otherwise: the
// key of a world may have further columns.
func TestKeysWithinOneDatabase(t *testing.T) {
	for other, want := range map[string]string{
		mergetest.NoCase: "1 is within one database",
		mergetest.Binary: "1 is within one database, as the first world's collation of name compares",
	} {
		a, b := game("a", 1, 5), game("b", 101, 5)
		for _, db := range []*mergetest.Database{a, b} {
			pets := &db.Schema.Tables[2]
			pets.Primary, pets.Columns = []string{"owner", "name"}, append(pets.Columns, number("slot"))
			for i, row := range db.Rows["pets"] {
				row["slot"] = int64(i)
			}
		}
		pets := &b.Schema.Tables[2]
		if pets.Columns[1].Collation = other; other == mergetest.NoCase {
			pets.Primary = append(pets.Primary, "slot")
		}
		b.Rows["pets"][1]["owner"], b.Rows["pets"][1]["name"] = int64(101), "REX"
		if r := find(mustCheck(t, rules.Options{}, a, b), verdict.CodeKeyCollision, "pets", "")[0]; r.Count != 1 || !strings.HasSuffix(r.Message, "; "+want) {
			t.Errorf("%q: %+v", other, r)
		}
	}
}
