package world

import (
	"database/sql/driver"
	"fmt"
	"io"
	"testing"
)

// repeated are rows that are all there already.
type repeated struct {
	rows [][]driver.Value
	at   int
}

func (r *repeated) Columns() []string { return nil }
func (r *repeated) Close() error      { return nil }

func (r *repeated) Next(dest []driver.Value) error {
	if r.at == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.at])
	r.at++
	return nil
}

// BenchmarkFill is what a row costs besides the driver: one operation is a row.
func BenchmarkFill(b *testing.B) {
	var weights weight
	for c := range weights.quick {
		weights.quick[c] = uint16(c + 1)
	}
	keys, names := &repeated{}, &repeated{}
	for i := range batchRows {
		keys.rows = append(keys.rows, []driver.Value{fmt.Appendf(nil, "%010d", i)})
		names.rows = append(names.rows, []driver.Value{fmt.Appendf(nil, "Name%d", i), nil})
	}
	for _, bb := range []struct {
		name string
		rows *repeated
		q    query
	}{
		{"keys", keys, query{columns: []vector{{encode: encodeRaw, plain: true}}}},
		{"names", names, query{columns: []vector{{encode: weights.encodeASCII, instead: 1, encodeInstead: weights.encode}}}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			buffer := bb.q.buffer()
			dest := make([]driver.Value, len(bb.rows.rows[0]))
			for n := 0; n < b.N; n += buffer.rows {
				buffer.reset()
				bb.rows.at = 0
				if _, err := buffer.fill(bb.rows, dest, new(int), nil); err != nil || buffer.rows == 0 {
					b.Fatal(buffer.rows, err)
				}
			}
		})
	}
}
