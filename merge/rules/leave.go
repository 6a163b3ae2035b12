package rules

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Leave says which rows of a table stay behind, with all that refers to them as the references
// say (gone). Statements are judged in strata, so that there is one answer: see package leave.
type Leave struct {
	Table string `json:"table"`
	Where string `json:"where,omitempty"` // a condition in SQL
	Best  *Best  `json:"best,omitempty"`
	Fewer *Fewer `json:"fewer,omitempty"`

	Limit time.Duration `json:"-"` // how long the server of a world may take for Where; 0: [LeaveLimit]

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// LeaveLimit is the default of [Leave.Limit]: who needs more needs an index.
const LeaveLimit = 30 * time.Minute

// JudgingSlow is how long a condition may take without a word.
const JudgingSlow = time.Second

// Best lets of the rows that have the same value in a column, over all worlds, only the first
// ones come.
type Best struct {
	Of   string   `json:"of"`   // a column of the table
	Keep int      `json:"keep"` // how many of each value come
	By   []string `json:"by"`   // columns, as "level desc"; NULL is last
}

// Fewer lets rows stay behind to which fewer rows that come refer than a number.
type Fewer struct {
	Of   string `json:"of"` // the column that refers, as table.column
	Than int    `json:"than"`
}

// ByColumn is one column of [Best.By].
type ByColumn struct {
	Column     string
	Descending bool
}

// ParseBy reads "level", "level asc" or "level desc".
func ParseBy(text string) (by ByColumn, err error) {
	words := strings.Fields(text)
	switch {
	case len(words) == 1:
		return ByColumn{words[0], false}, nil
	case len(words) == 2 && (words[1] == "asc" || words[1] == "desc"):
		return ByColumn{words[0], words[1] == "desc"}, nil
	}
	return by, fmt.Errorf(`%q: want a column, with asc or desc if its order matters, such as "level desc"`, text)
}

// Text is the statement in short, for people.
func (l *Leave) Text() string {
	var all []string
	if l.Where != "" {
		all = append(all, "where "+l.Where)
	}
	if l.Best != nil {
		all = append(all, l.Best.String())
	}
	if l.Fewer != nil {
		all = append(all, l.Fewer.String())
	}
	return strings.Join(all, "; ")
}

func (b *Best) String() string {
	return fmt.Sprintf("best %d of %s by %s", b.Keep, b.Of, strings.Join(b.By, ", "))
}

func (f *Fewer) String() string { return fmt.Sprintf("fewer than %d by %s", f.Than, f.Of) }

// Place says where the statement is, for messages.
func (l *Leave) Place() string { return "leave " + l.Table + in(l.File, l.Line) }

// Stays are the rows of a table of one world that stay behind.
type Stays struct {
	World string `json:"world"`
	Table string `json:"table"`

	// Key is a column of integers whose values tell the rows: [Reason.Keys]. Without it they are the rows that
	// refer, by one of By, to a row that stays behind; with it these are among them.
	Key string     `json:"key,omitempty"`
	By  []*Severed `json:"by,omitempty"`

	// Columns and Kinds are in the place of Key if that is not one column of integers.
	Columns []string   `json:"columns,omitempty"`
	Kinds   keys.Kinds `json:"kinds,omitempty"`

	Why []Reason `json:"why"` // each row counts once

	Keys *keys.Set `json:"-"` // those of all reasons
}

// Reason is why rows stay behind.
type Reason struct {
	Why  string    `json:"why"`
	Rows int64     `json:"rows"`
	Keys *keys.Set `json:"keys,omitempty"`
}

// Rows counts them.
func (s *Stays) Rows() (n int64) {
	for _, r := range s.Why {
		n += r.Rows
	}
	return n
}

// RowKey is what tells the rows of a table; without columns they are told by what they refer to.
type RowKey struct {
	Columns []string
	Kinds   keys.Kinds
}

// Read reads the key of a row from values as a driver delivers them.
func (k *RowKey) Read(value func(i int) any) (keys.Key, bool) {
	if k.Kinds == "" {
		n, ok := integerOf(value(0))
		return keys.Key{Integer: n}, ok
	}
	return k.Kinds.Key(func(i int) []byte { return printed(value(i)) })
}

// RowKey is what tells them.
func (s *Stays) RowKey() RowKey {
	if s.Key != "" {
		return RowKey{Columns: []string{s.Key}}
	}
	return RowKey{s.Columns, s.Kinds}
}

// Keyed reports whether they are told by their keys.
func (s *Stays) Keyed() bool { return s.Key != "" || len(s.Columns) > 0 }

// Of implements [catalog.Withheld].
func (s *Stays) Of() string { return s.Table }

// SQL implements [catalog.Withheld].
func (s *Stays) SQL(quote func(string) string) string {
	if s.Keyed() {
		return s.Keys.SQL(slice.Map(s.RowKey().Columns, quote)...)
	}
	all := []string{"1 = 0"}
	for _, by := range s.By {
		all = append(all, by.SQL(quote))
	}
	return "(" + strings.Join(all, " OR ") + ")"
}

// Sift implements [catalog.Sifted].
func (s *Stays) Sift() (columns []string, is func(value func(i int) any) bool) {
	if s.Keyed() {
		key := s.RowKey()
		return key.Columns, func(value func(i int) any) bool {
			n, ok := key.Read(value)
			return ok && s.Keys.HasKey(n)
		}
	}
	type test struct {
		*Severed
		key      RowKey
		none     keys.Values
		at, when int
	}
	var all []test
	for _, by := range s.By {
		none, err := keys.ParseValues(by.None)
		if err != nil {
			return nil, nil
		}
		t := test{by, RowKey{by.Columns(), by.Staying.Kinds}, none, len(columns), 0}
		columns = append(columns, t.key.Columns...)
		if t.when = len(columns); by.When != nil {
			columns = append(columns, by.When.Column)
		}
		all = append(all, t)
	}
	return columns, func(value func(i int) any) bool {
		for i := range all {
			by := &all[i]
			n, ok := by.key.Read(func(i int) any { return value(by.at + i) })
			if ok && by.Staying.HasKey(n) && !by.key.none(&by.none, n, value(by.at)) &&
				(by.When == nil || by.When.Holds(printed(value(by.when)))) {
				return true
			}
		}
		return false
	}
}

// WhyOf says why a row stays behind, by its values as a driver delivers them; "" if it does not. known is false for a column
// whose value is not known; it is an error if that could tell.
func (s *Stays) WhyOf(value func(column string) (v any, known bool)) (why string, err error) {
	at := func(columns []string) func(i int) any {
		return func(i int) any {
			v, _ := value(columns[i])
			return v
		}
	}
	if s.Keyed() {
		of := s.RowKey()
		key, ok := of.Read(at(of.Columns))
		for _, r := range s.Why {
			if ok && r.Keys.HasKey(key) {
				return r.Why, nil
			}
		}
		return "", nil
	}
	for i, by := range s.By { // in the order of Why
		one := Stays{By: []*Severed{by}}
		columns, is := one.Sift()
		if slices.ContainsFunc(columns, func(name string) bool { _, known := value(name); return !known }) {
			return "", fmt.Errorf("it may have stayed behind: it %s, but the key does not show to which row; look in %s", s.Why[i].Why, s.World)
		}
		if is(at(columns)) {
			return s.Why[i].Why, nil
		}
	}
	return "", nil
}

// none reports whether a value of one column names no row.
func (k *RowKey) none(none *keys.Values, n keys.Key, value any) bool {
	switch {
	case none.Empty() || len(k.Columns) > 1:
		return false
	case k.Kinds == "":
		return none.HasInteger(n.Integer)
	}
	return none.Has(printed(value))
}

// printed is a value as the database prints it, from what a driver delivers.
func printed(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return v
	case int64:
		return strconv.AppendInt(nil, v, 10)
	}
	return fmt.Append(nil, v)
}

func integerOf(v any) (keys.Integer, bool) {
	if n, is := v.(int64); is {
		return keys.Signed(n), true
	}
	return keys.ParseInteger(printed(v))
}

// Link makes the references among rows that stay behind of all worlds lead to their keys. It
// returns an error if they lead nowhere.
func Link(all []*Stays) error {
	keys, told := make(map[[2]string]*keys.Set), make(map[[2]string][]string)
	for _, s := range all {
		if err := s.gather(); err != nil {
			return err
		}
		keys[[2]string{s.World, s.Table}], told[[2]string{s.World, s.Table}] = s.Keys, s.RowKey().Columns
	}
	for _, s := range all {
		for _, by := range s.By {
			set := keys[[2]string{s.World, by.To}]
			named := len(by.ToKey)
			if by.Told = told[[2]string{s.World, by.To}]; named == 0 {
				named = len(by.Told)
			}
			if set == nil || !by.Partly || named != len(by.Columns()) || by.ToKey != nil && !s.Keyed() {
				return fmt.Errorf("the rows of %s of %s that stay behind are not known", by.To, s.World)
			}
			by.Staying = set
		}
	}
	return nil
}

// gather takes the keys of all reasons together.
func (s *Stays) gather() error {
	wrong := !s.Keyed() && len(s.By) == 0 || len(s.Kinds) != len(s.Columns)
	if s.Keyed() {
		s.Keys = &keys.Set{Exact: true, Kinds: s.Kinds}
	}
	for _, r := range s.Why {
		if !s.Keyed() {
			continue
		}
		if r.Keys == nil || r.Keys.Len() != r.Rows || r.Keys.Kinds != s.Kinds {
			wrong = true
			break
		}
		for n := range r.Keys.Keys() {
			s.Keys.AddKey(n)
		}
	}
	if s.Keys != nil {
		s.Keys.Finish()
		wrong = wrong || s.Keys.Len() != s.Rows()
	}
	if wrong {
		return fmt.Errorf("the rows of %s of %s that stay behind are not known", s.Table, s.World)
	}
	return nil
}

// Naming returns the same reference to rows of one world that stay behind, by their keys.
func (s *Severed) Naming(keys *keys.Set) *Severed {
	one := *s
	one.Staying = keys
	return &one
}

// Following is a reference of which it is said what becomes of its rows if the row that it names stays
// behind: gone is that. key is what it names of the rows of to, and told is by what these are told. It returns an error if
// that cannot be done.
func Following(f *Resolved, ref *Ref, to string, key, told RowKey, gone Gone) (*SeveredReference, error) {
	s := severedBy(ref, to, gone)
	s.ToColumn, s.Partly = key.Columns[0], true
	if ref.Cells != nil {
		s.Format = ref.Cells.String()
	}
	for i, name := range key.Columns {
		at := max(0, slices.IndexFunc(ref.ToColumns, func(to string) bool { return strings.EqualFold(to, name) })) // of Or
		if column := ref.Columns[at]; i == 0 {
			s.Column = column
		} else {
			s.And = append(s.And, column)
		}
	}
	if kinds := f.KindsOf(ref.Table, s.Columns()); kinds != key.Kinds {
		return nil, fmt.Errorf("its values are of a different type than the key of %s", to)
	}
	if s.Told = told.Columns; !slices.Equal(told.Columns, key.Columns) {
		s.ToKey, s.ToKinds = key.Columns, key.Kinds
	}
	return s, validateSevered(s, f)
}

// Selector is an optional interface of a [catalog.Source] that judges conditions.
type Selector interface {
	// Select calls take with the keys of the rows of a table that are not withheld and for which a condition holds.
	Select(ctx context.Context, table string, key RowKey, condition string, take func(keys.Key)) error

	// CountWhere counts such rows.
	CountWhere(ctx context.Context, table, condition string) (int64, error)

	// Heaviest returns the keys in columns that most of such rows have, and how many do.
	Heaviest(ctx context.Context, table string, key RowKey, condition string, most int) ([]Heavy, error)
}

// Heavy is a value that many rows have.
type Heavy struct {
	Value string
	Rows  int64
}

// Integers reports whether a column holds integers in every database that has the table.
func (f *Resolved) Integers(table, column string) bool {
	for _, t := range f.Having(table) {
		if !isInteger(t.Column(column)) {
			return false
		}
	}
	return true
}

// KindsOf are the kinds of columns in every database that has the table, as of a key; "?" if they cannot be compared byte
// by byte.
func (f *Resolved) KindsOf(table string, columns []string) (kinds keys.Kinds) {
	if len(columns) == 1 && f.Integers(table, columns[0]) {
		return ""
	}
	for _, name := range columns {
		letter := byte('?')
		for db, t := range f.Having(table) {
			is, c := byte('?'), t.Column(name)
			switch {
			case c == nil:
			case c.Kind == catalog.KindInteger:
				is = keys.KeyInteger
			case c.Kind == catalog.KindBytes:
				is = keys.KeyBytes
			case c.Kind == catalog.KindText && (db.Catalog.Engine == "sqlite" || strings.HasPrefix(c.Collation, "utf8")):
				is = keys.KeyText
			}
			if letter != '?' && letter != is {
				return "?"
			}
			letter = is
		}
		if letter == '?' {
			return "?"
		}
		kinds += keys.Kinds([]byte{letter})
	}
	return kinds
}

var _ catalog.Sifted = (*Stays)(nil)
