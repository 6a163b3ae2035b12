package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// The codes about keys that get new values.
const (
	CodeKeySpace      = "key-space"
	CodeKeyNobody     = "key-nobody"
	CodeKeyUndeclared = "key-undeclared"
)

// spaceRule judges whether the keys of the sources can get values of their own.
func spaceRule() rule {
	return rule{codes: []Code{{
		Code:       CodeKeySpace,
		Meaning:    "the keys of a source cannot get new values: a column is too narrow, an offset conflicts with other keys, or a value is not a number",
		Counts:     "columns or values that prevent it",
		Action:     "give the column a larger type in all databases, or choose other offsets",
		Unverified: "see why the values could not be read",
	}, {
		Code:       CodeKeyNobody,
		Meaning:    "values of a reference may mean no row, and would get new values as if they were keys",
		Unverified: "declare that these values name no row (none), or that they are keys of rows that are gone (dangling)",
	}, {
		Code:       CodeKeyUndeclared,
		Meaning:    "a key stays unchanged while others get new values, and no rule says whether it is one of the game's own data",
		Unverified: "declare the column: a key of a space, a reference, or natural",
		OneColumn:  true,
	}, {
		Code:       CodeKeyCounter,
		Meaning:    "a game seems to count its keys in a column that is not declared, or that cannot be raised",
		Unverified: "declare the counter, or that the column is not one",
		OneColumn:  true,
	}}}
}

// spaceTasks chooses the offsets, before anything is compared.
func spaceTasks(f *facts) []task {
	if f.moving == nil {
		return nil
	}
	var tables []string
	for _, at := range f.moving.inOrder() {
		if !slices.Contains(tables, at.table) {
			tables = append(tables, at.table)
		}
	}
	return []task{{taskID{code: CodeKeySpace}, tables, func(ctx context.Context, r *reader) (outcome, error) {
		read, err := (&spaceReader{reader: r, code: CodeKeySpace, moving: f.moving}).measure(ctx)
		if err != nil {
			return outcome{}, err
		}
		return judgeSpaces(ctx, f, r, read)
	}}}
}

// judgeSpaces chooses the offsets and says what stands in their way.
func judgeSpaces(ctx context.Context, f *facts, r *reader, read *measured) (outcome, error) {
	chosen, o := chooser{f, read}.offsets()
	for _, at := range f.moving.inOrder() {
		results, err := judgeMoved(ctx, f, r, f.moving.columns[at], read)
		if err != nil {
			return o, err
		}
		o.add(found(results...))
	}
	if chosen == nil { // what the keys will be is not known, so nothing can be said of them
		for _, t := range cellTasks(f) { // but whether those in cells can be found
			in, err := t.run(ctx, r)
			if err != nil {
				return o, err
			}
			o.add(in)
		}
		o.ends = true
		return o, nil
	}
	o.rekeyed = chosen
	for _, s := range chosen.report.Spaces {
		result := Result{Code: CodeKeySpace, Table: spaceTable(f, s.Name), Subject: s.Name, Read: s.Target.Rows}
		var parts []string
		for _, of := range s.Sources {
			result.Read += of.Rows
			if of.Offset > 0 {
				parts = append(parts, fmt.Sprintf("%s + %s", of.Source, printable.Number(int64(of.Offset))))
			}
			if n := of.Matched.Len(); n > 0 {
				parts = append(parts, fmt.Sprintf("%s of %s matched", printable.Count(int64(n), "key", "keys"), of.Source))
			}
		}
		result.Message = "the keys of the sources are disjoint already"
		if len(parts) > 0 {
			result.Message = "new keys: " + few(parts)
		}
		o.add(found(result))
	}
	if chosen.report.Moves() {
		apart, err := (&spaceReader{r, CodeKeySpace, f.moving, read}).columnsApart(ctx, chosen)
		if err != nil {
			return o, err
		}
		o.add(found(judgeApart(f, apart)...))
		o.add(found(append(undeclaredKeys(f), guessedKeys(f, chosen, read)...)...))
		o.add(found(judgeCounters(f, read.counters)...))
	}
	return o, nil
}

// judgeApart reports numbers in rows of the target that stay, and would name rows that
// come.
func judgeApart(f *facts, apart []apartColumn) (results []Result) {
	for _, c := range apart {
		result := Result{Code: CodeReferenceUndeclared, Table: c.table, Subject: c.column, Columns: []string{c.column}, Count: c.rows, Rows: c.rows,
			Open: &OpenColumn{Keys: c.names}, Gaps: []Gap{{f.target.name, "a column that is not declared has values which, if they are keys, would name other rows after the merge"}}}
		result.Message = fmt.Sprintf("%s of %s, whose rows stay, would name rows that come", printable.Count(c.rows, "value", "values"), f.target.name)
		result.Next = []string{chooseText(result.Open, c.table, c.column)}
		results = append(results, result)
	}
	return results
}

// spaceTable is the table of the only key of a space; "" otherwise.
func spaceTable(f *facts, name string) string {
	for _, s := range f.moving.spaces {
		if s.Name == name && len(s.keys) == 1 {
			return s.keys[0].table
		}
	}
	return ""
}

// judgeMoved says what is wrong with the values of a column that moves.
func judgeMoved(ctx context.Context, f *facts, r *reader, c *movedColumn, read *measured) (results []Result, err error) {
	nobody := Result{Code: CodeKeyNobody, Table: c.table, Subject: c.column, Columns: []string{c.column}}
	foreign := Result{Code: CodeKeySpace, Table: c.table, Subject: c.column, Columns: []string{c.column}}
	var odd []string
	var kept []conflict
	for _, db := range f.dbs {
		for _, k := range read.rows[c][db] {
			foreign.Count += k.foreign
			for _, m := range k.foreigns {
				kept = append(kept, conflict{rows: 1, members: []member{m}})
			}
			for _, v := range k.odd {
				nobody.Gaps = append(nobody.Gaps, Gap{db.name, fmt.Sprintf("%s in %s: %s", v.value, printable.Count(v.rows, "row", "rows"), v.why)})
				if text := v.value.String(); !slices.Contains(odd, text) {
					odd = append(odd, text)
				}
			}
		}
	}
	if foreign.Count > 0 {
		foreign.Rows = foreign.Count
		foreign.Message = printable.Count(foreign.Count, "value is", "values are") + " not a plain number, and cannot get a new value"
		foreign.Next = []string{"correct the values, or declare those that mean no row: none = [...]"}
		if foreign.Samples, err = r.samples(ctx, kept, c.table, []string{c.column}); err != nil {
			return nil, err
		}
		results = append(results, foreign)
	}
	if len(odd) > 0 {
		nobody.Message = "may mean no row: " + few(odd)
		at, to := printable.TOML(place(c.table, c.column)), ""
		if ref := c.cases[0].ref; ref != nil {
			to = printable.TOML(referenceTarget(ref))
		}
		nobody.Next = []string{fmt.Sprintf("[[check.reference]] at = [%s], to = %s, none = [%s]; or dangling = [...] for values whose rows are gone", at, to, strings.Join(odd, ", "))}
		results = append(results, nobody)
	}
	return results, nil
}

// referenceTarget is what a reference of one column names, as it is declared.
func referenceTarget(ref *reference) string {
	if ref.space != "" {
		return spacePrefix + ref.space
	}
	return place(ref.ToTable, ref.ToColumns[0])
}

// undeclaredKeys are the integers in keys of which nobody said what they are.
func undeclaredKeys(f *facts) (results []Result) {
	for _, table := range f.tables {
		_, model := f.model(table)
		rows := int64(0)
		for db := range f.having(table) {
			if db != f.target {
				rows += db.rows[table]
			}
		}
		if f.same[table] || rows == 0 {
			continue
		}
		for _, name := range model.key() {
			at := columnName{table, name}
			if col := model.column(name); col == nil || col.Kind != KindInteger || f.moving.columns[at] != nil ||
				f.declared.role(table, name).kind != roleOpen || foreignKey(f, table, name) {
				continue
			}
			results = append(results, Result{
				Code: CodeKeyUndeclared, Table: table, Subject: name, Columns: []string{name},
				Message: "a number in the key, which stays unchanged while other keys get new values",
				Gaps:    []Gap{{Reason: "it is not declared whether it numbers things of one world, or is a key of the game's own data"}},
				Next: []string{fmt.Sprintf("declare in [check] natural = [%s]; or [[merge.space]] keys = [%[1]s]; or [[check.reference]] at = [%[1]s], to = the key that it names",
					printable.TOML(place(table, name)))},
			})
		}
	}
	return results
}

// guessedKeys are the keys that are a space only because the target counts them up, and
// that may name rows of another space nevertheless, as stats.guid does those of chars. As
// long as all spaces of a source have one offset, that does not matter.
func guessedKeys(f *facts, chosen *rekeyed, read *measured) (results []Result) {
	for _, s := range f.moving.spaces {
		if !s.auto {
			continue
		}
		at := s.keys[0]
		result := Result{Code: CodeKeyUndeclared, Table: at.table, Subject: at.column, Columns: []string{at.column}}
		for _, other := range f.moving.spaces {
			for _, db := range sourcesOf(f) {
				keys := read.keys[at][db]
				if keys != nil && meetsMatched(keys, chosen.pairs[other][db]) {
					result.Gaps = append(result.Gaps, Gap{db.name, fmt.Sprintf("keys of %s are matched (match), and this column has the same values: declare whether it names them", other.Name)})
					continue
				}
				if keys == nil || chosen.of[s][db] == chosen.of[other][db] || !slices.ContainsFunc(read.setsOf(other, db), keys.Meets) {
					continue
				}
				result.Gaps = append(result.Gaps, Gap{db.name, fmt.Sprintf("%d is added to it, and %d to %s, which has the same keys: declare whether it names them", chosen.of[s][db], chosen.of[other][db], other.Name)})
			}
		}
		if len(result.Gaps) > 0 {
			result.Message = "a number that the database generates, and that may be the key of another table"
			result.Next = []string{fmt.Sprintf("declare [[merge.space]] keys = [%s]; or [[check.reference]] at = [%[1]s], to = the key that it names", printable.TOML(place(at.table, at.column)))}
			results = append(results, result)
		}
	}
	return results
}

// meetsMatched reports whether any of some keys is matched.
func meetsMatched(keys *rekey.Set, pairs *rekey.Pairs) bool {
	for old := range pairs.All() {
		if keys.Has(old) {
			return true
		}
	}
	return false
}

// rekeyed is what a merge does to keys, as the rules use it.
type rekeyed struct {
	target *database
	moving *moving
	report *Rekeying
	of     map[*keySpace]map[*database]uint64
	pairs  map[*keySpace]map[*database]*rekey.Pairs // that are matched
	bent   map[*movedColumn]bool                    // values do not keep their order
	step   uint64                                   // that offsets in common are multiples of
	read   *measured                                // by which it was chosen
}

// offset is what is added to the keys in a column of a database, and to what refers to
// them in other columns.
func (k *rekeyed) offset(db *database, table, column string) uint64 {
	if k == nil {
		return 0
	}
	m := k.moving.columns[columnName{table, column}]
	if m == nil {
		return 0
	}
	return k.of[m.cases[0].space][db]
}

// movesAlone reports whether all values of a column that name anything move alike, so
// that those of no two databases meet.
func (k *rekeyed) movesAlone(table, column string) bool {
	if k == nil {
		return false
	}
	m := k.moving.columns[columnName{table, column}]
	if m == nil {
		return false
	}
	space, _, plain := m.plainShift()
	return plain && !k.matchesAny(space)
}

// plainShifts are what becomes of the values of columns of which all rows move alike.
func (k *rekeyed) plainShifts(db *database, table string) map[string]*rekey.Shift {
	shifts := make(map[string]*rekey.Shift)
	if k == nil || db == k.target {
		return shifts
	}
	for _, c := range k.moving.of(table) {
		if space, stay, ok := c.plainShift(); ok && k.movesIn(space, db) {
			if shift := k.shiftOf(space, db, stay); shift.InSQL() {
				shifts[c.column] = shift
			}
		}
	}
	return shifts
}

// movesUnclear says why a condition on some columns of a database cannot be tried on the
// values that they will have, or returns "". keeps reports whether it is as true of a cell in
// which keys get new values as it was before.
func (k *rekeyed) movesUnclear(db *database, table string, columns []string, keeps func(column string, in []*reference) bool) string {
	if k == nil || db == k.target {
		return ""
	}
	shifts := k.plainShifts(db, table)
	cells := k.movingCells(db, table)
	for _, name := range columns {
		m := k.moving.columns[columnName{table, name}]
		switch {
		case cells[name] != nil:
			if !keeps(name, cells[name]) {
				return "keys in the cells of " + name + " get new values"
			}
		case m != nil && shifts[name] == nil && slices.ContainsFunc(m.cases, func(c movedCase) bool { return k.movesIn(c.space, db) }):
			return "only some of the values of " + name + " get new ones, or too many of them are matched"
		case (len(shifts) > 0 || len(cells) > 0) && db.tables[table].column(name).Generated != "":
			return name + " is generated, perhaps from values that get new ones"
		}
	}
	return ""
}

// generatedFromMoving names a column of which values get new ones and from which a database
// makes those of another column; "" if there is none.
func (k *rekeyed) generatedFromMoving(db *database, table, column string) string {
	t := db.tables[table]
	if t == nil || t.column(column) == nil || t.column(column).Generated == "" {
		return ""
	}
	made := strings.ToLower(t.column(column).Generated)
	for _, m := range k.moving.of(table) {
		for _, of := range m.cases {
			if k.movesIn(of.space, db) && strings.Contains(made, strings.ToLower(m.column)) {
				return m.column
			}
		}
	}
	return ""
}

// shift returns what becomes of the values of a column of a database. An error says why
// they cannot be put in the order that they will have.
func (k *rekeyed) shift(db *database, table, column string) (*rekey.Shift, error) {
	if k == nil || db == k.target {
		return nil, nil
	}
	m := k.moving.columns[columnName{table, column}]
	if m == nil {
		if from := k.generatedFromMoving(db, table, column); from != "" {
			return nil, &UnsupportedError{Column: column, Reason: "it is generated from " + from + ", whose values change, so its own will change too"}
		}
		return nil, nil
	}
	moves := slices.ContainsFunc(m.cases, func(c movedCase) bool { return k.movesIn(c.space, db) })
	space, stay, plain := m.plainShift()
	switch {
	case !moves:
		return nil, nil
	case !plain || k.bent[m] && k.pairs[space][db].Len() == 0: // where keys are matched, the rows are sorted again
		return nil, &UnsupportedError{Column: column, Reason: "only some of its values move, so its rows are read in another order than they will have"}
	default:
		return k.shiftOf(space, db, stay), nil
	}
}

// tellsApart reports whether no row of a table is equal to one of another database in some
// columns, since all values of one of them get new ones of one space: every database has
// these in a range of its own.
func (k *rekeyed) tellsApart(table string, columns []string) bool {
	return k != nil && slices.ContainsFunc(columns, func(name string) bool {
		m := k.moving.columns[columnName{table, name}]
		if m == nil {
			return false
		}
		space, stay, plain := m.plainShift()
		return plain && stay.Empty() && !k.matchesAny(space)
	})
}
