package store_test

import (
	"testing"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/sqlsource"
	"mergesafe/number"
	"mergesafe/store"
)

// A check before a merge takes the numbers of players for what they are: a
// unique column, in which NULL is no value.
func TestNumbersMerge(t *testing.T) {
	onBoth(t, func(t *testing.T, newDSN func() string) {
		check := func(numbers ...[]number.Number) merge.Result {
			t.Helper()
			var sources []merge.Source
			for i, of := range numbers {
				dsn := newDSN()
				db := withTables(t, dsn)
				server := gameid.ServerID(7 + i)
				ran(t, db, server)
				must(t, db.Registry().SetName(t.Context(), server, "s"))
				for j, n := range of {
					p := player(1)
					p.ID, p.Number = idOf[entity.Player](server, born, j), n
					p.Name = string(rune('a'+i)) + string(rune('a'+j))
					must(t, store.Players.Insert(t.Context(), db, p))
				}
				// The sequences of both worlds have rows in the databases.
				take(t, sequence(func(o store.NumbersOptions) (*store.Numbers, error) {
					return db.OpenNumbers(t.Context(), server, "player", o)
				}).open(t, store.NumbersOptions{}), 1)
				s, err := sqlsource.Open(t.Context(), string(rune('a'+i)), dsn)
				must(t, err)
				t.Cleanup(func() { s.Close() })
				sources = append(sources, s)
			}
			report, err := merge.Check(t.Context(), sources, merge.Options{})
			must(t, err)
			for _, r := range report.Results {
				if r.Table == store.NumbersTable {
					t.Errorf("%s is taken for a table of the game: %+v", r.Table, r)
				}
			}
			for _, r := range report.Results {
				if r.Code == merge.CodeUniqueCollision && r.Table == "players" && r.Subject != "name" {
					return r
				}
			}
			t.Fatal("the check does not know the numbers")
			return merge.Result{}
		}
		if r := check([]number.Number{0, 0, 10_084_213}, []number.Number{0, 10_084_214, 0}); r.Verdict != merge.Pass || r.Read != 2 {
			t.Errorf("different numbers: %+v", r)
		}
		if r := check([]number.Number{0, 10_084_213}, []number.Number{0, 10_084_213}); r.Verdict != merge.Fail || r.Count != 1 {
			t.Errorf("the same number: %+v", r)
		}
	})
}
