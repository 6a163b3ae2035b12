package world

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// The numbers of players are what they are declared: a unique column, in which
// NULL is no value. Where their sequences stand is no table of the game.
func TestStoreNumbers(t *testing.T) {
	t.Parallel()
	for name, newDSN := range map[string]func(*testing.T) string{
		"sqlite":  func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "s.db") },
		"mariadb": func(t *testing.T) string { return "mysql:" + servertest.DSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			check := func(worlds ...[]number.Number) verdict.Result {
				t.Helper()
				var sources []catalog.Source
				for i, has := range worlds {
					dsn := newDSN(t)
					fillWorld(t, dsn, gameid.ServerID(7+i), has)
					s, err := Open(t.Context(), fmt.Sprint("s", 7+i), dsn)
					if err != nil {
						t.Fatal(err)
					}
					defer s.Close()
					sources = append(sources, s)
				}
				report, err := mergeCheck(t.Context(), sources, rules.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var found verdict.Result
				for _, r := range report.Results {
					if r.Table == sqldb.NumbersTable {
						t.Errorf("%s is taken for a table of the game: %+v", r.Table, r)
					}
					if r.Code == verdict.CodeUniqueCollision && r.Table == "players" && r.Subject != "name" {
						found = r
					}
				}
				return found
			}
			if r := check([]number.Number{0, 0, 10_084_213}, []number.Number{0, 10_084_214, 0}); r.Verdict != verdict.Pass || r.Read != 2 {
				t.Errorf("different numbers: %+v", r)
			}
			if r := check([]number.Number{0, 10_084_213}, []number.Number{0, 10_084_213}); r.Verdict != verdict.Fail || r.Count != 1 {
				t.Errorf("the same number: %+v", r)
			}
		})
	}
}

// fillWorld makes the database of a world whose players have the numbers.
func fillWorld(t *testing.T, dsn string, server gameid.ServerID, has []number.Number) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(t.Context(), dsn)
	must(err)
	defer db.Close()
	must(storetest.Create(t.Context(), db))
	node, err := db.OpenNode(t.Context(), server, storetest.NodeOptions)
	must(err)
	defer node.Close()
	sequence, err := numbers.Open(t.Context(), db.Registry(), server, "player", numbers.Options{})
	must(err)
	must(sequence.Close())
	ids := gameid.NewGenerator[entity.Player](node)
	now := entity.Time(time.Now())
	for i, n := range has {
		p := entity.Player{Account: "a", Name: fmt.Sprint(server, "-", i), Level: 1, CreatedAt: now, UpdatedAt: now, Number: n}
		p.ID, err = ids.Next()
		must(err)
		must(starter.Players.Insert(t.Context(), db, p))
	}
}
