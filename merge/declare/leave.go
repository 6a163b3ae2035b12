package declare

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rekey"
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
	return by, fmt.Errorf(`%q: want a column, and asc or desc if its order matters, such as "level desc"`, text)
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

// Stays are the rows of a table of one source that stay behind.
type Stays struct {
	Source string `json:"source"`
	Table  string `json:"table"`

	// Key is a column of integers whose values tell the rows: [Reason.Keys]. Without it they are the rows that
	// refer, by one of By, to a row that stays behind; with it these are among them.
	Key string     `json:"key,omitempty"`
	By  []*Severed `json:"by,omitempty"`

	Why []Reason `json:"why"` // each row counts once

	Keys *rekey.Set `json:"-"` // those of all reasons
}

// Reason is why rows stay behind.
type Reason struct {
	Why  string     `json:"why"`
	Rows int64      `json:"rows"`
	Keys *rekey.Set `json:"keys,omitempty"`
}

// Rows counts them.
func (s *Stays) Rows() (n int64) {
	for _, r := range s.Why {
		n += r.Rows
	}
	return n
}

// Of implements [catalog.Withheld].
func (s *Stays) Of() string { return s.Table }

// SQL implements [catalog.Withheld].
func (s *Stays) SQL(quote func(string) string) string {
	if s.Key != "" {
		return s.Keys.SQL(quote(s.Key))
	}
	all := []string{"1 = 0"}
	for _, by := range s.By {
		all = append(all, by.SQL(quote))
	}
	return "(" + strings.Join(all, " OR ") + ")"
}

// Sift implements [catalog.Sifted].
func (s *Stays) Sift() (columns []string, is func(value func(i int) any) bool) {
	if s.Key != "" {
		return []string{s.Key}, func(value func(i int) any) bool {
			n, ok := integerOf(value(0))
			return ok && s.Keys.Has(n)
		}
	}
	type test struct {
		*Severed
		none rekey.Values
	}
	var all []test
	for _, by := range s.By {
		none, err := rekey.ParseValues(by.Zero, by.None)
		if err != nil {
			return nil, nil
		}
		when := by.Column
		if by.When != nil {
			when = by.When.Column
		}
		all, columns = append(all, test{by, none}), append(columns, by.Column, when)
	}
	return columns, func(value func(i int) any) bool {
		for i, by := range all {
			n, ok := integerOf(value(2 * i))
			if ok && by.Staying.Has(n) && (by.none.Empty() || !by.none.HasInteger(n)) &&
				(by.When == nil || by.When.Holds(printed(value(2*i+1)))) {
				return true
			}
		}
		return false
	}
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

func integerOf(v any) (rekey.Integer, bool) {
	if n, is := v.(int64); is {
		return rekey.Signed(n), true
	}
	return rekey.ParseInteger(printed(v))
}

// Link makes the references among rows that stay behind of all sources lead to their keys. It
// returns an error if they lead nowhere.
func Link(all []*Stays) error {
	keys := make(map[[2]string]*rekey.Set)
	for _, s := range all {
		if err := s.gather(); err != nil {
			return err
		}
		keys[[2]string{s.Source, s.Table}] = s.Keys
	}
	for _, s := range all {
		for _, by := range s.By {
			set := keys[[2]string{s.Source, by.To}]
			if set == nil || !by.Gone {
				return fmt.Errorf("the rows of %s of %s that stay behind are not known", by.To, s.Source)
			}
			by.Staying = set
		}
	}
	return nil
}

// gather takes the keys of all reasons together.
func (s *Stays) gather() error {
	wrong := s.Key == "" && len(s.By) == 0
	if s.Key != "" {
		s.Keys = &rekey.Set{Exact: true}
	}
	for _, r := range s.Why {
		if s.Key == "" {
			continue
		}
		if r.Keys == nil || r.Keys.Len() != r.Rows {
			wrong = true
			break
		}
		for n := range r.Keys.All() {
			s.Keys.Add(n)
		}
	}
	if s.Keys != nil {
		s.Keys.Finish()
		wrong = wrong || s.Keys.Len() != s.Rows()
	}
	if wrong {
		return fmt.Errorf("the rows of %s of %s that stay behind are not known", s.Table, s.Source)
	}
	return nil
}

// Naming returns the same reference to rows of one source that stay behind, by their keys.
func (s *Severed) Naming(keys *rekey.Set) *Severed {
	one := *s
	one.Staying = keys
	return &one
}

// Following is a reference of which it is said what becomes of its rows if the row that it names stays
// behind: rows is that. It returns an error if that cannot be done.
func Following(f *Resolved, ref *Ref, to ColumnName, rows RowsPolicy) (*SeveredReference, error) {
	s := &SeveredReference{Severed{Table: ref.Table, Column: ref.Columns[0], To: to.Table, ToColumn: to.Column,
		Rows: rows, Gone: true,
		Zero: ref.Declared.ZeroIsNone, None: ref.Declared.None, When: ref.When, Counts: []int64{}}, ref, false, ""}
	if err := validateSevered(s, f); err != nil {
		return nil, err
	}
	if rows == RowsNone && s.Becomes != nil && nullable(f, s) {
		s.Becomes = nil
	}
	return s, nil
}

// nullable reports whether every database takes NULL in a column.
func nullable(f *Resolved, s *SeveredReference) bool {
	for _, t := range f.Having(s.Table) {
		if c := t.Column(s.Column); c == nil || !c.Nullable {
			return false
		}
	}
	return true
}

// Selector is an optional interface of a [catalog.Source] that judges conditions.
type Selector interface {
	// Select calls take with the values of a column of integers in the rows of a table that are not withheld and
	// for which a condition holds.
	Select(ctx context.Context, table, column, condition string, take func(rekey.Integer)) error

	// CountWhere counts such rows.
	CountWhere(ctx context.Context, table, condition string) (int64, error)

	// Heaviest returns the values of a column that most of such rows have, and how many do.
	Heaviest(ctx context.Context, table, column, condition string, most int) ([]Heavy, error)
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

// becomes says what becomes of the rows of a reference into a table whose rows stay behind, all or some.
func (f *Resolved) becomes(ref *Ref) RowsPolicy {
	if ref.Declared.Gone != "" && f.Skip[ref.ToTable] {
		return ref.Declared.Gone
	}
	return f.rows[ref.ToTable]
}

var _ catalog.Sifted = (*Stays)(nil)
