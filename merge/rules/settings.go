package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Setting is the new value of a column in rows whose name is changed, such as the flag by
// which a game asks the player for another name. It is a constant, or bits that are set.
type Setting struct {
	Column string `json:"column"`
	Value  string `json:"value,omitempty"` // the constant, if Bits is 0
	Bits   uint64 `json:"bits,omitempty"`
}

// ParseSetting reads "| 1", which sets these bits, or a constant.
func ParseSetting(column, text string) (Setting, error) {
	rest, bits := strings.CutPrefix(text, "|")
	if !bits {
		if text == "" || strings.TrimSpace(text) != text {
			return Setting{}, fmt.Errorf("%q: want a constant without spaces around it, such as \"1\", or bits to set, such as \"| 1\"", text)
		}
		return Setting{Column: column, Value: text}, nil
	}
	n, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
	if err != nil || n == 0 {
		return Setting{}, fmt.Errorf("%q: want bits to set as a decimal number from 1, such as \"| 1\"", text)
	}
	return Setting{Column: column, Bits: n}, nil
}

func (s Setting) String() string {
	if s.Bits > 0 {
		return "| " + strconv.FormatUint(s.Bits, 10)
	}
	return s.Value
}

// Of returns the new value for a value, as the database prints both.
func (s Setting) Of(value string) (string, error) {
	if s.Bits == 0 {
		return s.Value, nil
	}
	n, ok := keys.ParseInteger([]byte(value))
	if !ok || n.Negative {
		return "", fmt.Errorf("bits cannot be set in %.40q", value)
	}
	n.Bits |= s.Bits
	return n.String(), nil
}

// checkSettings returns an error unless the columns beside changed names can be set.
func checkSettings(f *Resolved) error {
	for i, r := range f.Opts.Renames {
		if _, model := f.ModelOf(r.Table); model == nil {
			continue // it takes no part
		}
		for _, s := range r.Set {
			what := fmt.Sprintf("name %d%s (%s.%s): set: %s.%s", i+1, in(r.File, r.Line), r.Table, r.Column, r.Table, s.Column)
			if err := f.Names.has(fmt.Sprintf("name %d%s (%s.%s): set", i+1, in(r.File, r.Line), r.Table, r.Column), r.Table, s.Column); err != nil {
				return err
			}
			if why := contradiction(s, f, r); why != "" {
				return Unsuitable("%s %s", what, why)
			}
			for _, other := range f.Opts.Renames[:i] {
				if other.Table == r.Table && slices.ContainsFunc(other.Set, func(o Setting) bool { return o.Column == s.Column }) {
					return Unsuitable("%s is also set by the [[merge.name]] of %s.%s: a row may get both names, so let only one of them set it", what, other.Table, other.Column)
				}
			}
		}
	}
	return nil
}

// contradiction says what else a column is that a setting would change; "" if it is
// nothing else.
func contradiction(s Setting, f *Resolved, r RenamedColumn) string {
	for db, t := range f.Having(r.Table) {
		if why := s.unsuited(db, t); why != "" {
			return why
		}
	}
	if why := occupied(f, ColumnName{r.Table, s.Column}); why != "" {
		return why
	}
	for _, u := range f.Uniques(r.Table) {
		if slices.Contains(u.Columns, s.Column) {
			return fmt.Sprintf("is part of the unique columns %s, and several rows would get the same value", catalog.ColumnList(u.Columns))
		}
	}
	if n := f.Renumbers[r.Table]; n != nil && slices.Contains(n.Columns(), s.Column) {
		return "is used by renumber in its [[merge.table]]"
	}
	return ""
}

// occupied says what else a column is, of which a merge is to change values that name
// nothing; "" if it is nothing else.
func occupied(f *Resolved, at ColumnName) string {
	for _, other := range f.Opts.Renames {
		if other.Table == at.Table && other.Column == at.Column {
			return "is itself a name that [[merge.name]] changes"
		}
	}
	for _, c := range f.Opts.Copies {
		if c.Table == at.Table && c.Column == at.Column {
			return "changes along with a name, by a [[check.reference]] with by"
		}
		if c.Table == at.Table && c.Key == at.Column {
			return "is the by of a [[check.reference]]: it is used to find rows"
		}
	}
	for _, t := range f.Having(at.Table) {
		if slices.Contains(t.Key(), at.Column) {
			return "is part of the key, whose values cannot be changed"
		}
	}
	if to := f.Declared.to(at); len(to) > 0 {
		return fmt.Sprintf("is the target of the reference %s.%s, so its values cannot be changed", to[0].Table, to[0].Subject())
	}
	for _, table := range f.Tables {
		for _, t := range f.Having(table) {
			for _, ref := range t.References {
				if ref.ToTable == at.Table && slices.Contains(ref.ToColumns, at.Column) {
					return fmt.Sprintf("is the target of the foreign key %s.%s, so its values cannot be changed", table, catalog.ColumnList(ref.Columns))
				}
			}
		}
	}
	if ForeignKey(f, at.Table, at.Column) {
		return "is part of a foreign key, so its values cannot be changed"
	}
	if refersBy(f, at.Table, at.Column) {
		return "is declared a reference, and another value would refer to another row"
	}
	if role := f.Declared.Role(at.Table, at.Column); role.Kind == RoleShared {
		return fmt.Sprintf("is declared %s by %s, so its values identify things", role.Kind, role.Source)
	}
	return decides(f, at)
}

// decides says which statement goes by the values of the column; "" if none does.
func decides(f *Resolved, at ColumnName) string {
	if f.Moving != nil {
		if m := f.Moving.Columns[at]; m != nil {
			return fmt.Sprintf("gets new values by the space %q", m.Cases[0].Space.Name)
		}
		for _, c := range f.Moving.Counters {
			if c.ColumnName == at || c.Table == at.Table && c.When != nil && c.When.Column == at.Column {
				return "belongs to a [[merge.counter]]"
			}
		}
	}
	by := func(refs []*Ref) string {
		for _, r := range refs {
			if r.Table == at.Table && r.When != nil && r.When.Column == at.Column {
				return fmt.Sprintf("is the condition of the reference %s (when), which would then select other rows", r.Subject())
			}
		}
		return ""
	}
	for _, role := range f.Declared.Roles {
		if why := by(role.References); why != "" {
			return why
		}
	}
	return by(f.Declared.Composite)
}

// unsuited says why the column of a database cannot take the value; "" if it can.
func (s Setting) unsuited(db *Database, t *catalog.Table) string {
	c := t.Column(s.Column)
	switch {
	case c == nil:
		return ""
	case c.Generated != "":
		return "is generated by " + db.Name
	case c.Kind == catalog.KindText && s.Bits == 0:
		if n, counted := characters(strings.ToLower(c.Type)); counted && len([]rune(s.Value)) > n {
			return fmt.Sprintf("is %s in %s, and %q is longer", c.Declared(), db.Name, s.Value)
		}
		return ""
	case c.Kind != catalog.KindInteger:
		return fmt.Sprintf("is %s in %s: want a column of integers, or of texts for a constant", c.Declared(), db.Name)
	}
	n := keys.Integer{Bits: s.Bits}
	if s.Bits == 0 {
		var ok bool
		if n, ok = keys.ParseInteger([]byte(s.Value)); !ok || !n.Is([]byte(s.Value)) {
			return fmt.Sprintf("is %s in %s, and %q is not an integer", c.Declared(), db.Name, s.Value)
		}
	}
	if least, most, known := bounds(c, db.Catalog.Engine); known && (n.Less(least) || most.Less(n)) {
		return fmt.Sprintf("is %s in %s, which takes numbers from %s to %s, not %s", c.Declared(), db.Name, least, most, n)
	}
	return ""
}

// bounds are the smallest and the largest number that a column of integers takes.
func bounds(c *catalog.Column, engine string) (least, most keys.Integer, known bool) {
	most, known = c.Most(engine)
	if !strings.Contains(strings.ToLower(c.Type), "unsigned") {
		least = keys.Signed(-int64(most.Bits&(1<<63-1)) - 1)
	}
	return least, most, known
}
