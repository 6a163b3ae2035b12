package check

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// Contents sums up all rows of a table of one world, or only some. unread says why it cannot;
// "" if it could.
func (r *Reader) Contents(ctx context.Context, db *rules.Database, table string, only catalog.Withheld) (sum string, rows int64, unread string, err error) {
	if k := r.Facts.Rekeyed; k != nil && only == nil && k.Read.in[db].sums[table] != nil { // summed up when the keys were read
		return k.Read.in[db].sums[table].String(), db.Rows[table], "", nil
	}
	s := r.Stream(db, "contents", 0, catalog.Scan{Table: table, Only: only})
	all := sumOf(s)
	if unread, err = unreadable(s.Drain(ctx)); unread != "" || err != nil {
		return "", 0, unread, err
	}
	return all.String(), s.Read, "", nil
}

// sumOf makes a stream sum up its rows.
func sumOf(s *stream.Stream) *rowSum {
	all := &rowSum{columns: slice.Map(s.DB.Tables[s.Scan.Table].Columns, func(c catalog.Column) int { return s.Carry(c.Name) })}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			all.add(b, row)
		}
	})
	return all
}

// rowSum is the sum of the hashes of rows, in whatever order they come. Equal
// rows count as often as they are there.
type rowSum struct {
	high, low uint64
	columns   []int  // their places in Carry
	row       []byte // of the row at hand
}

func (s *rowSum) add(b *catalog.Batch, row int) {
	s.row = s.row[:0]
	for _, i := range s.columns {
		s.row = appendValue(s.row, b.Carry[i].At(row))
	}
	h := sha256.Sum256(s.row)
	var carry uint64
	s.low, carry = bits.Add64(s.low, binary.BigEndian.Uint64(h[8:]), 0)
	s.high, _ = bits.Add64(s.high, binary.BigEndian.Uint64(h[:]), carry)
}

// appendValue appends one more than the length, so that NULL is not an empty value, and the value.
func appendValue(row, v []byte) []byte {
	if v == nil {
		return binary.AppendUvarint(row, 0)
	}
	return append(binary.AppendUvarint(row, uint64(len(v))+1), v...)
}

func (s *rowSum) String() string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.high), s.low))
}
