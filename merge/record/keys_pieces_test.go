package record_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"mergesafe/merge/keys"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A set that is kept in pieces is the same set when they are put together, each piece is of
// a moderate size, and one key is found by reading one piece.
func TestKeyPieces(t *testing.T) {
	for name, draw := range map[string]struct {
		keys   int
		key    func(i int, random *rand.Rand) keys.Integer
		pieces int // at least
	}{
		"none":             {0, nil, 1},
		"few":              {3, func(i int, _ *rand.Rand) keys.Integer { return keys.Signed(int64(i) - 1) }, 1},
		"many":             {2*record.PieceKeys + 5, func(i int, _ *rand.Rand) keys.Integer { return keys.Signed(int64(2*i) - record.PieceKeys) }, 3},
		"far apart":        {40_000, func(_ int, random *rand.Rand) keys.Integer { return keys.Integer{Bits: random.Uint64()} }, 2},
		"with the largest": {2, func(i int, _ *rand.Rand) keys.Integer { return keys.Integer{Bits: math.MaxUint64 - uint64(i)} }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
				random, want := rand.New(rand.NewPCG(3, 4)), make(map[keys.Integer]bool)
				k := &record.KeySet{Path: "m.0", Source: "s2", Table: "items", Column: "id", Space: "items.id", Offset: 5, Keys: &keys.Set{Exact: true}}
				for i := range draw.keys {
					n := draw.key(i, random)
					want[n] = true
					k.Keys.Add(n)
				}
				k.Keys.Finish()
				on := &world.Connection{Database: worldtest.There(t, e.Fresh(t, "s1")), Writes: true}
				defer on.Close()
				if _, err := on.Exec(t.Context(), "create", record.CreateKeys(on.Dialect()), false); err != nil {
					t.Fatal(err)
				}
				if err := record.SaveKeys(t.Context(), on, k, time.Now()); err != nil {
					t.Fatal(err)
				}
				if n := worldtest.Number(t, on.Database, "SELECT COUNT(*) FROM mergesafe_keys"); n < int64(draw.pieces) {
					t.Errorf("%d pieces, want %d", n, draw.pieces)
				}
				if n := worldtest.Number(t, on.Database, "SELECT MAX(LENGTH(data)) FROM mergesafe_keys"); n > record.PieceBytes {
					t.Errorf("a piece of %d bytes", n)
				}
				all, err := record.LoadKeys(t.Context(), on, "", nil)
				if err != nil || len(all) != 1 || !all[0].Keys.Equal(k.Keys) {
					t.Fatalf("the keys are others: %v", err)
				}
				some, err := record.ReadKeys(t.Context(), on, false, "", nil)
				if err != nil || len(some) != 1 {
					t.Fatal(err)
				}
				asks := []keys.Integer{{}, keys.Signed(-1), {Bits: math.MaxUint64}, keys.Signed(math.MinInt64)}
				for n := range k.Keys.All() {
					if random.IntN(1+draw.keys/200) == 0 {
						next, _ := n.Add(1)
						asks = append(asks, n, next)
					}
				}
				for _, n := range asks {
					if got, err := some[0].Has(t.Context(), on, n); err != nil || got != want[n] {
						t.Fatalf("%s: %v, %v", n, got, err)
					}
				}
			})
		})
	}
}
