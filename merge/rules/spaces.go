package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

// Rekey says which keys get new values in a merge, together with all references to
// them.
type Rekey struct {
	// Spaces are those that the operator names.
	Spaces []Space `json:"spaces,omitempty"`

	// Auto makes a space of every key of one column that the first world generates, if no
	// other statement covers it.
	Auto bool `json:"auto,omitempty"`

	// Offsets are the numbers for all spaces of some sources, by name, that the operator
	// chose.
	Offsets map[string]uint64 `json:"offsets,omitempty"`

	// Counters are columns in which the game counts keys of a space.
	Counters []CounterRow `json:"counters,omitempty"`

	// Beaten are the statements of files that a later file overrides, for the report.
	Beaten []string `json:"beaten,omitempty"`
}

// Say adds the spaces of a file. They count in the place of what earlier files say: of spaces with their names, of their keys in other
// spaces.
func (r *Rekey) Say(spaces []Space) {
	where := func(s Space) string {
		return fmt.Sprintf("the space %q%s", cmp.Or(s.Name, strings.Join(s.Keys, ", ")), in(s.File, s.Line))
	}
	var kept []Space
	for _, old := range r.Spaces {
		left, again := slices.Clone(old.Keys), false
		for _, s := range spaces {
			before := len(left)
			left = slices.DeleteFunc(left, func(key string) bool { return slices.Contains(s.Keys, key) })
			same := s.Name != "" && s.Name == old.Name
			if again = again || same; same || len(left) < before {
				r.Beaten = append(r.Beaten, fmt.Sprintf("%s is used, not %s", where(s), where(old)))
			}
		}
		if gone := len(left) == 0 && len(old.Keys) > 0; !again && !gone {
			old.Keys = left
			kept = append(kept, old)
		}
	}
	r.Spaces = append(kept, spaces...)
}

// Space is a set of keys that name one kind of thing: every key of a world gets the
// same number added.
type Space struct {
	Name string   `json:"name,omitempty"` // needed for several keys, or none
	Keys []string `json:"keys,omitempty"` // columns, as "table.column"; none for things without a table

	// Step is what the number is a multiple of; the largest of all spaces counts. 0 is
	// [keys.DefaultStep]. Max is the largest key that clients take; 0: any.
	Step uint64 `json:"step,omitempty"`
	Max  uint64 `json:"max,omitempty"`

	// Keep are the keys of rows that are built in, and so the same in every world: a
	// value, or a bound such as "<1000". They keep their values, as do references to them.
	// The first world's rows stay; those of the worlds are checked to be equal, and not
	// copied.
	Keep string `json:"keep,omitempty"`

	// Offsets are the numbers for some sources, by name, that the operator chose.
	Offsets map[string]uint64 `json:"offsets,omitempty"`

	// Match are columns of the table of one of Keys: rows of several worlds with the same
	// values there, as the first world compares, are the same thing. The key of such a row of a
	// source becomes that of the first world's, or of that of a world before it.
	Match []string `json:"match,omitempty"`

	// Map is the plan of another merge by which the space moves; nil: none.
	Map *MapFrom `json:"map,omitempty"`

	// After is how many of [Options.Rules] are of earlier files: what these say of its keys does not count.
	After int `json:"after,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// SpacePrefix is before the name of a space in a reference to it.
const SpacePrefix = "space:"

// KeySpace is a space as it is in the databases of a check.
type KeySpace struct {
	Space
	Columns []ColumnName
	Kept    keys.Values // of Keep
	By      *MatchedBy  // of Match; nil: none
	Auto    bool
}

// MovedColumn is a column of which values move: as keys of a space, or since they refer
// to such.
type MovedColumn struct {
	ColumnName
	Key   bool
	Cases []MovedCase // of which no two are about one row
}

// MovedCase are the rows of a column that refer to the keys of one space, or that are
// such keys.
type MovedCase struct {
	Space *KeySpace
	Ref   *Ref // nil for a key
}

// in says where it is declared; "" if it is not.
func (c MovedCase) in() string {
	if c.Ref != nil && c.Ref.Declared.File != "" {
		return c.Ref.Declared.in()
	}
	return in(c.Space.File, c.Space.Line)
}

// PlainShift reports whether every row of the column moves alike, but for values that
// stay; stay are these.
func (m *MovedColumn) PlainShift() (space *KeySpace, stay keys.Values, ok bool) {
	for i, c := range m.Cases {
		if c.Ref == nil {
			return c.Space, c.Space.Kept, true
		}
		if c.Ref.When != nil || c.Cells() != nil || i > 0 && (c.Space != space || !stay.Equal(c.Ref.None)) {
			return nil, stay, false
		}
		space, stay = c.Space, c.Ref.None
	}
	return space, stay, true
}

// Moving is what the spaces of a check say of all columns.
type Moving struct {
	Spaces   []*KeySpace
	Columns  map[ColumnName]*MovedColumn
	Counters []KeptCounter
}

// moves resolves the spaces against the tables of the databases; nil if no keys get new
// values.
func moves(f *Resolved) (*Moving, error) {
	if f.Opts.Rekey == nil {
		return nil, nil
	}
	m := &Moving{Columns: make(map[ColumnName]*MovedColumn)}
	f.Declared.Beaten = append(f.Declared.Beaten, f.Opts.Rekey.Beaten...)
	n := f.Names
	if err := knownSources(f, f.Opts.Rekey.Offsets); err != nil {
		return nil, Unsuitable("%v", err)
	}
	for i, s := range f.Opts.Rekey.Spaces {
		if err := m.declare(f, n, s); err != nil {
			return nil, Unsuitable("space %d%s: %v", i+1, in(s.File, s.Line), err)
		}
	}
	if f.Opts.Rekey.Auto {
		m.count(f)
	}
	for m.follow(f) {
	}
	for i, c := range f.Opts.Rekey.Counters {
		if err := m.declareCounter(f, n, c); err != nil {
			return nil, Unsuitable("counter %d%s: %v", i+1, in(c.File, c.Line), err)
		}
	}
	return m, m.contradiction(f)
}

// declare adds a space that the operator names.
func (m *Moving) declare(f *Resolved, n Names, s Space) error {
	kept, err := ParseKeep(s.Keep)
	if err != nil {
		return err
	}
	k := &KeySpace{Space: s, Kept: kept}
	var left []string // keys of tables whose rows stay behind
	for _, text := range s.Keys {
		err := n.each(text, func(at ColumnName, exact bool) error {
			if !exact {
				return fmt.Errorf("%q is a pattern: want the names of key columns", text)
			}
			if f.Skip[at.Table] {
				left = append(left, at.String())
				return nil
			}
			k.Columns = append(k.Columns, at)
			return m.addKey(f, at, k)
		})
		if err != nil {
			return err
		}
	}
	if len(left) > 0 && len(k.Columns) == 0 {
		return fmt.Errorf("the rows of its tables stay behind ([[merge.table]]), so no key of %s gets a new value: remove the space or the policy", catalog.Few(left))
	}
	if k.Name == "" {
		if len(k.Columns) != 1 {
			return fmt.Errorf("it has no name and %d keys: want a name", len(k.Columns))
		}
		k.Name = k.Columns[0].String()
	}
	if slices.ContainsFunc(m.Spaces, func(other *KeySpace) bool { return other.Name == k.Name }) {
		return fmt.Errorf("there are two spaces named %q", k.Name)
	}
	if err := knownSources(f, s.Offsets); err != nil {
		return err
	}
	if err := matchBy(f, n, k); err != nil {
		return err
	}
	if err := mapFrom(f, k); err != nil {
		return err
	}
	m.Spaces = append(m.Spaces, k)
	return nil
}

// knownSources returns an error if an offset is for none of the worlds.
func knownSources(f *Resolved, offsets map[string]uint64) error {
	for _, source := range slices.Sorted(maps.Keys(offsets)) {
		if !slices.ContainsFunc(f.DBs, func(db *Database) bool { return db.Name == source && db != f.Model() }) {
			return fmt.Errorf("offset: no world is named %q", source)
		}
	}
	return nil
}

// addKey notes that a column holds keys of a space.
func (m *Moving) addKey(f *Resolved, at ColumnName, k *KeySpace) error {
	if other := m.Columns[at]; other != nil {
		return fmt.Errorf("%s is also a key of the space %q", at, other.Cases[0].Space.Name)
	}
	for db, t := range f.Having(at.Table) {
		switch c := t.Column(at.Column); {
		case c == nil:
			return fmt.Errorf("table %s of %s has no column %s", at.Table, db.Name, at.Column)
		case c.Kind != catalog.KindInteger:
			return fmt.Errorf("%s is %s in %s: only integers can be given new values", at, c.Declared(), db.Name)
		case c.Generated != "":
			return fmt.Errorf("%s is generated by %s: it is computed from other columns; declare those", at, db.Name)
		}
	}
	role := f.Declared.Role(at.Table, at.Column)
	if earlier := role.Source.File; role.Kind != RoleReference && 0 < earlier && earlier <= k.After { // a key may be a reference, too
		f.Declared.Beaten = append(f.Declared.Beaten, fmt.Sprintf("%s: a key of the space %q has precedence over %s", at, cmp.Or(k.Name, at.String()), role.Source.text))
		delete(f.Declared.Roles, at)
		role = f.Declared.Role(at.Table, at.Column)
	}
	if role.Kind != RoleReference && !role.Source.Exact && !k.Auto {
		delete(f.Declared.Roles, at) // a pattern: the space names the column
	} else if role.Kind != RoleOpen && role.Kind != RoleReference {
		return fmt.Errorf("%s is also declared by %s: a column that gets new values cannot be", at, role.Source)
	}
	if f.Same[at.Table] {
		return fmt.Errorf("the table %s is declared the same in every world, but would differ with new values in %s", at.Table, at.Column)
	}
	m.Columns[at] = &MovedColumn{ColumnName: at, Key: true, Cases: []MovedCase{{Space: k}}}
	return nil
}

// count makes a space of each key that the first world counts up itself.
func (m *Moving) count(f *Resolved) {
	for _, table := range f.Tables {
		_, t := f.ModelOf(table)
		counter := t.AutoIncrement
		if counter == nil || f.Same[table] || f.Combined[table] != nil || !slices.Equal(t.Key(), []string{counter.Column}) {
			continue
		}
		at := ColumnName{table, counter.Column}
		if m.Columns[at] != nil || !f.Unsaid(table, counter.Column) {
			continue
		}
		k := &KeySpace{Space: Space{Name: at.String()}, Columns: []ColumnName{at}, Auto: true}
		if m.addKey(f, at, k) == nil {
			m.Spaces = append(m.Spaces, k)
		}
	}
}

// follow adds what refers to a column of a space, and reports whether there was any
// that had not been added.
func (m *Moving) follow(f *Resolved) (more bool) {
	for _, table := range f.Tables {
		for _, ref := range f.Declared.OfSpaces(table) {
			k := slices.IndexFunc(m.Spaces, func(k *KeySpace) bool { return k.Name == ref.Space })
			more = m.add(ColumnName{table, ref.Columns[0]}, MovedCase{m.Spaces[k], ref}) || more
		}
		refs := f.References(table)
		for _, ref := range f.Declared.Severally(table) {
			refs = append(refs, *ref)
		}
		for i := range refs {
			ref := &refs[i]
			for c, name := range ref.Columns {
				at := ColumnName{table, name}
				for _, to := range ref.Targets(c) {
					if there := m.Columns[to]; there != nil && at != to {
						more = m.add(at, MovedCase{there.Cases[0].Space, ref}) || more
					}
				}
			}
		}
	}
	return more
}

// add adds a case to a column, unless the column has it.
func (m *Moving) add(at ColumnName, c MovedCase) bool {
	have := m.Columns[at]
	if have == nil {
		have = &MovedColumn{ColumnName: at}
		m.Columns[at] = have
	}
	if have.Key && have.Cases[0].Space == c.Space {
		return false
	}
	if slices.ContainsFunc(have.Cases, func(other MovedCase) bool {
		return other.Space == c.Space && other.Ref != nil &&
			(other.Ref.Same(c.Ref) || other.Ref.When == nil && c.Ref.When == nil && other.Ref.Declared.Format == c.Ref.Declared.Format)
	}) {
		return false
	}
	have.Cases = append(have.Cases, c)
	return true
}

// contradiction says what cannot be.
func (m *Moving) contradiction(f *Resolved) error {
	if err := m.matchContradiction(); err != nil {
		return err
	}
	for _, at := range m.InOrder() {
		c := m.Columns[at]
		for i, a := range c.Cases {
			if a.Ref != nil && a.Ref.When != nil && m.Columns[ColumnName{at.Table, a.Ref.When.Column}] != nil {
				return Unsuitable("%s%s refers to the space %q when %s, but the values of %s change too: after the merge the condition would select other rows. Use a condition on a column whose values do not change",
					at, a.in(), a.Space.Name, a.Ref.When, a.Ref.When.Column)
			}
			for _, b := range c.Cases[:i] {
				apart := a.Ref != nil && b.Ref != nil && (a.Ref.When.Excludes(b.Ref.When) || a.Cells() != nil && b.Cells() != nil)
				if a.Space != b.Space && !apart && (a.Ref == nil || b.Ref == nil || a.Ref.Identity() != b.Ref.Identity()) {
					return Unsuitable("%s%s would get the new values of both %q and %q: declare the two as one space, or declare which rows use which", at, a.in(), b.Space.Name, a.Space.Name)
				}
			}
		}
		if role := f.Declared.Role(at.Table, at.Column); role.Kind == RoleShared || role.Kind == RolePlain {
			return Unsuitable("%s%s refers to the space %q, and is declared by %s", at, c.Cases[0].in(), c.Cases[0].Space.Name, role.Source)
		}
		if f.Same[at.Table] {
			return Unsuitable("the table %s is declared the same in every world, but would differ with new values in %s%s", at.Table, at.Column, c.Cases[0].in())
		}
		for db, t := range f.Having(at.Table) {
			col := t.Column(at.Column)
			if of, in := c.inUnique(t); in {
				return Unsuitable("%s%s refers to the space %q with a format of several columns, one of which, %s, is in a key of %s: keys of such rows cannot be compared", at, c.Cases[0].in(), c.Cases[0].Space.Name, of, db.Name)
			}
			switch {
			case col == nil:
			case col.Generated != "":
				return Unsuitable("%s%s refers to the space %q and is generated by %s: declare the columns that it is computed from", at, c.Cases[0].in(), c.Cases[0].Space.Name, db.Name)
			case slices.ContainsFunc(c.Cases, func(c MovedCase) bool { return c.Cells() != nil }): // see inCells
			case col.Kind != catalog.KindInteger && col.Kind != catalog.KindDecimal && col.Kind != catalog.KindText:
				return Unsuitable("%s%s refers to the space %q and is %s in %s: only integers, and their digits in a text, can be given new values", at, c.Cases[0].in(), c.Cases[0].Space.Name, col.Declared(), db.Name)
			}
		}
	}
	return nil
}

// InOrder are the columns by name.
func (m *Moving) InOrder() []ColumnName {
	return slices.SortedFunc(maps.Keys(m.Columns), func(a, b ColumnName) int { return strings.Compare(a.String(), b.String()) })
}

// Of returns the columns of a table, by name.
func (m *Moving) Of(table string) (all []*MovedColumn) {
	for _, at := range m.InOrder() {
		if at.Table == table {
			all = append(all, m.Columns[at])
		}
	}
	return all
}
