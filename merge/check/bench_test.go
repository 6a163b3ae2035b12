package check_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// keys is a source with one table whose keys are in memory already, so that
// what is measured is the check itself.
type keys struct {
	name  string
	data  []byte // IDs in order
	batch int
	ends  []int // of a batch, to give the IDs as values of any length
	out   catalog.Batch
}

// interleaved makes n databases whose IDs alternate in time, as those of
// worlds that ran at the same time do.
func interleaved(n, rows int) []catalog.Source {
	sources := make([]catalog.Source, n)
	for s := range n {
		k := &keys{name: fmt.Sprintf("s%d", s+1), data: make([]byte, 0, rows*gameid.Size), batch: 4096}
		for i := range rows {
			ms := uint64(i*n + (s+i*7)%n)
			k.data = binary.BigEndian.AppendUint64(k.data, ms<<gameid.ServerBits|uint64(s+1))
			k.data = binary.BigEndian.AppendUint16(k.data, uint16(i))
		}
		sources[s] = k
	}
	return sources
}

func (k *keys) Name() string { return k.name }

func (k *keys) Catalog(context.Context) (*catalog.Catalog, error) {
	return &catalog.Catalog{
		Engine: "memory", HasRegistry: true, Now: time.Date(2500, 1, 1, 0, 0, 0, 0, time.UTC),
		Tables: []catalog.Table{{
			Name: "items", Primary: []string{"id"},
			Columns: []catalog.Column{{Name: "id", Type: "BINARY(10)", IsID: true}},
		}},
	}, nil
}

func (k *keys) Servers(context.Context) ([]catalog.Server, error) {
	var n gameid.ServerID
	fmt.Sscanf(k.name, "s%d", &n)
	return []catalog.Server{{Server: n, World: k.name, Own: true, Reserved: gameid.MaxMillis}}, nil
}

func (k *keys) Count(context.Context, string) (int64, error) {
	return int64(len(k.data) / gameid.Size), nil
}

func (k *keys) Scan(context.Context, catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	return func(yield func(*catalog.Batch, error) bool) {
		v := catalog.Vector{Width: gameid.Size}
		if k.ends != nil {
			v = catalog.Vector{Ends: k.ends}
		}
		k.out.Order = append(k.out.Order[:0], v)
		k.out.Carry = append(k.out.Carry[:0], v)
		for data := k.data; len(data) > 0; {
			k.out.Len = min(k.batch, len(data)/gameid.Size)
			k.out.Order[0].Data, k.out.Carry[0].Data = data, data
			if !yield(&k.out, nil) {
				return
			}
			data = data[k.out.Len*gameid.Size:]
		}
	}
}

func (k *keys) Row(context.Context, string, []string, [][]byte) ([]catalog.Field, error) {
	return []catalog.Field{{Column: "id"}}, nil
}

// BenchmarkKeys is the pass over the primary keys: its order is verified, its
// IDs are judged, and it is merged.
func BenchmarkKeys(b *testing.B) {
	for _, form := range []string{"fixed", "ends", "equal"} {
		for _, n := range []int{1, 2, 10} {
			b.Run(fmt.Sprintf("%s/sources=%d", form, n), func(b *testing.B) {
				const rows = 1 << 20
				sources := interleaved(max(n, 2), rows/n)
				for i, s := range sources {
					k := s.(*keys)
					switch {
					case i >= n:
						k.data = nil
					case form == "ends":
						for row := range k.batch {
							k.ends = append(k.ends, (row+1)*gameid.Size)
						}
					case form == "equal": // nothing but collisions
						k.data = sources[0].(*keys).data
					}
				}
				n := 0
				for b.Loop() {
					if _, err := merge.Check(context.Background(), sources, rules.Options{}); err != nil {
						b.Fatal(err)
					}
					n++
				}
				b.ReportMetric(float64(rows)*float64(n)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	}
}
