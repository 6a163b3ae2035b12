package record_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mergesafe/merge/keys"
	"mergesafe/merge/worldtest"
)

// The condition that a column has a key of a set holds for its keys and no others, and is never NULL: of sets that
// lie close together, far apart and below 0, in each database.
func TestSetSQL(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		d := e.Fresh(t, "s1")
		worldtest.Exec(t, d, "CREATE TABLE n (id INTEGER NOT NULL PRIMARY KEY, v BIGINT)", "INSERT INTO n VALUES (0, NULL)")
		random := rand.New(rand.NewPCG(1, 2))
		values, rows := map[int64]bool{}, []string{}
		add := func(v int64) {
			if !values[v] {
				values[v] = true
				rows = append(rows, fmt.Sprintf("(%d, %d)", len(values), v))
			}
		}
		for range 3000 {
			add(random.Int64N(70_000))
			add(1<<16*random.Int64N(9) + random.Int64N(1<<16))
			add(random.Int64N(1<<40) - 1<<39)
		}
		for _, v := range []int64{-1 << 63, 1<<63 - 1, 0, -1, 65535, 65536, 1 << 62} {
			add(v)
		}
		worldtest.Exec(t, d, "INSERT INTO n VALUES "+strings.Join(rows, ", "))
		db := worldtest.Pool(t, d)
		defer db.Close()
		for _, density := range []int{0, 1, 5, 50, 99, 100} {
			set := &keys.Set{Exact: true}
			for chunk := range int64(8) { // full, or nearly so, as they are in a game
				for n := range int64(1 << 16) {
					if int64(density)*(chunk+1)/8 > random.Int64N(100) {
						set.Add(keys.Signed(chunk<<16 + n))
					}
				}
			}
			for v := range values {
				if random.IntN(100) < density {
					set.Add(keys.Signed(v))
				}
			}
			set.Finish()
			again := new(keys.Set)
			if text, err := set.MarshalText(); err != nil || again.UnmarshalText(text) != nil || !again.Equal(set) {
				t.Fatalf("a set of %d keys is not the same when it was written: %v", set.Len(), err)
			}
			want, got, condition := 0, 0, again.SQL("v")
			for v := range values {
				if set.Has(keys.Signed(v)) {
					want++
				}
			}
			for _, row := range worldtest.ReadCell(t, db, "SELECT v FROM n WHERE "+condition) {
				if n, _ := keys.ParseInteger([]byte(row[0])); !set.Has(n) {
					t.Errorf("density %d: %s is no key", density, row[0])
				}
				got++
			}
			if got != want {
				t.Errorf("density %d: %d of %d keys", density, got, want)
			}
			if rest := worldtest.ReadCell(t, db, "SELECT COUNT(*) FROM n WHERE NOT "+condition); rest[0][0] != fmt.Sprint(len(values)+1-want) {
				t.Errorf("density %d: %s rows are not in the set, want %d", density, rest[0][0], len(values)+1-want)
			}
		}
	})
}
