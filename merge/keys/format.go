package keys

import (
	"fmt"
	"slices"
)

// Format says where the keys of a cell are, and how they are written there. [Parse] makes
// one. It may be used by several goroutines at a time.
type Format struct {
	text   string
	steps  []finder    // each reads the parts that the one before it found
	number notation    // how a number is written in the last parts
	bits   *bitsFormat // nil: the whole number is the key
}

// finder finds the parts of a text that a format is about, in their order.
type finder interface {
	find(t part) ([]part, error)
}

// notation is how a number is written.
type notation interface {
	// read returns the number that is the whole part; any is false if what is written
	// there says that there is none.
	read(t part) (v Integer, any bool, err error)
	// write returns the bytes that read reads as this number.
	write(v Integer) ([]byte, error)
	// most returns the largest number that can be written.
	most() uint64
}

// CellKey is a key in a cell.
type CellKey struct {
	Value      Integer
	Tag        uint64 // the bits of the tag, if the format has one
	Start, End int    // its bytes in the cell are cell[Start:End]
}

// spot is where a number is in a cell.
type spot struct {
	CellKey
	whole Integer // the number, of which the key may be some bits
	other bool    // it has another tag than the format wants
	at    part
}

// String returns the text that was parsed.
func (f *Format) String() string { return f.text }

// Keys returns the keys of a cell in the order in which they are written. An error says
// where the cell does not have the format.
func (f *Format) Keys(cell []byte) ([]CellKey, error) {
	spots, err := f.spots(cell)
	return keys(spots, false), err
}

// Others returns the numbers of a cell that the format is not about, since they have
// another tag than it says. Only a format with a tag has such.
func (f *Format) Others(cell []byte) ([]CellKey, error) {
	spots, err := f.spots(cell)
	return keys(spots, true), err
}

func keys(spots []spot, other bool) (all []CellKey) {
	for _, s := range spots {
		if s.other == other {
			all = append(all, s.CellKey)
		}
	}
	return all
}

func (f *Format) spots(cell []byte) ([]spot, error) {
	if len(cell) == 0 {
		return nil, nil
	}
	parts := []part{{source: cell, to: len(cell)}}
	for _, step := range f.steps {
		var next []part
		for _, t := range parts {
			if t.from == t.to {
				continue
			}
			found, err := step.find(t)
			if err != nil {
				return nil, err
			}
			if next == nil {
				next = found
			} else {
				next = append(next, found...)
			}
		}
		parts = next
	}
	spots := make([]spot, 0, len(parts))
	for _, t := range parts {
		v, any, err := f.number.read(t)
		if err != nil {
			return nil, err
		}
		if !any {
			continue
		}
		s := spot{CellKey: CellKey{Value: v, Start: t.position(t.from), End: t.position(t.to)}, whole: v, at: t}
		if s.End-s.Start != t.to-t.from {
			return nil, t.fault(t.from, t.to, "the number is written with escapes")
		}
		if f.bits != nil {
			s.Value, s.Tag, s.other = f.bits.take(v)
		}
		spots = append(spots, s)
	}
	return spots, nil
}

// Splice asks image for the new value of each key of a cell, and returns the cell with
// these values: all other bytes are as they were. If no value changes, it returns cell
// itself; it never changes cell. An error of image is returned with the key's position.
func (f *Format) Splice(cell []byte, image func(CellKey) (Integer, error)) ([]byte, error) {
	spots, err := f.spots(cell)
	if err != nil {
		return nil, err
	}
	var out []byte
	done := 0 // bytes of the cell that are in out
	for i := range spots {
		s := &spots[i]
		if s.other {
			s.Start, s.End = s.Start+len(out)-done, s.End+len(out)-done
			continue
		}
		v, err := image(s.CellKey)
		if err != nil {
			return nil, s.at.fault(s.at.from, s.at.to, "%w", err)
		}
		if v == s.Value {
			s.Start, s.End = s.Start+len(out)-done, s.End+len(out)-done
			continue
		}
		written, err := f.write(s, v)
		if err != nil {
			return nil, s.at.fault(s.at.from, s.at.to, "new value %s: %w", v, err)
		}
		out = append(append(out, cell[done:s.Start]...), written...)
		done = s.End
		s.Start, s.End = len(out)-len(written), len(out)
	}
	if done == 0 {
		return cell, nil
	}
	out = append(out, cell[done:]...)
	if err := f.check(out, spots); err != nil {
		return nil, err
	}
	return out, nil
}

// write returns the bytes for a new value of a key, and notes the value.
func (f *Format) write(s *spot, v Integer) (written []byte, err error) {
	whole := v
	if f.bits != nil {
		if whole, err = f.bits.put(s.whole, v); err != nil {
			return nil, err
		}
	}
	s.Value, s.whole = v, whole
	if written, err = f.number.write(s.whole); err != nil {
		return nil, err
	}
	if s.at.fixed && len(written) != s.End-s.Start {
		return nil, fmt.Errorf("needs %d bytes but has %d", len(written), s.End-s.Start)
	}
	return written, nil
}

// check reads what was written: the spots are what must be there.
func (f *Format) check(out []byte, want []spot) error {
	got, err := f.spots(out)
	if err != nil {
		return fmt.Errorf("with new values, the cell does not have the format: %w", err)
	}
	same := func(a, b spot) bool { return a.CellKey == b.CellKey && a.whole == b.whole && a.other == b.other }
	if !slices.EqualFunc(got, want, same) {
		return fmt.Errorf("with new values, the cell is %s, in which the format finds other keys", quote(out))
	}
	return nil
}

// part is a part of a cell, or of what a string in a cell says.
type part struct {
	source   []byte // what it is a part of
	from, to int
	places   []int // where each byte of the source, and its end, is in the cell; nil: at start+i
	start    int
	fixed    bool // it cannot change its length
}

func (t part) bytes() []byte { return t.source[t.from:t.to] }

// position returns where in the cell a byte of the source is.
func (t part) position(i int) int {
	if t.places != nil {
		return t.places[i]
	}
	return t.start + i
}

// sub returns a part of the same source.
func (t part) sub(from, to int) part {
	t.from, t.to = from, to
	return t
}

// field returns a part of a blob, which is not in a JSON string. It has nothing to do with
// the bytes beside it, and keeps its length.
func (t part) field(from, to int) part {
	return part{source: t.source[from:to], to: to - from, start: t.start + from, fixed: true}
}

// fault is an error about some bytes of the source.
func (t part) fault(from, to int, problem string, args ...any) error {
	return fmt.Errorf("byte %d: %s: %w", t.position(from), quote(t.source[from:to]), fmt.Errorf(problem, args...))
}

// quote makes some bytes printable, and says so if it leaves some out.
func quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%+q and %d more bytes", b[:most], len(b)-most)
	}
	return fmt.Sprintf("%+q", b)
}
