package merge

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"mergesafe/gameid"
	"mergesafe/merge/rekey"
)

// candidate is a column of a key that the values of an undeclared column may name:
// the first column of a key or, if its values do not tell the databases apart, a
// further one.
type candidate struct {
	table, column string
	class         keyClass
	collation     string // of texts, that of the target
	words         bool   // of bytes, that texts may name them

	renamed bool // a column of names, of those that several databases have
	first   bool // the first database keeps its name; see RenamedColumn
}

func (c candidate) String() string { return place(c.table, c.column) }

// keyClass is what keys are compared as.
type keyClass int

const (
	noKey        keyClass = iota // of a kind that nothing names
	integerClass                 // whole numbers, of any type
	bytesClass                   // bytes, IDs among them
	textClass                    // texts
	nameClass                    // texts that are no keys, as a whole; see nameCandidates
)

// keyClassOf returns as what the values of a column of a key are compared.
func keyClassOf(c *Column) keyClass {
	switch {
	case c == nil:
		return noKey
	case c.Kind == KindInteger, c.Kind == KindDecimal, c.Kind == KindReal, c.Kind == KindAny:
		return integerClass
	case c.IsID, c.Kind == KindBytes, c.isUUID():
		return bytesClass
	case c.Kind == KindText:
		return textClass
	default:
		return noKey
	}
}

// isUUID reports whether the column is of MariaDB's type for UUIDs.
func (c *Column) isUUID() bool { return strings.EqualFold(c.Type, "uuid") }

// keySet is what a database has in the column of a candidate.
type keySet struct {
	integers *rekey.Set
	hashes   *hashes // bytes; of texts the sorting forms
	words    *hashes // of texts, folded
	gap      string  // why it was not read; "" if it was

	// twice are names that the database has more than once, as the target compares.
	twice, twiceWords *hashes

	// unread tells that only the servers of the IDs are known, which is enough as long
	// as no value in question is of one of them; of names, only the filter.
	unread bool
	filter *nameFilter // of names
}

// candidateKeys are the keys of all candidates in all databases, read when they are
// first asked for.
type candidateKeys struct {
	sets    map[candidate]map[*database]*keySet
	room    int64
	filters int64 // room for those of names, in words
}

func newCandidateKeys() *candidateKeys {
	return &candidateKeys{sets: make(map[candidate]map[*database]*keySet), room: maxHashes, filters: maxFilters}
}

// candidates returns what undeclared columns may name in these databases, and the
// tables whose rows only the columns of their key together tell apart.
func (r openReader) candidates(ctx context.Context) (all []candidate, joint []string, err error) {
	for _, table := range keyTables(r.facts.resolved) {
		found, tells, err := r.candidatesOf(ctx, table)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, found...); !tells {
			joint = append(joint, table)
		}
	}
	for _, to := range r.facts.opts.Renames {
		_, model := r.facts.model(to.Table)
		if model == nil || model.column(to.Column) == nil || model.column(to.Column).Collation == "" {
			continue
		}
		c := candidate{table: to.Table, column: to.Column, class: textClass, collation: model.column(to.Column).Collation, renamed: true, first: to.First}
		if err := r.readNames(ctx, c); err != nil {
			return nil, nil, err
		}
		all = append(all, c)
	}
	names, err := nameCandidates(ctx, r, all)
	return append(all, names...), joint, err
}

// candidatesOf returns the candidates of one table. tells is false if the databases
// have values in common in every column of its key.
func (r openReader) candidatesOf(ctx context.Context, table string) (all []candidate, tells bool, err error) {
	_, model := keyModel(r.facts.resolved, table)
	key := model.Key()
	named := false // some columns can be named
	var others []candidate
	for _, name := range key {
		switch r.facts.declared.role(table, name).kind {
		case roleNatural, roleShared:
			continue // the same in every world
		}
		if r.facts.complete[idOf(table, name)] && r.facts.copied(table) {
			return all, true, nil // it leads to keys that are a candidate of their own
		}
		c := candidate{table: table, column: name, class: keyClassOf(model.column(name))}
		switch col := model.column(name); {
		case c.class == noKey && col.Kind == KindTime:
			continue // a date names nothing
		case c.class == noKey:
			others = append(others, c)
			continue
		case c.class == textClass:
			c.collation = col.Collation
		case c.class == bytesClass:
			c.words = !col.IsID && !col.isUUID() && !strings.HasPrefix(strings.ToLower(col.Type), "binary(")
		}
		moved := r.facts.rekeyed.movesAlone(table, name)
		if !mayBeNamed(r.facts, c) {
			return all, true, nil // nor then a key that begins with it
		}
		if err := r.readKeys(ctx, c); err != nil {
			return nil, false, err
		}
		named = true
		all = append(all, c)
		if moved || !r.overlap(c) {
			return all, true, nil
		}
	}
	for _, c := range others { // to be reported: nothing is compared with them
		if err := r.readKeys(ctx, c); err != nil {
			return nil, false, err
		}
		all = append(all, c)
	}
	return all, !named || len(key) == 1, nil
}

// mayBeNamed reports whether any other column could name the candidate. If not, its
// keys need not be read.
func mayBeNamed(f *facts, c candidate) bool {
	classes := map[keyClass]bool{c.class: true}
	for _, table := range f.tables {
		for _, t := range f.having(table) {
			for i := range t.Columns {
				col := &t.Columns[i]
				if (table != c.table || col.Name != c.column) && readsAs(col, classes) != nil && judgesOpen(f, table, col.Name) {
					return true
				}
			}
		}
	}
	return false
}

// keyTables are the tables of all databases, those that the operator excludes
// included: what is not copied can be named nevertheless.
func keyTables(f *resolved) []string {
	tables := slices.Clone(f.tables)
	for _, db := range f.dbs {
		for name := range db.apart {
			tables = append(tables, name)
		}
	}
	slices.Sort(tables)
	// What is the same in every world is named the same before and after.
	return slices.DeleteFunc(slices.Compact(tables), func(table string) bool { return f.same[table] })
}

// copied reports whether the rows of a table of every database are copied.
func (f *resolved) copied(table string) bool {
	return !slices.ContainsFunc(f.dbs, func(db *database) bool { return db.tables[table] == nil && db.keyTable(table) != nil })
}

// keyModel is model for any table of keyTables.
func keyModel(f *resolved, table string) (*database, *Table) {
	if db, t := f.model(table); t != nil {
		return db, t
	}
	for _, db := range f.dbs {
		if t := db.apart[table]; t != nil {
			return db, t
		}
	}
	return nil, nil
}

// keyTable returns a table of the database that is read or set apart.
func (db *database) keyTable(table string) *Table {
	if t := db.tables[table]; t != nil {
		return t
	}
	return db.apart[table]
}

// foreignKey reports whether a column is one that a foreign key of any database starts
// from, or a reference of several columns that is declared.
func foreignKey(f *resolved, table, column string) bool {
	for _, db := range f.dbs {
		t := db.keyTable(table)
		if t != nil && slices.ContainsFunc(t.References, func(r Reference) bool { return slices.Contains(r.Columns, column) }) {
			return true
		}
	}
	return slices.ContainsFunc(f.declared.composite, func(r *reference) bool { return r.table == table && slices.Contains(r.Columns, column) })
}

// refersTo reports whether a candidate is declared to name the rows of a column: then
// the column is what is named, and names nothing by it.
func refersTo(f *resolved, c candidate, column columnName) bool {
	names := func(table string, columns []string) bool {
		return table == column.table && slices.Equal(columns, []string{column.column})
	}
	for _, ref := range f.declared.role(c.table, c.column).references {
		if names(ref.ToTable, ref.ToColumns) || slices.Contains(ref.or, column) {
			return true
		}
	}
	for _, db := range f.dbs {
		t := db.keyTable(c.table)
		if t != nil && slices.ContainsFunc(t.References, func(r Reference) bool {
			return slices.Equal(r.Columns, []string{c.column}) && names(r.ToTable, r.ToColumns)
		}) {
			return true
		}
	}
	return false
}

// readKeys reads the keys of a candidate, in every database that has it.
func (r openReader) readKeys(ctx context.Context, c candidate) error {
	keys := r.undeclaredKeys()
	if c.renamed {
		return r.readNames(ctx, c)
	}
	if keys.sets[c] == nil {
		keys.sets[c] = make(map[*database]*keySet)
	}
	for _, db := range r.facts.dbs {
		t := db.keyTable(c.table)
		if t == nil || keys.sets[c][db] != nil {
			continue
		}
		if servers := r.facts.servers[idOf(c.table, c.column)][db]; servers != nil && c.class == bytesClass {
			keys.sets[c][db] = &keySet{integers: new(rekey.Set), words: new(hashes), unread: true,
				hashes: &hashes{n: db.rows[c.table], sparse: true, servers: servers}}
			continue
		}
		set, err := r.readKeysOf(ctx, db, t, c)
		if err != nil {
			return err
		}
		keys.sets[c][db] = set
	}
	return nil
}

// readFully reads the keys of a candidate of which only the servers or a filter were
// known, and reports whether there were such.
func (r openReader) readFully(ctx context.Context, c candidate) (read bool, err error) {
	sets := r.undeclaredKeys().sets[c]
	for _, db := range r.facts.dbs {
		if sets[db] == nil || !sets[db].unread {
			continue
		}
		if c.class == nameClass {
			err = readNamesOf(ctx, r, db, c, sets[db])
		} else {
			sets[db], err = r.readKeysOf(ctx, db, db.keyTable(c.table), c)
		}
		if err != nil {
			return false, err
		}
		read = true
	}
	return read, nil
}

func (r openReader) readKeysOf(ctx context.Context, db *database, t *Table, c candidate) (*keySet, error) {
	if c.class == nameClass {
		return readNameFilter(ctx, r, db, t, c)
	}
	col := t.column(c.column)
	if keyClassOf(col) != c.class || c.class == noKey {
		return &keySet{gap: "column " + c.column + " of " + c.table + " is " + col.describe()}, nil
	}
	room := &r.undeclaredKeys().room
	if known := r.facts.rekeyed.knownKeys(db, c.table, c.column); known != nil {
		return &keySet{integers: known, hashes: newHashes(room), words: newHashes(room)}, nil
	}
	set := &keySet{integers: new(rekey.Set), hashes: newHashes(room), words: newHashes(room)}
	first := len(t.Key()) > 0 && t.Key()[0] == c.column // so that an index has the order
	// Without the sorting form nothing is sorted, and texts are compared by it.
	scan := Scan{Table: c.table, Carry: []string{c.column}, Unsorted: !first, SkipNull: true}
	if first || c.class == textClass {
		scan.Order = []Order{{Column: c.column, Collation: c.collation}}
	}
	s := r.stream(db, r.code, 1, scan)
	var nobody rekey.Values // of a reference: by these its rows are not named
	if k := r.facts.rekeyed; k != nil && k.moving.columns[columnName{c.table, c.column}] != nil {
		if _, none, plain := k.moving.columns[columnName{c.table, c.column}].plainShift(); plain {
			nobody = none
		}
	}
	var digits gameid.ID
	s.visit = append(s.visit, func(b *Batch) {
		for row := range b.Len {
			v := b.Carry[0].At(row)
			switch {
			case v == nil:
			case c.class == integerClass:
				if n, ok := rekey.ParseWhole(v); ok {
					if !nobody.HasInteger(n) {
						set.integers.Add(n)
					}
				} else {
					set.gap = "column " + c.column + " of " + c.table + " is " + col.describe() + ", and a value is not a whole number"
				}
			case c.class == textClass:
				set.hashes.add(b.Order[0].At(row))
				set.words.add(folded(v))
			case col.isUUID():
				set.hashes.add(token{text: v}.bytes(nil))
			case col.Kind == KindText: // an ID
				if digits.UnmarshalText(v) == nil {
					id := digits.Bytes()
					set.hashes.add(id[:])
				}
			default:
				set.hashes.add(v)
			}
		}
	})
	err := s.drain(ctx)
	if unsupported, ok := errors.AsType[*UnsupportedError](err); ok {
		return &keySet{gap: unsupported.Error()}, nil
	}
	set.integers.Finish()
	set.hashes.finish()
	set.words.finish()
	return set, err
}

// overlap reports whether two of the databases may have a key of the candidate in
// common.
func (r openReader) overlap(c candidate) bool {
	sets := r.undeclaredKeys().sets[c]
	for i, db := range r.facts.dbs {
		for _, other := range r.facts.dbs[i+1:] {
			if sets[db].meets(sets[other]) {
				return true
			}
		}
	}
	return false
}

// meets reports whether two sets may have a key in common.
func (s *keySet) meets(other *keySet) bool {
	if s == nil || other == nil {
		return false
	}
	if s.gap != "" || other.gap != "" {
		return true
	}
	return s.integers.Meets(other.integers) || s.hashes.meets(other.hashes)
}

func (h *hashes) meets(other *hashes) bool {
	switch {
	case h.n == 0 || other.n == 0:
		return false
	case h.sparse || other.sparse:
		if h.servers == nil || other.servers == nil {
			return true
		}
		for s := range h.servers {
			if other.servers[s] {
				return true
			}
		}
		return false
	}
	for i, j := 0, 0; i < len(h.values) && j < len(other.values); {
		switch {
		case h.values[i] == other.values[j]:
			return true
		case h.values[i] < other.values[j]:
			i++
		default:
			j++
		}
	}
	return false
}

// inOrder are the candidates whose keys were read, by name.
func (k *candidateKeys) inOrder() []candidate {
	return slices.SortedFunc(maps.Keys(k.sets), func(a, b candidate) int {
		return cmp.Or(strings.Compare(a.table, b.table), strings.Compare(a.column, b.column), strings.Compare(a.collation, b.collation))
	})
}
