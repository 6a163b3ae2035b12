package world_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Who gets a page may give its rows other keys, while the next page is read already: that
// one follows the rows as they are in the database.
func TestPagesOfRowsThatChange(t *testing.T) {
	d := worldtest.SqliteIn(func(t testing.TB) string { return t.TempDir() }).Fresh(t, "s1")
	worldtest.Exec(t, d, "CREATE TABLE t (id INTEGER PRIMARY KEY)",
		"INSERT INTO t WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i FROM n")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the reader goes on when this goroutine waits, and not sooner
	synctest.Test(t, func(t *testing.T) {
		s, err := world.OpenWorld(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		on := &world.Connection{Database: d}
		defer on.Close()
		next, stop := world.Pages(t.Context(), on, world.NewLayout(on.Dialect(), s.Table("t")), nil, func() int { return 10 }, world.All, false)
		defer stop()
		rows, last := 0, false
		for !last {
			synctest.Wait() // one page is ready, and the next one waits to be taken
			for range 2 {
				p, err := next()
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range p.Rows {
					if rows++; row[0] != int64(rows) {
						t.Fatalf("row %d is %v", rows, row[0])
					}
					row[0] = int64(1000 + rows)
				}
				if last = p.Last; last {
					break
				}
			}
		}
		if rows != 200 {
			t.Errorf("%d rows, want 200", rows)
		}
	})
}

// Pages leave rows out as they are read, the same that SQL leaves out: a page has a row unless it is the last, and
// those that are left out are summed up once.
func TestPagesLeaveOut(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		d := e.Fresh(t, "s1")
		worldtest.Exec(t, d, "CREATE TABLE t (id INTEGER NOT NULL PRIMARY KEY, kind INTEGER, owner INTEGER, box INTEGER)")
		for i := range 60 {
			owner := map[bool]string{true: "NULL", false: fmt.Sprint(i % 7)}[i%11 == 0]
			worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %s, %d)", i, i%3, owner, i%5))
		}
		s := worldtest.OpenWorld(t, d)
		set := func(keyed ...int64) *keys.Set {
			all := &keys.Set{Exact: true}
			for _, n := range keyed {
				all.Add(keys.Signed(n))
			}
			all.Finish()
			return all
		}
		first := make([]int64, 45)
		for i := range first {
			first[i] = int64(i)
		}
		by := []*rules.Severed{
			{Table: "t", Column: "owner", To: "hero", Partly: true, None: []string{"0"}, When: &rules.When{Column: "kind", Is: []string{"1", "2"}}, Staying: set(0, 2, 3)},
			{Table: "t", Column: "box", To: "box", Partly: true, When: &rules.When{Column: "owner", Not: []string{"4"}}, Staying: set(1)},
		}
		for _, stays := range []*rules.Stays{{Table: "t", Key: "id", Keys: set(first...)}, {Table: "t", By: by}} {
			on := &world.Connection{Database: d, Stayed: new(world.Content), Withheld: map[string]string{"t": stays.SQL(s.Dialect.Quote) + " OR id = 50"},
				Sifted: map[string]world.Sifted{"t": {Rows: stays, Others: "id = 50"}}}
			l := world.NewLayout(on.Dialect(), s.Table("t"))
			var got []string
			err := world.EachPage(t.Context(), on, l, func(p *world.Page) error {
				if len(p.Rows) == 0 && !p.Last {
					t.Error("a page without rows")
				}
				for _, row := range p.Rows {
					got = append(got, fmt.Sprint(row[0]))
				}
				return nil
			})
			want, err2 := on.Texts(t.Context(), "SELECT CAST(id AS CHAR) FROM t WHERE "+on.Comes("t")+" ORDER BY id")
			if err := errors.Join(err, err2); err != nil || !slices.Equal(got, want) || on.Stayed.Rows != int64(59-len(want)) {
				t.Errorf("%v, %v: %d stayed\n%v, want\n%v", stays.Key, err, on.Stayed.Rows, got, want)
			}
			p, err := world.ReadPage(t.Context(), on, l, nil, 4, nil)
			if err != nil || len(p.Rows) == 0 || fmt.Sprint(p.Rows[0][0]) != want[0] {
				t.Errorf("%+v, %v", p, err)
			}
			s.Withhold([]catalog.Withheld{stays})
			var scanned []string
			for b, err := range s.Scan(t.Context(), catalog.Scan{Table: "t", Order: []catalog.Order{{Column: "id"}}, Carry: []string{"id"}}) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Len {
					if id := string(b.Carry[0].At(i)); id != "50" {
						scanned = append(scanned, id)
					}
				}
			}
			if !slices.Equal(scanned, want) {
				t.Errorf("scanned %v, want %v", scanned, want)
			}
			on.Close()
		}
	})
}
