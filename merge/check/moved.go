package check

import (
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// movingCells are the columns of a database in which keys inside cells get new values, and the
// references that are about them.
func (k *Rekeyed) movingCells(db *rules.Database, table string) map[string][]*rules.Ref {
	all := make(map[string][]*rules.Ref)
	for _, c := range k.Moving.Of(table) {
		for _, of := range c.Cases {
			cells := of.Cells()
			if cells == nil || k.Of[of.Space][db] == 0 {
				continue
			}
			for _, name := range cells.Columns() {
				all[name] = append(all[name], of.Ref)
			}
		}
	}
	return all
}

// The keys of spaces and what refers to them are read before all else, so that offsets
// can be chosen. What follows from that is not read again.

// knownKeys returns the keys in a column of a database if they were read for a space and
// are those of all its rows, one by one; otherwise nil.
func (k *Rekeyed) knownKeys(db *rules.Database, table, column string) *keys.Set {
	if !k.hasKey(table, column) || !k.moved(table, column).Cases[0].Space.Kept.Empty() {
		return nil
	}
	set := k.Read.in[db].keys[rules.ColumnName{Table: table, Column: column}]
	if set == nil || set.Sparse || set.Len() != db.Rows[table] {
		return nil
	}
	return set
}

// moved is what is known of a column whose values may move; nil if none of them does.
func (k *Rekeyed) moved(table, column string) *rules.MovedColumn {
	if k == nil {
		return nil
	}
	return k.Moving.Columns[rules.ColumnName{Table: table, Column: column}]
}

// hasKey reports whether a column has the keys of a space.
func (k *Rekeyed) hasKey(table, column string) bool {
	m := k.moved(table, column)
	return m != nil && m.Key
}

// strays returns the rows of a database that have a reference and lead to no row, as they were seen when the keys were
// read; known is false if not all was seen. None of them leads to a row of another database: new keys lie apart, and what
// refers to them.
func (k *Rekeyed) strays(db *rules.Database, table string, ref *rules.Ref) (rows Faults, known bool) {
	if len(ref.Columns) != 1 {
		return rows, false
	}
	m, to := k.moved(table, ref.Columns[0]), targetOf(ref)
	if m == nil || m.Key || len(m.Cases) > 1 && ref.Cells == nil { // else each case is about all rows
		return rows, false
	}
	read := k.Read.in[db].rows[m]
	i := slices.IndexFunc(m.Cases, func(c rules.MovedCase) bool { return c.Ref.Same(ref) })
	if i < 0 || len(read) <= i || !slices.Contains(m.Cases[i].Space.Columns, to) {
		return rows, false
	}
	if c := &read[i]; c.Unsure || c.Foreign > 0 || c.Stray.Rows > 0 && len(ref.Except) > 0 {
		return rows, false
	}
	return read[i].Stray, true
}

// measured is what was read.
type measured struct {
	in      map[*rules.Database]*measuredIn
	matched map[*rules.KeySpace]*matchedRows
}

// measuredIn is what was read of one database.
type measuredIn struct {
	keys map[rules.ColumnName]*keys.Set
	of   map[*rules.KeySpace]*spaceValues
	rows map[*rules.MovedColumn][]caseRows // by case

	samples map[string]*rowSample          // of tables that may be copied
	sums    map[string]*rowSum             // of tables that are declared the same
	values  *valueKeeper                   // of columns that no space has
	cells   map[rules.ColumnName]*cellPass // see addCells
}

// spaceValues are the values of a space in one database.
type spaceValues struct {
	Keys, Values keys.Range
	Rows         int64
	Limits       []keys.Limit
}

// caseRows is what was read of one case of a column.
type caseRows struct {
	verdict.CaseCounts
	Moved    keys.Range
	Stays    map[keys.Integer]bool // values that name nobody; nil if they are many
	Kept     keys.Range            // of values that name what is the same in every world
	Watched  heavy                 // values that lead nowhere, or seldom somewhere
	Odd      []oddValue
	Foreign  int64 // rows with a value that is no number
	Foreigns []stream.Member
	Stray    Faults // rows with a value that is no key of the column that they name
	Unsure   bool   // there may be more of these
}

// oddValue is a value that may mean nobody, though nothing says so.
type oddValue struct {
	Value keys.Integer
	Rows  int64
	Why   string
}

// heavy counts the values that come most often. Of more than heavyValues different ones
// it forgets the rare ones, and then counts a little less than there are.
type heavy struct{ Rows map[keys.Integer]int64 }

const HeavyValues = 1 << 14

// Rekeyed is what a merge does to keys, as the rules use it.
type Rekeyed struct {
	Moving *rules.Moving
	Report *verdict.Rekeying
	Of     map[*rules.KeySpace]map[*rules.Database]uint64
	Pairs  map[*rules.KeySpace]map[*rules.Database]*keys.Pairs // that are matched
	Bent   map[*rules.MovedColumn]bool                         // values do not keep their order
	Step   uint64                                              // that offsets in common are multiples of
	Read   *measured                                           // by which it was chosen
}

// Offset is what is added to the keys in a column of a database, and to what refers to
// them in other columns.
func (k *Rekeyed) Offset(db *rules.Database, table, column string) uint64 {
	m := k.moved(table, column)
	if m == nil {
		return 0
	}
	return k.Of[m.Cases[0].Space][db]
}

// movesAlone reports whether all values of a column that name anything move alike, so
// that those of no two databases meet.
func (k *Rekeyed) movesAlone(table, column string) bool {
	m := k.moved(table, column)
	if m == nil {
		return false
	}
	space, _, plain := m.PlainShift()
	return plain && !k.matchesAny(space)
}

// plainShifts are what becomes of the values of columns of which all rows move alike.
func (k *Rekeyed) plainShifts(db *rules.Database, table string) map[string]*keys.Shift {
	shifts := make(map[string]*keys.Shift)
	if k == nil {
		return shifts
	}
	for _, c := range k.Moving.Of(table) {
		if space, stay, ok := c.PlainShift(); ok && k.movesIn(space, db) {
			if shift := k.shiftOf(space, db, stay); shift.InSQL() {
				shifts[c.Column] = shift
			}
		}
	}
	return shifts
}

// movesUnclear says why a condition on some columns of a database cannot be tried on the
// values that they will have, or returns "". keeps reports whether it is as true of a cell in
// which keys get new values as it was before.
func (k *Rekeyed) movesUnclear(db *rules.Database, table string, columns []string, keeps func(column string, in []*rules.Ref) bool) string {
	if k == nil {
		return ""
	}
	shifts := k.plainShifts(db, table)
	cells := k.movingCells(db, table)
	for _, name := range columns {
		m := k.moved(table, name)
		switch {
		case cells[name] != nil:
			if !keeps(name, cells[name]) {
				return "keys in the cells of " + name + " get new values"
			}
		case m != nil && shifts[name] == nil && slices.ContainsFunc(m.Cases, func(c rules.MovedCase) bool { return k.movesIn(c.Space, db) }):
			return "only some of the values of " + name + " get new ones, or too many of them are matched"
		case (len(shifts) > 0 || len(cells) > 0) && db.Tables[table].Column(name).Generated != "":
			return name + " is generated, perhaps from values that get new ones"
		}
	}
	return ""
}

// generatedFromMoving names a column of which values get new ones and from which a database
// makes those of another column; "" if there is none.
func (k *Rekeyed) generatedFromMoving(db *rules.Database, table, column string) string {
	t := db.Tables[table]
	if t == nil {
		return ""
	}
	for _, m := range k.Moving.Of(table) {
		for _, of := range m.Cases {
			if k.movesIn(of.Space, db) && t.MadeFrom(column, m.Column) {
				return m.Column
			}
		}
	}
	return ""
}

// Shift returns what becomes of the values of a column of a database. An error says why
// they cannot be put in the order that they will have.
func (k *Rekeyed) Shift(db *rules.Database, table, column string) (*keys.Shift, error) {
	if k == nil {
		return nil, nil
	}
	m := k.moved(table, column)
	if m == nil {
		if from := k.generatedFromMoving(db, table, column); from != "" {
			return nil, &catalog.UnsupportedError{Column: column, Reason: "it is generated from " + from + ", whose values change, so its own will change too"}
		}
		return nil, nil
	}
	moves := slices.ContainsFunc(m.Cases, func(c rules.MovedCase) bool { return k.movesIn(c.Space, db) })
	space, stay, plain := m.PlainShift()
	switch {
	case !moves:
		return nil, nil
	case !plain || k.Bent[m] && k.Pairs[space][db].Len() == 0: // where keys are matched, the rows are sorted again
		return nil, &catalog.UnsupportedError{Column: column, Reason: "only some of its values move, so its rows are not read in their new order"}
	default:
		return k.shiftOf(space, db, stay), nil
	}
}

// tellsApart reports whether no row of a table is equal to one of another database in some
// columns, since all values of one of them get new ones of one space: every database has
// these in a range of its own.
func (k *Rekeyed) tellsApart(table string, columns []string) bool {
	return slices.ContainsFunc(columns, func(name string) bool {
		m := k.moved(table, name)
		if m == nil {
			return false
		}
		space, stay, plain := m.PlainShift()
		return plain && stay.Empty() && !k.matchesAny(space)
	})
}
