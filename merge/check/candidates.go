package check

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"mergesafe/gameid"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
)

// Candidate is a column of a key that the values of an undeclared column may name:
// the first column of a key or, if its values do not tell the databases apart, a
// further one.
type Candidate struct {
	Table, Column string
	Class         keyClass
	collation     string // of texts, that of the first world
	words         bool   // of bytes, that texts may name them

	renamed bool // a column of names, of those that several databases have
	first   bool // the first database keeps its name; see RenamedColumn
}

func (c Candidate) String() string { return rules.Place(c.Table, c.Column) }

// keyClass is what keys are compared as.
type keyClass int

const (
	noKey        keyClass = iota // of a kind that nothing names
	IntegerClass                 // whole numbers, of any type
	bytesClass                   // bytes, IDs among them
	textClass                    // texts
	nameClass                    // texts that are no keys, as a whole; see nameCandidates
)

// KeyClassOf returns as what the values of a column of a key are compared.
func KeyClassOf(c *catalog.Column) keyClass {
	switch {
	case c == nil:
		return noKey
	case c.Kind == catalog.KindInteger, c.Kind == catalog.KindDecimal, c.Kind == catalog.KindReal, c.Kind == catalog.KindAny:
		return IntegerClass
	case c.IsID, c.Kind == catalog.KindBytes, isUUID(c):
		return bytesClass
	case c.Kind == catalog.KindText:
		return textClass
	default:
		return noKey
	}
}

// isUUID reports whether the column is of MariaDB's type for UUIDs.
func isUUID(c *catalog.Column) bool { return strings.EqualFold(c.Type, "uuid") }

// KeySet is what a database has in the column of a candidate.
type KeySet struct {
	Integers *keys.Set
	hashes   *hashes // bytes; of texts the sorting forms
	words    *hashes // of texts, folded
	Gap      string  // why it was not read; "" if it was

	// twice are names that the database has more than once, as the first world compares.
	twice, twiceWords *hashes

	// unread tells that only the servers of the IDs are known, which is enough as long
	// as no value in question is of one of them; of names, only the filter.
	unread bool
	filter *nameFilter // of names
}

// Has reports whether a number is known to be one of the keys.
func (s *KeySet) Has(n keys.Integer) bool {
	return s != nil && s.Gap == "" && !s.Integers.Sparse && s.Integers.Has(n)
}

// candidateKeys are the keys of all candidates in all databases, read when they are
// first asked for.
type candidateKeys struct {
	Sets    map[Candidate]map[*rules.Database]*KeySet
	Room    int64
	Filters int64 // room for those of names, in words
}

// candidates returns what undeclared columns may name in these databases, and the
// tables whose rows only the columns of their key together tell apart.
func (r OpenReader) candidates(ctx context.Context) (all []Candidate, joint []string, err error) {
	for _, table := range rules.KeyTables(r.Facts.Resolved) {
		found, tells, err := r.candidatesOf(ctx, table)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, found...); !tells {
			joint = append(joint, table)
		}
	}
	for _, to := range r.Facts.Opts.Renames {
		c := renamedCandidate(r.Facts, to)
		if c == nil {
			continue
		}
		if err := r.readNames(ctx, *c); err != nil {
			return nil, nil, err
		}
		all = append(all, *c)
	}
	names, err := NameCandidates(ctx, r, all)
	return append(all, names...), joint, err
}

// candidatesOf returns the candidates of one table. tells is false if the databases
// have values in common in every column of its key.
func (r OpenReader) candidatesOf(ctx context.Context, table string) (all []Candidate, tells bool, err error) {
	_, model := rules.KeyModel(r.Facts.Resolved, table)
	key := model.Key()
	named := false // some columns can be named
	var others []Candidate
	for _, name := range key {
		switch r.Facts.Declared.Role(table, name).Kind {
		case rules.RoleShared:
			continue // the same in every world
		}
		if r.Facts.Complete[rules.IDOf(table, name)] && isCopied(r.Facts.Resolved, table) {
			return all, true, nil // it leads to keys that are a candidate of their own
		}
		c := Candidate{Table: table, Column: name, Class: KeyClassOf(model.Column(name))}
		switch col := model.Column(name); {
		case c.Class == noKey && col.Kind == catalog.KindTime:
			continue // a date names nothing
		case c.Class == noKey:
			others = append(others, c)
			continue
		case c.Class == textClass:
			c.collation = col.Collation
		case c.Class == bytesClass:
			c.words = !col.IsID && !isUUID(col) && !strings.HasPrefix(strings.ToLower(col.Type), "binary(")
		}
		moved := r.Facts.Rekeyed.movesAlone(table, name)
		if !mayBeNamed(r.Facts, c) {
			return all, true, nil // nor then a key that begins with it
		}
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, false, err
		}
		named = true
		all = append(all, c)
		if moved || !r.overlap(c) {
			return all, true, nil
		}
	}
	for _, c := range others { // to be reported: nothing is compared with them
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, false, err
		}
		all = append(all, c)
	}
	return all, !named || len(key) == 1, nil
}

// mayBeNamed reports whether any other column could name the candidate. If not, its
// keys need not be read.
func mayBeNamed(f *Facts, c Candidate) bool {
	classes := map[keyClass]bool{c.Class: true}
	return anyOther(f, c, func(col *catalog.Column) bool { return readsAs(col, classes) != nil })
}

// anyOther reports whether any column but the candidate may name something, of those that could name it.
func anyOther(f *Facts, c Candidate, could func(*catalog.Column) bool) bool {
	for _, table := range f.Tables {
		for _, t := range f.Having(table) {
			for i := range t.Columns {
				col := &t.Columns[i]
				if (table != c.Table || col.Name != c.Column) && could(col) && judgesOpen(f, table, col.Name) {
					return true
				}
			}
		}
	}
	return false
}

// isCopied reports whether the rows of a table of every database are copied.
func isCopied(f *rules.Resolved, table string) bool {
	return !slices.ContainsFunc(f.DBs, func(db *rules.Database) bool { return db.Tables[table] == nil && db.KeyTable(table) != nil })
}

// refersTo reports whether a candidate is declared to name the rows of a column: then
// the column is what is named, and names nothing by it.
func refersTo(f *rules.Resolved, c Candidate, column rules.ColumnName) bool {
	names := func(table string, columns []string) bool {
		return table == column.Table && slices.Equal(columns, []string{column.Column})
	}
	for _, ref := range f.Declared.Role(c.Table, c.Column).References {
		if names(ref.ToTable, ref.ToColumns) || slices.Contains(ref.Or, column) {
			return true
		}
	}
	for _, db := range f.DBs {
		t := db.KeyTable(c.Table)
		if t != nil && slices.ContainsFunc(t.References, func(r catalog.Reference) bool {
			return slices.Equal(r.Columns, []string{c.Column}) && names(r.ToTable, r.ToColumns)
		}) {
			return true
		}
	}
	return false
}

// ReadKeys reads the keys of a candidate, in every database that has it.
func (r OpenReader) ReadKeys(ctx context.Context, c Candidate) error {
	keyed := r.UndeclaredKeys()
	if c.renamed {
		return r.readNames(ctx, c)
	}
	if keyed.Sets[c] == nil {
		keyed.Sets[c] = make(map[*rules.Database]*KeySet)
	}
	var dbs []*rules.Database // of which the keys are numbers, which need no common room
	for _, db := range r.Facts.DBs {
		t := db.KeyTable(c.Table)
		if t == nil || keyed.Sets[c][db] != nil {
			continue
		}
		if c.Class == IntegerClass {
			dbs = append(dbs, db)
			continue
		}
		if servers := r.Facts.Servers[rules.IDOf(c.Table, c.Column)][db]; servers != nil && c.Class == bytesClass {
			keyed.Sets[c][db] = &KeySet{Integers: new(keys.Set), words: new(hashes), unread: true,
				hashes: &hashes{N: db.Rows[c.Table], sparse: true, servers: servers}}
			continue
		}
		set, err := r.readKeysOf(ctx, db, t, c)
		if err != nil {
			return err
		}
		keyed.Sets[c][db] = set
	}
	var one sync.Mutex
	return stream.SideBySide(ctx, dbs, func(ctx context.Context, db *rules.Database) error {
		set, err := r.readKeysOf(ctx, db, db.KeyTable(c.Table), c)
		one.Lock()
		defer one.Unlock()
		if err == nil {
			keyed.Sets[c][db] = set
		}
		return err
	})
}

// readFully reads the keys of a candidate of which only the servers or a filter were
// known, and reports whether there were such.
func (r OpenReader) readFully(ctx context.Context, c Candidate) (read bool, err error) {
	sets := r.UndeclaredKeys().Sets[c]
	for _, db := range r.Facts.DBs {
		if sets[db] == nil || !sets[db].unread {
			continue
		}
		if c.Class == nameClass {
			err = readNamesOf(ctx, r, db, c, sets[db])
		} else {
			sets[db], err = r.readKeysOf(ctx, db, db.KeyTable(c.Table), c)
		}
		if err != nil {
			return false, err
		}
		read = true
	}
	return read, nil
}

func (r OpenReader) readKeysOf(ctx context.Context, db *rules.Database, t *catalog.Table, c Candidate) (*KeySet, error) {
	if c.Class == nameClass {
		return readNameFilter(ctx, r, db, t, c)
	}
	col := t.Column(c.Column)
	if KeyClassOf(col) != c.Class || c.Class == noKey {
		return &KeySet{Gap: "column " + c.Column + " of " + c.Table + " is " + col.Describe()}, nil
	}
	room := &r.UndeclaredKeys().Room
	if known := r.Facts.Rekeyed.knownKeys(db, c.Table, c.Column); known != nil {
		return &KeySet{Integers: known, hashes: newHashes(room), words: newHashes(room)}, nil
	}
	if known := r.Facts.ValuesOf(db, c.Table, c.Column); known.numbers() && c.Class == IntegerClass && !known.Small {
		return &KeySet{Integers: &known.Set, hashes: newHashes(room), words: newHashes(room)}, nil
	}
	set := &KeySet{Integers: new(keys.Set), hashes: newHashes(room), words: newHashes(room)}
	first := len(t.Key()) > 0 && t.Key()[0] == c.Column // so that an index has the order
	// Without the sorting form nothing is sorted, and texts are compared by it.
	scan := catalog.Scan{Table: c.Table, Carry: []string{c.Column}, Unsorted: !first, SkipNull: true}
	if col.Kind == catalog.KindInteger {
		scan.Numbers = scan.Carry
	}
	if first || c.Class == textClass {
		scan.Order = []catalog.Order{{Column: c.Column, Collation: c.collation}}
	}
	s := r.Stream(db, r.Code, 1, scan)
	var nobody keys.Values // of a reference: by these its rows are not named
	if m := r.Facts.Rekeyed.moved(c.Table, c.Column); m != nil {
		if _, none, plain := m.PlainShift(); plain {
			nobody = none
		}
	}
	var digits gameid.ID
	add := func(n keys.Integer) {
		if !nobody.HasInteger(n) {
			set.Integers.Add(n)
		}
	}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		keyed := &b.Carry[0]
		if keyed.Numbers != nil {
			for row, n := range keyed.Numbers[:b.Len] {
				if !keyed.IsNull(row) {
					add(keys.Signed(n))
				}
			}
			return
		}
		for row := range b.Len {
			v := keyed.At(row)
			switch {
			case v == nil:
			case c.Class == IntegerClass:
				if n, ok := keys.ParseWhole(v); ok {
					add(n)
				} else {
					set.Gap = "column " + c.Column + " of " + c.Table + " is " + col.Describe() + ", and a value is not a whole number"
				}
			case c.Class == textClass:
				set.hashes.Add(b.Order[0].At(row))
				set.words.Add(folded(v))
			case isUUID(col):
				set.hashes.Add(token{text: v}.bytes(nil))
			case col.Kind == catalog.KindText: // an ID
				if digits.UnmarshalText(v) == nil {
					id := digits.Bytes()
					set.hashes.Add(id[:])
				}
			default:
				set.hashes.Add(v)
			}
		}
	})
	gap, err := unreadable(s.Drain(ctx))
	if gap != "" {
		return &KeySet{Gap: gap}, nil
	}
	set.Integers.Finish()
	set.hashes.Finish()
	set.words.Finish()
	return set, err
}

// overlap reports whether two of the databases may have a key of the candidate in
// common.
func (r OpenReader) overlap(c Candidate) bool {
	sets := r.UndeclaredKeys().Sets[c]
	for i, db := range r.Facts.DBs {
		for _, other := range r.Facts.DBs[i+1:] {
			if sets[db].meets(sets[other]) {
				return true
			}
		}
	}
	return false
}

// meets reports whether two sets may have a key in common.
func (s *KeySet) meets(other *KeySet) bool {
	if s == nil || other == nil {
		return false
	}
	if s.Gap != "" || other.Gap != "" {
		return true
	}
	return s.Integers.Meets(other.Integers) || s.hashes.Meets(other.hashes)
}

func (h *hashes) Meets(other *hashes) bool {
	switch {
	case h.N == 0 || other.N == 0:
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
	for i, j := 0, 0; i < len(h.Values) && j < len(other.Values); {
		switch {
		case h.Values[i] == other.Values[j]:
			return true
		case h.Values[i] < other.Values[j]:
			i++
		default:
			j++
		}
	}
	return false
}

// inOrder are the candidates whose keys were read, by name.
func (k *candidateKeys) inOrder() []Candidate {
	return slices.SortedFunc(maps.Keys(k.Sets), func(a, b Candidate) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column), strings.Compare(a.collation, b.collation))
	})
}
