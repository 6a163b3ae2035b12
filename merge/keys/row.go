package keys

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Row is a format of the cells of a row: of one column or, if it is words, of several. It
// may be used by several goroutines at a time.
type Row struct {
	format  *Format // or
	words   *Words  // or
	coded   *coded
	columns []string
}

// ParseRow reads a format, of [Parse] or of [ParseWords], for a column, or takes it from the
// codecs. Words must have the column among theirs. A codec that is missing is a
// [*NoCodecError].
func ParseRow(text, column string, codecs Codecs) (*Row, error) {
	if IsCodec(text) {
		if err := Validate(text); err != nil {
			return nil, err
		}
		codec := codecs[text]
		if codec == nil {
			return nil, &NoCodecError{text}
		}
		return &Row{coded: &coded{text, codec}, columns: []string{column}}, nil
	}
	if !isWords(text) {
		f, err := Parse(text)
		return &Row{format: f, columns: []string{column}}, err
	}
	w, err := ParseWords(text)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(w.Columns(), column) {
		return nil, fmt.Errorf("the words are in %q, which does not include %q", w.Columns(), column)
	}
	return &Row{words: w, columns: w.Columns()}, nil
}

// Columns returns the columns of the cells, in the order in which all methods take them.
func (r *Row) Columns() []string { return r.columns }

// String returns the text that was parsed.
func (r *Row) String() string {
	switch {
	case r.coded != nil:
		return r.coded.text
	case r.words != nil:
		return r.words.String()
	}
	return r.format.String()
}

// Keys returns the keys in the cells.
func (r *Row) Keys(cells [][]byte) ([]CellKey, error) {
	switch {
	case r.coded != nil:
		return r.coded.keys(cells[0])
	case r.words == nil:
		return r.format.Keys(cells[0])
	}
	k, ok, err := r.words.Key(cells)
	if !ok || err != nil {
		return nil, err
	}
	return []CellKey{k}, nil
}

// Others returns the numbers with another tag; see [Format.Others].
func (r *Row) Others(cells [][]byte) ([]CellKey, error) {
	if r.format == nil || r.format.bits == nil || !r.format.bits.tagged {
		return nil, nil
	}
	return r.format.Others(cells[0])
}

// Splice asks image for the new value of each key, and returns the cells with it; see
// [Format.Splice]. It never changes cells, and returns it if no value changes.
func (r *Row) Splice(cells [][]byte, image func(CellKey) (Integer, error)) ([][]byte, error) {
	if r.words != nil {
		return r.words.Splice(cells, image)
	}
	splice := r.format.Splice
	if r.coded != nil {
		splice = r.coded.splice
	}
	out, err := splice(cells[0], image)
	if err != nil || len(out) == len(cells[0]) && (len(out) == 0 || &out[0] == &cells[0][0]) {
		return cells, err
	}
	return [][]byte{out}, nil
}

// SQL is the key in a row whose columns are integers, and the conditions under which there is one, as all engines
// understand them: the server reads the key itself. key is "" of a format that is neither words nor bits alone.
func (r *Row) SQL(quote func(string) string) (key string, conditions []string) {
	for _, column := range r.columns {
		conditions = append(conditions, quote(column)+" IS NOT NULL")
	}
	switch {
	case r.words != nil:
		return r.words.sql(quote), conditions
	case r.format == nil || r.format.bits == nil || len(r.format.steps) > 0:
		return "", nil
	}
	bits, column := r.format.bits, quote(r.columns[0])
	if bits.tagged {
		conditions = append(conditions, fmt.Sprintf("%s = %d", bits.tag.sql(column), bits.want))
	}
	return bits.key.sql(column), conditions
}

// Most returns the largest key that the format has room for; known is false if the cell
// grows with its keys.
func (r *Row) Most() (most Integer, known bool) {
	least := uint64(math.MaxUint64)
	if r.words != nil {
		least >>= 64 - len(r.columns)*r.words.each
	} else if r.format != nil {
		least = r.format.number.most()
		if b := r.format.bits; b != nil {
			least = min(least, b.key.mask())
		}
	}
	return Integer{Bits: least}, least < math.MaxUint64
}

// Steady reports whether cells that take new keys take smaller ones in their place, too: no other key is found or written
// then, but perhaps a shorter one.
func (r *Row) Steady() bool {
	if r.format == nil {
		return r.words != nil
	}
	if _, text := r.format.number.(digits); !text || r.format.bits != nil { // of which one may be the sign
		return false
	}
	return !slices.ContainsFunc(r.format.steps, func(step finder) bool {
		switch step.(type) {
		case list, jsonPath:
			return false
		}
		return true
	})
}

// IsJSON reports whether a cell is JSON, and so before and after its keys get new values.
func (r *Row) IsJSON() bool {
	if r.format == nil || len(r.format.steps) == 0 {
		return false
	}
	_, is := r.format.steps[0].(jsonPath)
	return is
}

// SpliceAll is Splice for several formats of one row. No two may find the same bytes. A codec
// does not tell which bytes it means, so the keys of the others must stay when it has put new
// keys in. cell returns the cell of a column; image is also told which of the formats found
// the key. SpliceAll returns the cells that change, by column.
func SpliceAll(formats []*Row, cell func(column string) []byte, image func(format int, k CellKey) (Integer, error)) (map[string][]byte, error) {
	var changed map[string][]byte
	cells := func(f *Row) [][]byte {
		all := make([][]byte, len(f.columns))
		for i, c := range f.columns {
			if b, is := changed[c]; is {
				all[i] = b
			} else {
				all[i] = cell(c)
			}
		}
		return all
	}
	found, err := apart(formats, cells)
	if err != nil {
		return nil, err
	}
	want := make([][]Integer, len(formats))
	for i, f := range formats {
		before := cells(f)
		if i > 0 {
			if keys, err := f.Keys(before); err != nil {
				return nil, err
			} else if !slices.EqualFunc(keys, found[i], func(a, b CellKey) bool { return a.Value == b.Value }) {
				return nil, fmt.Errorf("with the new values of the other formats, %q finds other keys in %s", f, quote(before[0]))
			}
		}
		after, err := f.Splice(before, func(k CellKey) (Integer, error) {
			v, err := image(i, k)
			if len(formats) > 1 {
				want[i] = append(want[i], v)
			}
			return v, err
		})
		if err != nil {
			return nil, err
		}
		for c := range after {
			if !bytes.Equal(before[c], after[c]) {
				if changed == nil {
					changed = make(map[string][]byte)
				}
				changed[f.columns[c]] = after[c]
			}
		}
	}
	if len(formats) < 2 || len(changed) == 0 {
		return changed, nil
	}
	for i, f := range formats {
		after := cells(f)
		keys, err := f.Keys(after)
		if broken, ok := errors.AsType[*CodecError](err); ok {
			return nil, broken
		}
		if err != nil || !slices.EqualFunc(keys, want[i], func(k CellKey, v Integer) bool { return k.Value == v }) {
			return nil, fmt.Errorf("with the new values of the other formats, %q finds other keys in %s", f, quote(after[0]))
		}
	}
	return changed, nil
}

// apart returns the keys that each format finds, or an error if two find them in the same
// bytes: of which of the two such a key is cannot be told.
func apart(formats []*Row, cells func(*Row) [][]byte) ([][]CellKey, error) {
	if len(formats) < 2 {
		return nil, nil
	}
	found := make([][]CellKey, len(formats))
	type place struct {
		CellKey
		column string
		of     *Row
	}
	var all []place
	for i, f := range formats {
		keys, err := f.Keys(cells(f))
		if err != nil {
			return nil, err
		}
		if found[i] = keys; f.coded != nil {
			continue
		}
		for _, k := range keys {
			for _, c := range f.columns {
				if f.words != nil { // the whole of each cell
					k.End = math.MaxInt
				}
				all = append(all, place{k, c, f})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.Start, b.Start))
	})
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.column == b.column && a.End > b.Start {
			return nil, fmt.Errorf("byte %d of %s: the key %s belongs to both %q and %q", b.Start, b.column, b.Value, a.of, b.of)
		}
	}
	return found, nil
}
