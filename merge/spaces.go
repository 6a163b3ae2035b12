package merge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/rekey"
)

// Rekey says which keys get new values in a merge, together with all references to
// them.
type Rekey struct {
	// Spaces are those that the operator names.
	Spaces []Space `json:"spaces,omitempty"`

	// Auto makes a space of every key of one column that the target generates, if no
	// other statement covers it.
	Auto bool `json:"auto,omitempty"`

	// Offsets are the numbers for all spaces of some sources, by name, that the operator
	// chose.
	Offsets map[string]uint64 `json:"offsets,omitempty"`

	// Counters are columns in which the game counts keys of a space.
	Counters []CounterRow `json:"counters,omitempty"`

	// Fleet are the ranges that the fleet registry gave to worlds; nil if there is no
	// registry. No key gets a value that is another world's, and one of its own world's only
	// by an offset that the operator chose.
	Fleet []FleetRange `json:"fleet,omitzero"`
}

// Space is a set of keys that name one kind of thing: every key of a source gets the
// same number added.
type Space struct {
	Name string   `json:"name,omitempty"` // needed for several keys, or none
	Keys []string `json:"keys,omitempty"` // columns, as "table.column"; none for things without a table

	// Step is what the number is a multiple of; the largest of all spaces counts. 0 is
	// [rekey.DefaultStep]. Max is the largest key that clients take; 0: any.
	Step uint64 `json:"step,omitempty"`
	Max  uint64 `json:"max,omitempty"`

	// Keep are the keys of rows that are built in, and so the same in every world: a
	// value, or a bound such as "<1000". They keep their values, as do references to them.
	// The target's rows stay; those of the sources are checked to be equal, and not
	// copied.
	Keep string `json:"keep,omitempty"`

	// Offsets are the numbers for some sources, by name, that the operator chose.
	Offsets map[string]uint64 `json:"offsets,omitempty"`

	// Match are columns of the table of one of Keys: rows of several worlds with the same
	// values there, as the target compares, are the same thing. The key of such a row of a
	// source becomes that of the target's, or of that of a source before it.
	Match []string `json:"match,omitempty"`

	// Map is the plan of another merge by which the space moves; nil: none.
	Map *MapFrom `json:"map,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// spacePrefix is before the name of a space in a reference to it.
const spacePrefix = "space:"

// keySpace is a space as it is in the databases of a check.
type keySpace struct {
	Space
	keys []columnName
	kept rekey.Values // of Keep
	by   *MatchedBy   // of Match; nil: none
	auto bool
}

// movedColumn is a column of which values move: as keys of a space, or since they refer
// to such.
type movedColumn struct {
	columnName
	key   bool
	cases []movedCase // of which no two are about one row
}

// movedCase are the rows of a column that refer to the keys of one space, or that are
// such keys.
type movedCase struct {
	space *keySpace
	ref   *reference // nil for a key
}

// plainShift reports whether every row of the column moves alike, but for values that
// stay; stay are these.
func (m *movedColumn) plainShift() (space *keySpace, stay rekey.Values, ok bool) {
	for i, c := range m.cases {
		if c.ref == nil {
			return c.space, c.space.kept, true
		}
		if c.ref.when != nil || c.cells() != nil || i > 0 && (c.space != space || !stay.Equal(c.ref.none)) {
			return nil, stay, false
		}
		space, stay = c.space, c.ref.none
	}
	return space, stay, true
}

// moving is what the spaces of a check say of all columns.
type moving struct {
	spaces   []*keySpace
	columns  map[columnName]*movedColumn
	counters []keptCounter
}

// moves resolves the spaces against the tables of the databases; nil if no keys get new
// values.
func moves(f *facts) (*moving, error) {
	if f.opts.Rekey == nil {
		return nil, nil
	}
	m := &moving{columns: make(map[columnName]*movedColumn)}
	n := f.names
	if err := knownSources(f, f.opts.Rekey.Offsets); err != nil {
		return nil, unsuitable("%v", err)
	}
	for i, s := range f.opts.Rekey.Spaces {
		if err := m.declare(f, n, s); err != nil {
			return nil, unsuitable("space %d%s: %v", i+1, in(s.File, s.Line), err)
		}
	}
	if f.opts.Rekey.Auto {
		m.count(f)
	}
	for m.follow(f) {
	}
	for i, c := range f.opts.Rekey.Counters {
		if err := m.declareCounter(f, n, c); err != nil {
			return nil, unsuitable("counter %d%s: %v", i+1, in(c.File, c.Line), err)
		}
	}
	return m, m.contradiction(f)
}

// declare adds a space that the operator names.
func (m *moving) declare(f *facts, n names, s Space) error {
	kept, err := parseKeep(s.Keep)
	if err != nil {
		return err
	}
	k := &keySpace{Space: s, kept: kept}
	var left []string // keys of tables whose rows stay behind
	for _, text := range s.Keys {
		err := n.each(text, func(at columnName, exact bool) error {
			if !exact {
				return fmt.Errorf("%q is a pattern: want the names of key columns", text)
			}
			if f.skip[at.table] {
				left = append(left, at.String())
				return nil
			}
			k.keys = append(k.keys, at)
			return m.addKey(f, at, k)
		})
		if err != nil {
			return err
		}
	}
	if len(left) > 0 && len(k.keys) == 0 {
		return fmt.Errorf("the rows of its tables stay behind ([[merge.table]]), so that no key of %s gets a new value: remove the space, or the policy", few(left))
	}
	if k.Name == "" {
		if len(k.keys) != 1 {
			return fmt.Errorf("it has no name and %d keys: want a name", len(k.keys))
		}
		k.Name = k.keys[0].String()
	}
	if slices.ContainsFunc(m.spaces, func(other *keySpace) bool { return other.Name == k.Name }) {
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
	m.spaces = append(m.spaces, k)
	return nil
}

// knownSources returns an error if an offset is for none of the sources.
func knownSources(f *facts, offsets map[string]uint64) error {
	for _, source := range slices.Sorted(maps.Keys(offsets)) {
		if !slices.ContainsFunc(f.dbs, func(db *database) bool { return db.name == source && db != f.target }) {
			return fmt.Errorf("offset: no source is named %q", source)
		}
	}
	return nil
}

// addKey notes that a column holds keys of a space.
func (m *moving) addKey(f *facts, at columnName, k *keySpace) error {
	if other := m.columns[at]; other != nil {
		return fmt.Errorf("%s is a key of the space %q too", at, other.cases[0].space.Name)
	}
	for db, t := range f.having(at.table) {
		switch c := t.column(at.column); {
		case c == nil:
			return fmt.Errorf("table %s of %s has no column %s", at.table, db.name, at.column)
		case c.Kind != KindInteger:
			return fmt.Errorf("%s is %s in %s: only integers can be given new values", at, c.Type, db.name)
		case c.Generated != "":
			return fmt.Errorf("%s is generated by %s: it is computed from other columns; declare those", at, db.name)
		}
	}
	role := f.declared.role(at.table, at.column)
	if role.kind != roleReference && !role.source.exact && !k.auto {
		delete(f.declared.roles, at) // a pattern: the space names the column
	} else if role.kind != roleOpen && role.kind != roleReference {
		return fmt.Errorf("%s is also declared by %s: a column that gets new values cannot be that", at, role.source.text)
	}
	if f.same[at.table] {
		return fmt.Errorf("the table %s is declared the same in every world, and would not be with new values in %s", at.table, at.column)
	}
	m.columns[at] = &movedColumn{columnName: at, key: true, cases: []movedCase{{space: k}}}
	return nil
}

// count makes a space of each key that the target counts up itself.
func (m *moving) count(f *facts) {
	for _, table := range f.tables {
		_, t := f.model(table)
		counter := t.AutoIncrement
		if counter == nil || f.same[table] || f.combined[table] != nil || !slices.Equal(t.key(), []string{counter.Column}) {
			continue
		}
		at := columnName{table, counter.Column}
		if m.columns[at] != nil || f.declared.role(table, counter.Column).kind != roleOpen || foreignKey(f, table, counter.Column) {
			continue
		}
		k := &keySpace{Space: Space{Name: at.String()}, keys: []columnName{at}, auto: true}
		if m.addKey(f, at, k) == nil {
			m.spaces = append(m.spaces, k)
		}
	}
}

// follow adds what refers to a column of a space, and reports whether there was any
// that had not been added.
func (m *moving) follow(f *facts) (more bool) {
	for _, table := range f.tables {
		for _, ref := range f.declared.ofSpaces(table) {
			k := slices.IndexFunc(m.spaces, func(k *keySpace) bool { return k.Name == ref.space })
			more = m.add(columnName{table, ref.Columns[0]}, movedCase{m.spaces[k], ref}) || more
		}
		refs := f.references(table)
		for _, ref := range f.declared.severally(table) {
			refs = append(refs, *ref)
		}
		for i := range refs {
			ref := &refs[i]
			for c, name := range ref.Columns {
				at := columnName{table, name}
				for _, to := range append([]columnName{{ref.ToTable, ref.ToColumns[c]}}, ref.or...) {
					if there := m.columns[to]; there != nil && at != to {
						more = m.add(at, movedCase{there.cases[0].space, ref}) || more
					}
				}
			}
		}
	}
	return more
}

// add adds a case to a column, unless the column has it.
func (m *moving) add(at columnName, c movedCase) bool {
	have := m.columns[at]
	if have == nil {
		have = &movedColumn{columnName: at}
		m.columns[at] = have
	}
	if have.key && have.cases[0].space == c.space {
		return false
	}
	if slices.ContainsFunc(have.cases, func(other movedCase) bool {
		return other.space == c.space && other.ref != nil &&
			(other.ref.same(c.ref) || other.ref.when == nil && c.ref.when == nil && other.ref.declared.Format == c.ref.declared.Format)
	}) {
		return false
	}
	have.cases = append(have.cases, c)
	return true
}

// contradiction says what cannot be.
func (m *moving) contradiction(f *facts) error {
	if err := m.matchContradiction(); err != nil {
		return err
	}
	for _, at := range m.inOrder() {
		c := m.columns[at]
		for i, a := range c.cases {
			if a.ref != nil && a.ref.when != nil && m.columns[columnName{at.table, a.ref.when.Column}] != nil {
				return unsuitable("%s refers to the space %q when %s, and values of %s get new ones, too: after the merge the condition would select other rows. Declare it by a column whose values stay",
					at, a.space.Name, a.ref.when, a.ref.when.Column)
			}
			for _, b := range c.cases[:i] {
				apart := a.ref != nil && b.ref != nil && (a.ref.when.Excludes(b.ref.when) || a.cells() != nil && b.cells() != nil)
				if a.space != b.space && !apart && (a.ref == nil || b.ref == nil || a.ref.identity() != b.ref.identity()) {
					return unsuitable("%s would get the new values of %q and of %q: declare the two as one space, or the rows for which each counts", at, b.space.Name, a.space.Name)
				}
			}
		}
		if role := f.declared.role(at.table, at.column); role.kind == roleNatural || role.kind == roleShared || role.kind == rolePlain {
			return unsuitable("%s refers to the space %q, and is declared by %s", at, c.cases[0].space.Name, role.source.text)
		}
		if f.same[at.table] {
			return unsuitable("the table %s is declared the same in every world, and would not be with new values in %s", at.table, at.column)
		}
		for db, t := range f.having(at.table) {
			col := t.column(at.column)
			if of, in := c.inUnique(t); in {
				return unsuitable("%s refers to the space %q, and its format is of several columns, of which %s is in a key of %s: keys of such rows cannot be compared", at, c.cases[0].space.Name, of, db.name)
			}
			switch {
			case col == nil:
			case col.Generated != "":
				return unsuitable("%s refers to the space %q and is generated by %s: declare the columns that it is computed from", at, c.cases[0].space.Name, db.name)
			case slices.ContainsFunc(c.cases, func(c movedCase) bool { return c.cells() != nil }): // see inCells
			case col.Kind != KindInteger && col.Kind != KindDecimal && col.Kind != KindText:
				return unsuitable("%s refers to the space %q and is %s in %s: only integers, and their digits in a text, can be given new values", at, c.cases[0].space.Name, col.Type, db.name)
			}
		}
	}
	return nil
}

// inOrder are the columns by name.
func (m *moving) inOrder() []columnName {
	return slices.SortedFunc(maps.Keys(m.columns), func(a, b columnName) int { return strings.Compare(a.String(), b.String()) })
}

// of returns the columns of a table, by name.
func (m *moving) of(table string) (all []*movedColumn) {
	for _, at := range m.inOrder() {
		if at.table == table {
			all = append(all, m.columns[at])
		}
	}
	return all
}
