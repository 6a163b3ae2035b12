package merge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"mergesafe/internal/printable"
)

// stream reads one Scan and makes sure that it is what the merge relies on:
// well-formed batches, in ascending order.
type stream struct {
	db    *database
	scan  Scan
	index int // among the streams of its pass

	// strict tells that the database itself keeps the values unique, so that
	// two equal ones are a contradiction.
	strict bool

	// names is how many columns of Carry name a row; those after them are for
	// visit.
	names int

	// visit see every batch once, before its rows are merged. progress, if not
	// nil, is called after them.
	visit    []func(*Batch)
	progress func(rows int)

	unable error // why the rows cannot be read in that order
	broken error // what kept one of visit from its work

	next func() (*Batch, error, bool)
	stop func()

	batch *Batch
	heads []uint64 // one per row of batch; see head
	row   int      // the current one
	read  int64    // rows, those of batch included
	nulls int64    // of these, the ones with a NULL to order by
	done  bool
	ends  *keyRange // of the rows as the database has them, if they were sorted again
	first savedRow  // of all
	last  savedRow  // of the batch before
}

// savedRow is a copy of the last row of a batch that is no longer valid.
type savedRow struct {
	order, carry savedValues
}

// savedValues are the columns of one row, kept like the rows of one column.
type savedValues Vector

func (s *savedValues) save(vectors []Vector, row int) {
	s.Data, s.Ends, s.Null = s.Data[:0], s.Ends[:0], s.Null[:0]
	for i := range vectors {
		s.Data = append(s.Data, vectors[i].At(row)...)
		s.Ends = append(s.Ends, len(s.Data))
		s.Null = append(s.Null, vectors[i].IsNull(row))
	}
}

func (s *savedValues) at(column int) []byte { return (*Vector)(s).At(column) }

// open begins to read. Until close is called no other Scan of the same source
// may be open.
func (s *stream) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return s.fail(err)
	}
	if s.unable != nil {
		return s.fail(s.unable)
	}
	s.next, s.stop = iter.Pull2(s.rows(ctx))
	return s.load(ctx)
}

func (s *stream) close() {
	if s.stop != nil {
		s.stop()
	}
}

func (s *stream) fail(err error) error {
	return &ReadError{Source: s.db.name, Table: s.scan.Table, Doing: "rows", Err: err}
}

// lastRow stands for the row before the first of the current batch.
const lastRow = -1

// load replaces the batch by the next one that has rows in it. At the end of
// the rows it sets done.
func (s *stream) load(ctx context.Context) error {
	if s.batch != nil {
		s.last.order.save(s.batch.Order, s.batch.Len-1)
		s.last.carry.save(s.batch.Carry, s.batch.Len-1)
		s.batch = nil
	}
	for {
		b, err, ok := s.next()
		// A source that gives up when ctx ends may look like one that is done.
		if ctxErr := ctx.Err(); ctxErr != nil {
			return s.fail(ctxErr)
		}
		if err != nil {
			return s.fail(err)
		}
		if !ok {
			s.done = true
			return nil
		}
		if b == nil || b.Len < 0 {
			return s.fail(errors.New("the source returned no batch and no error"))
		}
		if b.Len > 0 {
			return s.take(b)
		}
	}
}

func (s *stream) take(b *Batch) error {
	if err := b.validate(s.scan); err != nil {
		return s.fail(err)
	}
	s.batch, s.row = b, 0
	sorted := len(s.scan.Order) > 0 && !s.scan.Unsorted
	if sorted {
		s.heads = appendHeads(s.heads[:0], &b.Order[0], b.Len)
	}
	first := s.read
	if first == 0 {
		s.first.carry.save(b.Carry, 0)
	}
	s.read += int64(b.Len)
	s.nulls += b.nulls()
	if sorted {
		if err := s.ascends(first); err != nil {
			return s.fail(err)
		}
	}
	for _, visit := range s.visit {
		visit(b)
	}
	if s.broken != nil {
		return s.fail(s.broken)
	}
	if s.progress != nil {
		s.progress(b.Len)
	}
	return nil
}

// drain reads an unopened stream to its end, for those who visit it.
func (s *stream) drain(ctx context.Context) error {
	defer s.close()
	if err := s.open(ctx); err != nil {
		return err
	}
	for !s.done {
		if err := s.load(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ascends makes sure that every row of the batch sorts after the row before
// it. first is the number of rows that were read before the batch.
func (s *stream) ascends(first int64) error {
	i := 0
	if first == 0 {
		i = 1
	}
	values := &s.batch.Order[0]
	for ; i < s.batch.Len; i++ {
		if i > 0 && (s.heads[i] > s.heads[i-1] || values.Null == nil && bytes.Compare(values.At(i-1), values.At(i)) < 0) {
			continue
		}
		switch c, comparable := compareRows(s, i-1, s, i, len(s.scan.Order)); {
		case c > 0:
			return fmt.Errorf("row %s sorts before the row ahead of it: the database did not keep the requested order",
				printable.Number(first+int64(i)+1))
		case c == 0 && comparable && s.strict:
			return fmt.Errorf("row %s has the same %s as the row ahead of it, which the database itself rules out: its index is damaged, or the rows changed while they were read",
				printable.Number(first+int64(i)+1), columnList(orderColumns(s.scan.Order)))
		}
	}
	return nil
}

func (s *stream) order(column, row int) []byte {
	if row == lastRow {
		return s.last.order.at(column)
	}
	return s.batch.Order[column].At(row)
}

// carry makes the rows bring a column along, and returns its place in Carry.
func (s *stream) carry(column string) int {
	i := slices.Index(s.scan.Carry, column)
	if i < 0 {
		i = len(s.scan.Carry)
		s.scan.Carry = append(s.scan.Carry, column)
	}
	return i
}

// carriedAt returns what the row brought along in one column.
func (s *stream) carriedAt(column, row int) []byte {
	if row == lastRow {
		return s.last.carry.at(column)
	}
	return s.batch.Carry[column].At(row)
}

// carried returns a copy of all that the row brought along.
func (s *stream) carried(row int) [][]byte {
	values := make([][]byte, len(s.scan.Carry))
	for i := range values {
		values[i] = bytes.Clone(s.carriedAt(i, row))
	}
	return values
}

// compareRows orders two rows by their first columns. They are comparable
// unless a NULL is in them, for NULL is equal to nothing, though it has its
// place in the order.
func compareRows(a *stream, i int, b *stream, j int, columns int) (order int, comparable bool) {
	comparable = true
	for column := range columns {
		x, y := a.order(column, i), b.order(column, j)
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
func appendHeads(heads []uint64, v *Vector, n int) []uint64 {
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

// validate makes sure that the batch has the shape that its Scan asked for,
// so that a mistake in a Source is an error and not a panic or a wrong count.
func (b *Batch) validate(scan Scan) error {
	if len(b.Order) != len(scan.Order) || len(b.Carry) != len(scan.Carry) {
		return fmt.Errorf("the source returned %d and %d columns, want %d to order by and %d to carry",
			len(b.Order), len(b.Carry), len(scan.Order), len(scan.Carry))
	}
	for i := range b.Order {
		if !b.Order[i].holds(b.Len) {
			return fmt.Errorf("the source returned a malformed column %q", scan.Order[i].Column)
		}
	}
	if scan.SkipNull && b.nulls() > 0 {
		return errors.New("the source returned a NULL, which the scan leaves out")
	}
	for i := range b.Carry {
		if !b.Carry[i].holds(b.Len) {
			return fmt.Errorf("the source returned a malformed column %q", scan.Carry[i])
		}
	}
	return nil
}

// nulls counts the rows with a NULL in a column to order by.
func (b *Batch) nulls() (n int64) {
	if !slices.ContainsFunc(b.Order, func(v Vector) bool { return v.Null != nil }) {
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
func (v *Vector) holds(n int) bool {
	if v.Null != nil && len(v.Null) < n {
		return false
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
