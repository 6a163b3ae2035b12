package keys

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"iter"
	"slices"
	"strings"

	"mergesafe/internal/slice"
)

// Kinds are what the columns of a key hold, a letter for each; "" is a key of one column of integers.
type Kinds string

// The kinds of columns of a key.
const (
	KeyInteger byte = 'i'
	KeyText    byte = 't'
	KeyBytes   byte = 'b'
)

// Key is the key of a row: an integer or, by other [Kinds], the values of its columns. Texts and bytes are the same if
// each of their bytes is.
type Key struct {
	Integer
	values string // of each column its kind, its length and the value
}

// Key reads a key from values as a database prints them; nil is NULL. ok is false if one is NULL, or no integer where
// the kind wants one.
func (k Kinds) Key(value func(i int) []byte) (key Key, ok bool) {
	if k == "" {
		key.Integer, ok = ParseInteger(value(0))
		return key, ok
	}
	b := make([]byte, 0, 48)
	for i := range len(k) {
		v := value(i)
		if v == nil {
			return key, false
		}
		if k[i] == KeyInteger {
			n, ok := ParseInteger(v)
			if !ok {
				return key, false
			}
			if v[0] < '1' { // all others are written as String does
				v = []byte(n.String())
			}
		}
		b = append(binary.AppendUvarint(append(b, k[i]), uint64(len(v))), v...)
	}
	return Key{values: string(b)}, true
}

// columns gives the kind and the value of each column of a key that is no integer.
func (k Key) columns() iter.Seq2[byte, string] {
	return func(yield func(byte, string) bool) {
		for rest := k.values; rest != ""; {
			size, n := binary.Uvarint([]byte(rest[1:min(len(rest), 1+binary.MaxVarintLen64)]))
			end := 1 + n + int(size)
			if n <= 0 || size > uint64(len(rest)) || end > len(rest) || !yield(rest[0], rest[1+n:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// String is the key for people, and in arguments: bytes as their digits, and the values of several columns as [Join] writes
// them. No two keys of the same kinds have the same text.
func (k Key) String() string {
	if k.values == "" {
		return k.Integer.String()
	}
	var all []string
	for kind, v := range k.columns() {
		if kind == KeyBytes {
			v = hex.EncodeToString([]byte(v))
		}
		all = append(all, v)
	}
	return Join(all)
}

var (
	joining   = strings.NewReplacer("%", "%25", "/", "%2F")
	separated = strings.NewReplacer("%25", "%", "%2F", "/")
)

// Join writes the values of a key in one text: of several columns with a slash between them, and as in a URL, where a slash in
// a value is %2F and a percent sign is %25.
func Join(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return strings.Join(slice.Map(values, joining.Replace), "/")
}

// Values are the values of its columns, as a database prints them.
func (k Key) Values() (all []string) {
	if k.values == "" {
		return []string{k.Integer.String()}
	}
	for _, v := range k.columns() {
		all = append(all, v)
	}
	return all
}

// Parse reads what [Key.String] wrote. ok is false if it is no key of these kinds.
func (k Kinds) Parse(text string) (key Key, ok bool) {
	values := []string{text}
	if len(k) > 1 {
		if values = slice.Map(strings.Split(text, "/"), separated.Replace); len(values) != len(k) || Join(values) != text {
			return key, false
		}
	}
	for i, kind := range []byte(k) {
		if kind != KeyBytes {
			continue
		}
		b, err := hex.DecodeString(values[i])
		if err != nil {
			return key, false
		}
		values[i] = string(b)
	}
	return k.Key(func(i int) []byte { return []byte(values[i]) })
}

// Image is the key with other integers in its columns.
func (k Key) Image(of func(column int, n Integer) Integer) Key {
	if k.values == "" {
		return Key{Integer: of(0, k.Integer)}
	}
	var all [][]byte
	var kinds Kinds
	for kind, v := range k.columns() {
		value := []byte(v)
		if kind == KeyInteger {
			n, _ := ParseInteger(value)
			value = []byte(of(len(all), n).String())
		}
		all, kinds = append(all, value), kinds+Kinds([]byte{kind})
	}
	image, _ := kinds.Key(func(i int) []byte { return all[i] })
	return image
}

// Among reports whether the value of a column is among some values of that column.
func (k Key) Among(some []Values) bool {
	if k.values == "" {
		return len(some) > 0 && !some[0].Empty() && some[0].HasInteger(k.Integer)
	}
	i := 0
	for _, v := range k.columns() {
		if i < len(some) && !some[i].Empty() && some[i].Has([]byte(v)) {
			return true
		}
		i++
	}
	return false
}

// Compare orders keys of the same kinds as [cmp.Compare] does: integers as such, all else by its bytes.
func (k Key) Compare(other Key) int {
	if k.values == "" || other.values == "" {
		return cmp.Or(cmp.Compare(k.values, other.values), k.Integer.Compare(other.Integer))
	}
	next, stop := iter.Pull2(other.columns())
	defer stop()
	for kind, v := range k.columns() {
		_, w, _ := next()
		c := cmp.Compare(v, w)
		if kind == KeyInteger {
			m, _ := ParseInteger([]byte(v))
			n, _ := ParseInteger([]byte(w))
			c = m.Compare(n)
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// AddKey is [Set.Add] of a key of the kinds of the set.
func (s *Set) AddKey(k Key) {
	if s.Kinds == "" {
		s.Add(k.Integer)
		return
	}
	s.values = append(s.values, k.values)
}

// HasKey is [Set.Has] of a key.
func (s *Set) HasKey(k Key) bool {
	if s.Kinds == "" {
		return s.Has(k.Integer)
	}
	_, has := slices.BinarySearch(s.values, k.values)
	return has
}

// Keys gives all keys, of integers as [Set.All], others in an order of their own.
func (s *Set) Keys() iter.Seq[Key] {
	return func(yield func(Key) bool) {
		for n := range s.All() {
			if !yield(Key{Integer: n}) {
				return
			}
		}
		for _, v := range s.values {
			if !yield(Key{values: v}) {
				return
			}
		}
	}
}

// Without is a set without the keys of one column that are among some values; the same if there are none.
func (s *Set) Without(some Values) *Set {
	is := func(v string) bool { return Key{values: v}.Among([]Values{some}) }
	if len(s.Kinds) != 1 || some.Empty() || !slices.ContainsFunc(s.values, is) {
		return s
	}
	return &Set{Exact: true, Kinds: s.Kinds, values: slices.DeleteFunc(slices.Clone(s.values), is)}
}

// valuesSQL is [Set.SQL] for all other kinds than an integer: it compares byte by byte, whatever the collation.
func (s *Set) valuesSQL(columns []string) string {
	var all, parts []string
	for i, column := range columns {
		all = append(all, column+" IS NOT NULL")
		if s.Kinds[i] == KeyInteger {
			parts = append(parts, column+" + 0") // without zeros in front
		} else {
			parts = append(parts, "HEX("+column+")")
		}
	}
	begin, one := "'", parts[0]
	switch {
	case s.Kinds == Kinds([]byte{KeyBytes}):
		begin, one = "x'", columns[0]
	case len(parts) > 1:
		one = "CONCAT(" + strings.Join(parts, ", ',', ") + ")"
	}
	var keys strings.Builder
	for i, v := range s.values {
		if i > 0 {
			keys.WriteString(", ")
		}
		keys.WriteString(begin)
		comma := ""
		for kind, v := range (Key{values: v}).columns() {
			keys.WriteString(comma)
			if comma = ","; kind != KeyInteger {
				v = strings.ToUpper(hex.EncodeToString([]byte(v)))
			}
			keys.WriteString(v)
		}
		keys.WriteString("'")
	}
	return "(" + strings.Join(append(all, one+" IN ("+keys.String()+")"), " AND ") + ")"
}

// finishValues sorts them, in one piece of memory.
func (s *Set) finishValues() {
	slices.Sort(s.values)
	s.values = slices.Compact(s.values)
	whole, begin := strings.Join(s.values, ""), 0
	for i, v := range s.values {
		s.values[i] = whole[begin : begin+len(v)]
		begin += len(v)
	}
	s.values = slices.Clip(s.values)
}

// appendValues and readValues are the form of keys that are no integers.
func (s *Set) appendValues(b []byte) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(s.Kinds))), s.Kinds...)
	for _, v := range s.values {
		b = append(b, v...)
	}
	return b
}

func (s *Set) readValues(b []byte) error {
	broken := errors.New("rekey: not a set of keys, or damaged")
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return broken
	}
	s.Kinds, b = Kinds(b[n:n+int(size)]), b[n+int(size):]
	whole, kinds := string(b), []byte(nil)
	for begin := 0; begin < len(whole); {
		end := begin
		kinds = kinds[:0]
		for kind, v := range (Key{values: whole[begin:]}).columns() {
			kinds = append(kinds, kind)
			end += 1 + len(binary.AppendUvarint(nil, uint64(len(v)))) + len(v)
			if len(kinds) == len(s.Kinds) {
				break
			}
		}
		if !bytes.Equal(kinds, []byte(s.Kinds)) || len(kinds) == 0 {
			return broken
		}
		s.values = append(s.values, whole[begin:end])
		begin = end
	}
	if !slices.IsSorted(s.values) {
		return broken
	}
	return nil
}
