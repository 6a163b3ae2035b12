package build_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/keys"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// BenchmarkWhois asks a target that remembers a space of 5 million keys, of which half were
// deleted, for one of them: connecting included, as each call of the tool does.
func BenchmarkWhois(b *testing.B) {
	for _, e := range []worldtest.Engine{
		{Name: "sqlite", Fresh: func(t testing.TB, name string) world.Database {
			return world.Database{Name: name, DSN: "sqlite:" + filepath.Join(t.TempDir(), name+".db")}
		}},
		{Name: "server", Fresh: func(t testing.TB, name string) world.Database {
			return world.Database{Name: name, DSN: "mysql:" + servertest.DSN(t)}
		}},
	} {
		for _, name := range []string{"dense", "half deleted", "a tenth left"} {
			b.Run(e.Name+"/"+name, func(b *testing.B) {
				target := e.Fresh(b, "s1")
				on := &world.Connection{Database: worldtest.There(b, target), Writes: true}
				defer on.Close()
				if _, err := on.Exec(b.Context(), "create", record.CreateKeys(on.Dialect()), false); err != nil {
					b.Fatal(err)
				}
				random := rand.New(rand.NewPCG(1, 2))
				k := &record.KeySet{Path: "0123456789abcdef0123456789abcdef.0", Source: "s2", Table: "items", Column: "id", Space: "items.id", Offset: 20_000_000, Keys: &keys.Set{Exact: true}}
				part := map[string]int{"dense": 1, "half deleted": 2, "a tenth left": 10}[name]
				last := uint64(0)
				for n := uint64(1); k.Keys.Len() < 5_000_000; n++ {
					if part == 1 || random.IntN(part) == 0 {
						k.Keys.Add(keys.Integer{Bits: n})
						last = n
					}
				}
				k.Keys.Finish()
				k.Range, _ = k.Keys.Range().Shift(k.Offset)
				if err := record.SaveKeys(b.Context(), on, k, time.Now()); err != nil {
					b.Fatal(err)
				}
				data, err := k.Keys.AppendBinary(nil)
				if err != nil {
					b.Fatal(err)
				}
				b.Run("whois", func(b *testing.B) {
					for b.Loop() {
						way, err := record.Whois(b.Context(), target, "items", keys.Integer{Bits: k.Offset + last})
						if err != nil || len(way) != 1 || way[0].Old.Bits != last {
							b.Fatal(way, err)
						}
					}
					b.ReportMetric(float64(len(data)), fmt.Sprintf("bytes/%dkeys", k.Keys.Len()))
				})
			})
		}
	}
}
