package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// Stream reads one Scan and makes sure that it is what the merge relies on:
// well-formed batches, in ascending order.
type Stream struct {
	DB    *rules.Database
	Scan  catalog.Scan
	Index int // among the streams of its pass

	// Strict tells that the database itself keeps the values unique, so that
	// two equal ones are a contradiction.
	Strict bool

	// Names is how many columns of Carry name a row; those after them are for
	// visit.
	Names int

	// Visit see every batch once, before its rows are merged. progress, if not
	// nil, is called after them.
	Visit    []func(*catalog.Batch)
	Progress func(rows int)

	Unable error // why the rows cannot be read in that order
	Broken error // what kept one of visit from its work

	next func() (*catalog.Batch, error, bool)
	stop func()

	Batch *catalog.Batch
	heads []uint64 // one per row of batch; see head
	row   int      // the current one
	Read  int64    // rows, those of batch included
	Nulls int64    // of these, the ones with a NULL to order by
	Done  bool
	Ends  *KeyRange // of the rows as the database has them, if they were sorted again
	First savedRow  // of all
	Last  savedRow  // of the batch before
}

// savedRow is a copy of the last row of a batch that is no longer valid.
type savedRow struct {
	order, Carry savedValues
}

// savedValues are the columns of one row, kept like the rows of one column.
type savedValues catalog.Vector

func (s *savedValues) save(vectors []catalog.Vector, row int) {
	s.Data, s.Ends, s.Null = s.Data[:0], s.Ends[:0], s.Null[:0]
	for i := range vectors {
		s.Data = append(s.Data, vectors[i].At(row)...)
		s.Ends = append(s.Ends, len(s.Data))
		s.Null = append(s.Null, vectors[i].IsNull(row))
	}
}

func (s *savedValues) At(column int) []byte { return (*catalog.Vector)(s).At(column) }

// Open begins to read. Until close is called no other Scan of the same source
// may be open.
func (s *Stream) Open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return s.Fail(err)
	}
	if s.Unable != nil {
		return s.Fail(s.Unable)
	}
	s.next, s.stop = iter.Pull2(s.rows(ctx))
	return s.load(ctx)
}

func (s *Stream) Close() {
	if s.stop != nil {
		s.stop()
	}
}

func (s *Stream) Fail(err error) error {
	return &catalog.ReadError{World: s.DB.Name, Table: s.Scan.Table, Doing: "rows", Err: err}
}

// lastRow stands for the row before the first of the current batch.
const lastRow = -1

// load replaces the batch by the next one that has rows in it. At the end of
// the rows it sets done.
func (s *Stream) load(ctx context.Context) error {
	if s.Batch != nil {
		s.Last.order.save(s.Batch.Order, s.Batch.Len-1)
		s.Last.Carry.save(s.Batch.Carry, s.Batch.Len-1)
		s.Batch = nil
	}
	for {
		b, err, ok := s.next()
		// A source that gives up when ctx ends may look like one that is done.
		if ctxErr := ctx.Err(); ctxErr != nil {
			return s.Fail(ctxErr)
		}
		if err != nil {
			return s.Fail(err)
		}
		if !ok {
			if s.Done = true; s.DB.Rows != nil && s.whole() {
				s.DB.Rows[s.Scan.Table] = s.Read
			}
			return nil
		}
		if b == nil || b.Len < 0 {
			return s.Fail(errors.New("the source returned no batch and no error"))
		}
		if b.Len > 0 {
			return s.take(b)
		}
	}
}

// whole reports whether it reads all rows that the source does not withhold.
func (s *Stream) whole() bool {
	return s.Scan.Most == 0 && s.Scan.Only == nil && s.Scan.Dangling == nil && !s.Scan.SkipNull
}

func (s *Stream) take(b *catalog.Batch) error {
	if err := Validate(b, s.Scan); err != nil {
		return s.Fail(err)
	}
	s.Batch, s.row = b, 0
	sorted := len(s.Scan.Order) > 0 && !s.Scan.Unsorted
	if sorted {
		s.heads = appendHeads(s.heads[:0], &b.Order[0], b.Len)
	}
	first := s.Read
	if first == 0 {
		s.First.Carry.save(b.Carry, 0)
	}
	s.Read += int64(b.Len)
	s.Nulls += nulls(b)
	if sorted {
		if err := s.ascends(first); err != nil {
			return s.Fail(err)
		}
	}
	for _, visit := range s.Visit {
		visit(b)
	}
	if s.Broken != nil {
		return s.Fail(s.Broken)
	}
	if s.Progress != nil {
		s.Progress(b.Len)
	}
	return nil
}

// Drain reads an unopened stream to its end, for those who visit it.
func (s *Stream) Drain(ctx context.Context) error {
	defer s.Close()
	if err := s.Open(ctx); err != nil {
		return err
	}
	for !s.Done {
		if err := s.load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ascends makes sure that every row of the batch sorts after the row before
// it. first is the number of rows that were read before the batch.
func (s *Stream) ascends(first int64) error {
	i := 0
	if first == 0 {
		i = 1
	}
	values := &s.Batch.Order[0]
	for ; i < s.Batch.Len; i++ {
		if i > 0 && (s.heads[i] > s.heads[i-1] || values.Null == nil && bytes.Compare(values.At(i-1), values.At(i)) < 0) {
			continue
		}
		switch c, comparable := compareRows(s, i-1, s, i, len(s.Scan.Order)); {
		case c > 0:
			return fmt.Errorf("row %s sorts before the row ahead of it: the database did not return the requested order",
				printable.Number(first+int64(i)+1))
		case c == 0 && comparable && s.Strict:
			return fmt.Errorf("row %s has the same %s as the row ahead of it, which should be impossible: an index is damaged, or the rows changed while they were read",
				printable.Number(first+int64(i)+1), catalog.ColumnList(catalog.OrderColumns(s.Scan.Order)))
		}
	}
	return nil
}

func (s *Stream) Order(column, row int) []byte {
	if row == lastRow {
		return s.Last.order.At(column)
	}
	return s.Batch.Order[column].At(row)
}

// Carry makes the rows bring a column along, and returns its place in Carry.
func (s *Stream) Carry(column string) int {
	return s.Scan.Bring(column)
}

// CarriedAt returns what the row brought along in one column.
func (s *Stream) CarriedAt(column, row int) []byte {
	if row == lastRow {
		return s.Last.Carry.At(column)
	}
	return s.Batch.Carry[column].At(row)
}

// Carried returns a copy of all that the row brought along.
func (s *Stream) Carried(row int) [][]byte {
	values := make([][]byte, len(s.Scan.Carry))
	for i := range values {
		values[i] = bytes.Clone(s.CarriedAt(i, row))
	}
	return values
}

// compareRows orders two rows by their first columns. They are comparable
// unless a NULL is in them, for NULL is equal to nothing, though it has its
// place in the order.
func compareRows(a *Stream, i int, b *Stream, j int, columns int) (order int, comparable bool) {
	comparable = true
	for column := range columns {
		x, y := a.Order(column, i), b.Order(column, j)
		switch {
		case x == nil && y == nil:
			comparable = false
		case x == nil:
			return -1, true
		case y == nil:
			return 1, true
		default:
			if c := bytes.Compare(x, y); c != 0 {
				return c, true
			}
		}
	}
	return 0, comparable
}

// appendHeads appends the head of every value: its first 8 bytes as a number,
// padded with zeros. Heads that differ order the values; equal heads tell
// nothing. Most comparisons need no more than the heads, whatever the type of
// the column.
func appendHeads(heads []uint64, v *catalog.Vector, n int) []uint64 {
	if v.Width >= 8 && v.Null == nil {
		data := v.Data
		for range n {
			heads = append(heads, binary.BigEndian.Uint64(data))
			data = data[v.Width:]
		}
		return heads
	}
	for i := range n {
		var padded [8]byte
		copy(padded[:], v.At(i))
		heads = append(heads, binary.BigEndian.Uint64(padded[:]))
	}
	return heads
}

// Validate makes sure that the batch has the shape that its Scan asked for,
// so that a mistake in a Source is an error and not a panic or a wrong count.
func Validate(b *catalog.Batch, scan catalog.Scan) error {
	if len(b.Order) != len(scan.Order) || len(b.Carry) != len(scan.Carry) {
		return fmt.Errorf("the source returned %d and %d columns, want %d to order by and %d to carry",
			len(b.Order), len(b.Carry), len(scan.Order), len(scan.Carry))
	}
	for i := range b.Order {
		if !holds(&b.Order[i], b.Len) {
			return fmt.Errorf("the source returned a malformed column %q", scan.Order[i].Column)
		}
	}
	if scan.SkipNull && nulls(b) > 0 {
		return errors.New("the source returned a NULL, which the scan leaves out")
	}
	for i := range b.Carry {
		if !holds(&b.Carry[i], b.Len) {
			return fmt.Errorf("the source returned a malformed column %q", scan.Carry[i])
		}
	}
	return nil
}

// nulls counts the rows with a NULL in a column to order by.
func nulls(b *catalog.Batch) (n int64) {
	if !slices.ContainsFunc(b.Order, func(v catalog.Vector) bool { return v.Null != nil }) {
		return 0
	}
	for row := range b.Len {
		for i := range b.Order {
			if b.Order[i].IsNull(row) {
				n++
				break
			}
		}
	}
	return n
}

// holds reports whether v has n values.
func holds(v *catalog.Vector, n int) bool {
	if v.Null != nil && len(v.Null) < n {
		return false
	}
	if v.Numbers != nil {
		return len(v.Numbers) >= n
	}
	if v.Width != 0 {
		return v.Width > 0 && len(v.Data)/v.Width >= n
	}
	if len(v.Ends) < n {
		return false
	}
	end := 0
	for _, e := range v.Ends[:n] {
		if e < end || e > len(v.Data) {
			return false
		}
		end = e
	}
	return true
}
