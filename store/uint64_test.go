package store_test

import (
	"math"
	"strings"
	"testing"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

type flags uint64

type unsignedRow struct {
	ID    gameid.Of[unsignedRow] `db:"id"`
	Sum   uint64                 `db:"sum"`
	Flags flags                  `db:"flags"`
}

// MySQL takes numbers from 2^63 on, in a column for them; SQLite has none.
func TestUnsigned(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		ctx := t.Context()
		db := open(t, newDSN())
		big := map[store.Dialect]string{store.MySQL: "BIGINT UNSIGNED", store.SQLite: "BIGINT", store.PostgreSQL: "NUMERIC(20)"}[db.Dialect()]
		exec(t, db, "CREATE TABLE sums (id BINARY(10) NOT NULL PRIMARY KEY, sum "+big+" NOT NULL, flags "+big+" NOT NULL)")
		sums := store.MustTable[gameid.Of[unsignedRow], unsignedRow]("sums")
		for i, row := range []unsignedRow{{Sum: math.MaxInt64, Flags: 1}, {Sum: 1 << 63, Flags: math.MaxUint64}} {
			row.ID = storetest.ID[unsignedRow](i + 1)
			err := sums.Insert(ctx, db, row)
			if db.Dialect() == store.SQLite && row.Sum > math.MaxInt64 {
				if err == nil || !strings.Contains(err.Error(), "high bit set") {
					t.Errorf("SQLite: %v", err)
				}
				continue
			}
			must(t, err)
			if got, err := sums.Get(ctx, db, row.ID); got != row || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, row)
			}
		}
	})
}
