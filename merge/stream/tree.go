package stream

import (
	"context"
	"math"
)

// Position is a row of a stream, valid until the stream loads another batch
// but one.
type Position struct {
	Stream *Stream
	Row    int
}

// tree merges streams into one sequence: a loser tree, which finds the next
// row with one comparison per level.
type tree struct {
	streams []*Stream
	heads   []uint64 // of the current row of every stream
	losers  []int    // of every match; losers[0] is the winner of all
}

// MergeEqual reads streams to their end and calls equal for every row that has
// the same values in the first columns of the order as the row before it in the
// merged sequence: begins tells that the one before was not part of such a run
// yet. Equal rows come in the order of the streams. It opens the streams that
// are not open, and closes all.
func MergeEqual(ctx context.Context, streams []*Stream, columns int, equal func(before, row Position, begins bool) error) error {
	defer func() {
		for _, s := range streams {
			s.Close()
		}
	}()
	for i, s := range streams {
		s.Index = i
		if s.stop != nil {
			continue // open already
		}
		if err := s.Open(ctx); err != nil {
			return err
		}
	}
	if len(streams) == 0 {
		return nil
	}
	t := newTree(streams)
	var (
		before Position // the row that came last
		head   uint64   // and its head
		within bool     // it was equal to the one before
	)
	for {
		w := t.losers[0]
		s := t.streams[w]
		if s.Done {
			return nil
		}
		if h := t.heads[w]; h == head && before.Stream != nil && !s.apart(before.Stream, columns) && same(before, Position{s, s.row}, columns) {
			if err := equal(before, Position{s, s.row}, !within); err != nil {
				return err
			}
			within = true
		} else {
			head, within = h, false
		}
		before = Position{s, s.row}
		s.row++
		if s.row == len(s.heads) {
			if err := s.load(ctx); err != nil {
				return err
			}
			before.Row = lastRow
		}
		t.replay(w)
	}
}

// apart reports whether a row cannot be equal to the one before it, which is of
// the stream last, because both are of one stream that has no equal rows.
func (s *Stream) apart(last *Stream, columns int) bool {
	return s == last && s.Strict && columns == len(s.Scan.Order)
}

func same(a, b Position, columns int) bool {
	c, comparable := compareRows(a.Stream, a.Row, b.Stream, b.Row, columns)
	return c == 0 && comparable
}

func newTree(streams []*Stream) *tree {
	t := &tree{
		streams: streams,
		heads:   make([]uint64, len(streams)),
		losers:  make([]int, len(streams)),
	}
	for i := range streams {
		t.setHead(i)
	}
	t.losers[0] = t.play(1)
	return t
}

// play fills in the matches below a node and returns their winner. Node n has
// the nodes 2n and 2n+1 below it; those from len(streams) on are the streams.
func (t *tree) play(node int) int {
	if node >= len(t.streams) {
		return node - len(t.streams)
	}
	a, b := t.play(2*node), t.play(2*node+1)
	if t.less(b, a) {
		a, b = b, a
	}
	t.losers[node] = b
	return a
}

// replay repeats the matches of stream w, whose current row has changed.
func (t *tree) replay(w int) {
	t.setHead(w)
	for node := (w + len(t.streams)) / 2; node > 0; node /= 2 {
		l := t.losers[node]
		if hl, hw := t.heads[l], t.heads[w]; hl < hw || hl == hw && t.less(l, w) {
			t.losers[node], w = w, l
		}
	}
	t.losers[0] = w
}

func (t *tree) setHead(i int) {
	if s := t.streams[i]; s.Done {
		t.heads[i] = math.MaxUint64
	} else {
		t.heads[i] = s.heads[s.row]
	}
}

// less orders the current rows of two streams, those that are done last, and
// equal ones by the number of the stream.
func (t *tree) less(a, b int) bool {
	if t.heads[a] != t.heads[b] {
		return t.heads[a] < t.heads[b]
	}
	x, y := t.streams[a], t.streams[b]
	if x.Done || y.Done {
		return !x.Done || y.Done && a < b
	}
	c, _ := compareRows(x, x.row, y, y.row, len(x.Scan.Order))
	return c < 0 || c == 0 && a < b
}
