package keys

import (
	"fmt"
	"math"
	"strings"
)

// Words is a key whose parts are in several columns, each a decimal number of some bits:
//
//	words [card2, card3]             two words of 16 bits, the lowest in card2
//	words [card2, card3] be          the highest in card2
//	words [high, low] each=32 be     two words of 32 bits
//
// It reads one cell of each of its columns, in this order. The words are canonical numbers
// from 0. If all cells are empty (or NULL), there is no key; if some are, that is an error.
type Words struct {
	text    string
	columns []string
	each    int
	big     bool
}

// isWords reports whether a format is one for [ParseWords], and not for [Parse].
func isWords(text string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
	name, _, _ = strings.Cut(name, "[")
	return name == "words"
}

// ParseWords reads the format of a key in several columns. An error says what is wrong,
// where, and what would be right.
func ParseWords(text string) (*Words, error) {
	const right = "words [card2, card3] each=16 le (or be)"
	steps, err := readSteps(text)
	if err != nil {
		return nil, err
	}
	s := steps[0]
	s.last = true
	if s.name != "words" || len(steps) > 1 {
		s.fail(s.at, "words cannot be combined with other formats; right is: %s", right)
	}
	w := &Words{text: text, each: 16}
	if list := s.take("[]"); list != nil {
		seen := map[string]bool{}
		for name := range strings.SplitSeq(list.value, ",") {
			name = strings.Trim(name, " ")
			if name == "" || seen[name] {
				s.fail(list.at, "want names of different columns, with commas between")
			}
			seen[name] = true
			w.columns = append(w.columns, name)
		}
	}
	if each, given := s.number("each", 1, 32); given {
		w.each = int(each)
	}
	if len(w.columns) < 2 || len(w.columns)*w.each > 64 {
		s.fail(s.at, "want two or more columns, together at most 64 bits; right is: %s", right)
	}
	w.big = s.flag("be")
	if s.flag("le") && w.big {
		s.fail(s.at, "le and be exclude each other; right is: %s", right)
	}
	s.finish(right)
	return w, s.err
}

// String returns the text that was parsed.
func (w *Words) String() string { return w.text }

// Columns returns the names of the columns.
func (w *Words) Columns() []string { return w.columns }

// Key returns the key in the cells of a row, one for each column. Start and End of it are 0.
func (w *Words) Key(cells [][]byte) (k CellKey, ok bool, err error) {
	if len(cells) != len(w.columns) {
		return k, false, fmt.Errorf("want %d cells, but there are %d", len(w.columns), len(cells))
	}
	empty := 0
	for i, cell := range cells {
		if len(cell) == 0 {
			empty++
			continue
		}
		t := part{source: cell, to: len(cell)}
		v, _, err := digits{base: 10}.read(t)
		if err == nil && (v.Negative || v.Bits > w.most()) {
			err = t.fault(0, t.to, "want a number from 0 to %d", w.most())
		}
		if err != nil {
			return CellKey{}, false, fmt.Errorf("column %+q: %w", w.columns[i], err)
		}
		k.Value.Bits |= v.Bits << w.shift(i)
	}
	if empty > 0 && empty < len(cells) {
		return CellKey{}, false, fmt.Errorf("%d of the columns %s are empty, but others are not", empty, strings.Join(w.columns, ", "))
	}
	return k, empty == 0, nil
}

// Splice asks image for the new value of the key, and returns the cells with it. Words
// that stay as they are keep their cell; it never changes cells.
func (w *Words) Splice(cells [][]byte, image func(CellKey) (Integer, error)) ([][]byte, error) {
	k, ok, err := w.Key(cells)
	if err != nil {
		return nil, err
	}
	if !ok {
		return cells, nil
	}
	v, err := image(k)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", k.Value, err)
	}
	bits := len(cells) * w.each
	if v.Negative || v.Bits > math.MaxUint64>>(64-bits) {
		return nil, fmt.Errorf("key %s: new value %s: does not fit into %d bits", k.Value, v, bits)
	}
	out := make([][]byte, len(cells))
	for i, cell := range cells {
		out[i] = cell
		if word := v.Bits >> w.shift(i) & w.most(); word != k.Value.Bits>>w.shift(i)&w.most() {
			out[i] = []byte(Integer{Bits: word}.String())
		}
	}
	return out, nil
}

// sql is the key in the columns of a row.
func (w *Words) sql(quote func(string) string) string {
	words := make([]string, len(w.columns))
	for i, column := range w.columns {
		words[i] = fmt.Sprintf("(%s << %d)", quote(column), w.shift(i))
	}
	return "(" + strings.Join(words, " | ") + ")"
}

// most returns the largest number of a word.
func (w *Words) most() uint64 { return math.MaxUint64 >> (64 - w.each) }

// shift returns the lowest bit of a column's word.
func (w *Words) shift(column int) int {
	if w.big {
		column = len(w.columns) - 1 - column
	}
	return column * w.each
}
