package check

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// OpenReader reads columns that are not declared, and the keys that they may name.
type OpenReader struct {
	*Reader
	Code    string                   // of the rule for which it reads
	settled map[string]bool          // columns of the table that need not be read; see openAtOnce
	closed  map[string][]*OpenColumn // nor these; see judgeValues

	// repeats are the candidates of names with which columns of the table are compared.
	repeats map[string][]int
}

// openReading is what was read of the undeclared columns of a table.
type openReading struct {
	candidates []Candidate
	columns    []*OpenColumn // of all databases, by name
	unread     map[string][]verdict.Gap
	plain      []string // further columns, which are open but for what is said of them
}

// OpenColumn is what was read of one column in one database.
type OpenColumn struct {
	db     *rules.Database
	column string
	read   int64 // values
	rows   map[fate]int64
	hex    bool         // it has hexadecimal numbers
	maybe  map[int]bool // candidates of which a sparse set could not tell
	kept   []keptChange
	names  map[int]*nameCount // by candidate
	gap    string             // why its texts cannot be compared with those that it repeats
	fates  *fates
}

// fate is what becomes of the value of a row: the numbers of two sets of changes. The
// second counts only if the column has hexadecimal numbers.
type fate struct{ sure, hex int }

// change is what may become of a value that names a row of a candidate: a row of
// another database, or of none if its own row is not copied.
type change struct {
	candidate int
	other     int // database whose key it is; gone: none
}

// gone is in the place of a database if the row that the value names is not copied.
const gone = -1

// keptChange is a row to show.
type keptChange struct {
	row stream.Member
	to  stream.Member // the stranger; no database if there is none
	as  change
}

// fates numbers the sets of changes, so that each distinct one is kept once.
type fates struct {
	sets   [][]change
	number map[string]int
	key    []byte // of number, for the set that is looked up
}

func (o *fates) of(set []change) int {
	if len(set) == 0 {
		return 0
	}
	o.key = o.key[:0]
	for _, c := range set {
		o.key = binary.AppendVarint(binary.AppendVarint(o.key, int64(c.candidate)), int64(c.other))
	}
	n, known := o.number[string(o.key)]
	if !known {
		n = len(o.sets)
		o.number[string(o.key)] = n
		o.sets = append(o.sets, slices.Clone(set))
	}
	return n
}

// UndeclaredKeys are the keys of the candidates, read once for all tables.
func (r OpenReader) UndeclaredKeys() *candidateKeys {
	type asked struct{}
	if r.Kept[asked{}] == nil {
		r.Kept[asked{}] = &candidateKeys{Sets: make(map[Candidate]map[*rules.Database]*KeySet), Room: maxHashes, Filters: maxFilters}
	}
	return r.Kept[asked{}].(*candidateKeys)
}

// undeclared reads the columns of a table that are not references, in every database
// of the reader, and finds what would become of their values if they were keys.
func (r OpenReader) undeclared(ctx context.Context, table string) (*openReading, error) {
	candidates, _, err := r.candidates(ctx)
	if err != nil {
		return nil, err
	}
	if r.settled, r.closed, err = openAtOnce(ctx, r, table, candidates); err != nil {
		return nil, err
	}
	found, err := r.UndeclaredAmong(ctx, table, candidates)
	if err == nil {
		found.plain = slices.Sorted(maps.Keys(r.settled))
		for _, column := range slices.Sorted(maps.Keys(r.closed)) {
			found.columns = append(found.columns, r.closed[column]...)
		}
		slices.SortStableFunc(found.columns, func(a, b *OpenColumn) int { return strings.Compare(a.column, b.column) })
	}
	return found, err
}

// openAtOnce returns the columns said to name nothing that their values show to be open or, in a large table, its first
// rows. Nothing but that is reported of such columns, so the other rows need not be read. Those of which no value changes
// its meaning are closed.
func openAtOnce(ctx context.Context, r OpenReader, table string, candidates []Candidate) (open map[string]bool, closed map[string][]*OpenColumn, err error) {
	first := r.First
	closed, open = r.judgeValues(table, candidates)
	maps.DeleteFunc(open, func(column string, _ bool) bool { return !onItsWord(r.Facts, table, column) })
	r.closed = closed
	for db, t := range r.Facts.Having(table) {
		if db.Rows[table] <= 2*int64(first) || staysBehind(r.Facts, db, table) {
			continue
		}
		without := maps.Clone(open)
		for _, c := range t.Columns {
			if !onItsWord(r.Facts, table, c.Name) {
				without[c.Name] = true
			}
		}
		p := r.newOpenPass(db, table, candidates, without, nil)
		if len(p.columns) == 0 {
			continue
		}
		p.stream.Scan.Most = first
		err := p.stream.Drain(ctx)
		if _, unsupported := errors.AsType[*catalog.UnsupportedError](err); unsupported {
			continue // the reading of all rows finds and reports it
		}
		if err != nil {
			return nil, nil, err
		}
		for _, c := range p.results() {
			if rows, _ := c.Changed(r.Facts, candidates, func(int) bool { return true }, false); rows > 0 {
				open[c.column] = true
			}
		}
	}
	return open, closed, nil
}

// UndeclaredAmong is undeclared with the candidates given.
func (r OpenReader) UndeclaredAmong(ctx context.Context, table string, candidates []Candidate) (*openReading, error) {
	for _, c := range candidates {
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, err
		}
	}
	for {
		found, err := undeclaredSideBySide(ctx, r, table, candidates)
		if err != nil {
			return nil, err
		}
		again := false
		for k := range maybeOf(found.columns) {
			read, err := r.readFully(ctx, candidates[k])
			if err != nil {
				return nil, err
			}
			again = again || read
		}
		if !again {
			if err := readRepeating(ctx, r, table, candidates, found); err != nil {
				return nil, err
			}
			slices.SortStableFunc(found.columns, func(a, b *OpenColumn) int { return strings.Compare(a.column, b.column) })
			return found, nil
		}
	}
}

// undeclaredSideBySide reads all databases, with the keys that are known.
func undeclaredSideBySide(ctx context.Context, r OpenReader, table string, candidates []Candidate) (*openReading, error) {
	r.UndeclaredKeys() // are there from here on
	var dbs []*rules.Database
	for db := range r.Facts.Having(table) {
		if !staysBehind(r.Facts, db, table) {
			dbs = append(dbs, db)
		}
	}
	parts := make([]openReading, len(dbs))
	err := stream.SideBySide(ctx, dbs, func(ctx context.Context, db *rules.Database) (err error) {
		part := &parts[slices.Index(dbs, db)]
		part.candidates, part.unread = candidates, make(map[string][]verdict.Gap)
		part.columns, err = r.undeclaredOf(ctx, db, table, part)
		return err
	})
	all := &openReading{candidates: candidates, unread: make(map[string][]verdict.Gap)}
	for _, part := range parts {
		all.columns = append(all.columns, part.columns...)
		for column, gaps := range part.unread {
			all.unread[column] = append(all.unread[column], gaps...)
		}
	}
	return all, err
}

// maybeOf returns the candidates of which sparse sets could not tell.
func maybeOf(columns []*OpenColumn) map[int]bool {
	all := make(map[int]bool)
	for _, c := range columns {
		maps.Copy(all, c.maybe)
	}
	return all
}

// undeclaredOf reads one database. A column that turns out to hold what it should
// not is left out, and what is known of the others is read again.
func (r OpenReader) undeclaredOf(ctx context.Context, db *rules.Database, table string, found *openReading) ([]*OpenColumn, error) {
	without := make(map[string]bool)   // columns
	unweighed := make(map[string]bool) // texts that have no sorting form
	unlike := make(map[string]string)  // of these, the ones that repeat names, and why
	for {
		p := r.newOpenPass(db, table, found.candidates, without, unweighed)
		if len(p.columns) == 0 {
			return nil, nil
		}
		for _, s := range p.columns {
			if v := r.Facts.ValuesOf(db, table, s.column); v != nil && (v.unknown || v.Sparse) {
				r.Progress.Again(db, r.Code, table, fmt.Sprintf("%s has too many values to keep in memory", s.column))
			}
		}
		err := p.stream.Drain(ctx)
		unsupported, ok := errors.AsType[*catalog.UnsupportedError](err)
		if !ok {
			for _, s := range p.columns {
				s.gap = unlike[s.column]
			}
			return p.results(), err
		}
		switch c := unsupported.Column; {
		case p.weighs(c) && !unweighed[c]:
			unweighed[c] = true
			if r.repeats[c] != nil {
				unlike[c] = unsupported.Error()
			}
		case c != "" && !without[c]:
			without[c] = true
			if db.Opaque(table, c) == "" { // which is reported in any case
				found.unread[c] = append(found.unread[c], verdict.Gap{World: db.Name, Reason: unsupported.Error()})
			}
		default: // a column of the key: then no row can be shown, or be told from the others
			for _, s := range p.columns {
				found.unread[s.column] = append(found.unread[s.column], verdict.Gap{World: db.Name, Reason: unsupported.Error()})
			}
			return nil, nil
		}
	}
}

// openPass is one reading of a table in one database.
type openPass struct {
	r          OpenReader
	db         *rules.Database
	table      string
	self       int // the database, among those of the reader
	candidates []Candidate
	sets       [][]*KeySet // by candidate and database
	offsets    [][]uint64  // of their keys, in the same order
	matched    []bool      // whether own keys of a candidate become others
	stay       []*KeySet   // of each candidate, the keys of own rows that stay behind; nil for none
	stream     *stream.Stream
	columns    []*openScan
	fates      *fates
	now        []change // of the current value
	found      []change // room for those of a number
	values     [][]byte // beside them, the keys that these are about
	value      func() []byte
	folded     []byte // room for a text
	texts      bool   // keys that are texts are among them
	integers   bool   // and some that are integers
	names      bool   // there are only names, so that parts of texts do not matter
	unshown    bool   // no row is shown
}

// openScan is one column of a pass.
type openScan struct {
	*OpenColumn
	pass     *openPass
	own      []int // candidates that are the column itself, or are declared to name it
	carried  int   // its place in Carry
	reads    func(*openScan, []byte)
	forms    []openForm         // of texts that are compared as a whole; nil if they have none
	binaries bool               // its values are bytes
	covered  func(row int) bool // by a declared reference
	small    []int32            // fate + 1 of integers from 0 on
	recent   [256]recentInteger
	row      int      // the current one
	times    int64    // rows that have its value
	length   int      // of the current value
	hexed    []change // of the current value, if the column has hexadecimal numbers
	lookups  []nameLookup
	longest  int // bytes of a name in lookups
}

// openForm is the place in Order of the sorting form with which the keys of a candidate
// are compared.
type openForm struct{ candidate, order int }

// SmallIntegers are kept by value rather than looked up again.
const SmallIntegers = 1 << 16

type recentInteger struct {
	value keys.Integer
	fate  int
	known bool
}

func (r OpenReader) newOpenPass(db *rules.Database, table string, candidates []Candidate, without, unweighed map[string]bool) *openPass {
	t := db.Tables[table]
	var carry []string // to show rows
	if !r.Facts.Opts.Unshown {
		carry = t.RowKey(nil)
	}
	if !r.Facts.Opts.Unshown && carry == nil {
		for _, c := range t.Columns {
			if !without[c.Name] {
				carry = append(carry, c.Name)
			}
		}
	}
	p := &openPass{r: r, db: db, unshown: r.Facts.Opts.Unshown, table: table, self: slices.Index(r.Facts.DBs, db), candidates: candidates, fates: &fates{sets: [][]change{nil}, number: make(map[string]int)}}
	p.stream = r.Stream(db, r.Code, len(carry), catalog.Scan{Table: table, Carry: slices.Clip(carry), Unsorted: true})
	keys := r.UndeclaredKeys()
	classes := make(map[keyClass]bool)
	for _, c := range candidates {
		var sets []*KeySet
		var offsets []uint64
		for _, other := range r.Facts.DBs {
			sets = append(sets, keys.Sets[c][other])
			offsets = append(offsets, r.Facts.Rekeyed.Offset(other, c.Table, c.Column))
		}
		p.sets, p.offsets = append(p.sets, sets), append(p.offsets, offsets)
		var stay *KeySet
		if s := r.Facts.Stays[db][c.Table]; s != nil && s.Key == c.Column {
			stay = &KeySet{Integers: s.Keys}
		}
		p.stay = append(p.stay, stay)
		p.matched = append(p.matched, r.Facts.Rekeyed.Matched(db, c.Table, c.Column).Len() > 0)
		classes[c.Class] = true
	}
	p.texts, p.integers, p.names = classes[textClass], classes[IntegerClass], classes[nameClass] && len(classes) == 1
	for i := range t.Columns {
		col := &t.Columns[i]
		others := func(c Candidate) bool { return c.Table != table || c.Column != col.Name }
		if without[col.Name] || r.settled[col.Name] || r.closed[col.Name] != nil || !slices.ContainsFunc(candidates, others) || !judgesOpen(r.Facts, table, col.Name) || r.otherServers(db, table, col.Name, candidates) {
			continue
		}
		reads := readsAs(col, classes)
		if reads == nil || p.names && !holdsNames(col) {
			continue
		}
		s := &openScan{OpenColumn: &OpenColumn{db: db, column: col.Name, rows: make(map[fate]int64),
			maybe: make(map[int]bool), fates: p.fates}, pass: p, reads: reads, times: 1, binaries: col.Kind == catalog.KindBytes}
		for k, c := range candidates {
			if c.Table == table && c.Column == col.Name || refersTo(r.Facts.Resolved, c, rules.ColumnName{Table: table, Column: col.Name}) {
				s.own = append(s.own, k)
			}
		}
		s.carried = p.stream.Carry(col.Name)
		if col.Kind == catalog.KindInteger {
			p.stream.Scan.Numbers = append(p.stream.Scan.Numbers, col.Name)
		}
		s.covered = coveredBy(r.Facts, p.stream, col.Name)
		if col.Kind == catalog.KindText && !col.IsID && !unweighed[col.Name] {
			s.forms = []openForm{}
			for k, c := range candidates {
				if c.Class == textClass || slices.Contains(r.repeats[col.Name], k) {
					s.forms = append(s.forms, openForm{k, weigh(p.stream, col.Name, c.collation)})
				}
			}
		}
		p.nameLookups(s, t)
		p.columns = append(p.columns, s)
	}
	p.stream.Visit = append(p.stream.Visit, p.visit)
	return p
}

// otherServers reports whether the IDs of a column, all of which were read before, are
// of servers of which no other database has IDs in a key, so that none of them can name
// another database's row.
func (r OpenReader) otherServers(db *rules.Database, table, column string, candidates []Candidate) bool {
	own := r.Facts.Servers[rules.IDOf(table, column)][db]
	if own == nil {
		return false
	}
	for _, c := range candidates {
		if c.Class != bytesClass {
			continue
		}
		for _, other := range r.Facts.DBs {
			set := r.UndeclaredKeys().Sets[c][other]
			if set == nil {
				continue
			}
			if other.Tables[c.Table] == nil || set.hashes == nil || other != db && set.hashes.servers == nil {
				return false // its rows are not copied, or it has keys that are no IDs
			}
			if other == db {
				continue
			}
			for s := range own {
				if set.hashes.servers[s] {
					return false
				}
			}
		}
	}
	return true
}

// weigh makes the rows bring the sorting form of a column along, and returns its
// place in Order.
func weigh(s *stream.Stream, column, collation string) int {
	o := catalog.Order{Column: column, Collation: collation}
	i := slices.Index(s.Scan.Order, o)
	if i < 0 {
		i = len(s.Scan.Order)
		s.Scan.Order = append(s.Scan.Order, o)
	}
	return i
}

// weighs reports whether the pass reads the sorting form of a column.
func (p *openPass) weighs(column string) bool {
	return slices.ContainsFunc(p.stream.Scan.Order, func(o catalog.Order) bool { return o.Column == column })
}

// judgesOpen reports whether a column may name something that nothing declares, or that only a word says it does not.
func judgesOpen(f *Facts, table, column string) bool {
	if onItsWord(f, table, column) {
		return true // to list what rests on that word
	}
	if role := f.Declared.Role(table, column); role.Kind == rules.RoleReference {
		// The rows that no condition covers: one of the references may say what they are.
		return !slices.ContainsFunc(role.References, func(ref *rules.Ref) bool { return ref.When == nil })
	}
	if f.Rekeyed.moved(table, column) != nil {
		return false // a key of a space, which moves
	}
	return !rules.ForeignKey(f.Resolved, table, column) && !f.Follows(table, column) && !madeOfDeclared(f, table, column)
}

// madeOfDeclared reports whether the database makes the values of a column out of others, all of which are declared: it makes them
// anew of what these hold after the merge.
func madeOfDeclared(f *Facts, table, column string) bool {
	_, model := rules.KeyModel(f.Resolved, table)
	if model == nil || model.Column(column) == nil || model.Column(column).Generated == "" {
		return false
	}
	found := false
	made, odd := strings.ToLower(model.Column(column).Generated), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := strings.FieldsFunc(made, odd)
	for _, c := range model.Columns {
		name := strings.ToLower(c.Name)
		in := slices.Contains(words, name) || strings.ContainsFunc(name, odd) && strings.Contains(made, name)
		if c.Name == column || !in {
			continue
		}
		if found = true; judgesOpen(f, table, c.Name) && !onItsWord(f, table, c.Name) {
			return false
		}
	}
	return found
}

// onItsWord reports whether a column is said to name no row of a world: it is plain or shared, or plain in the rows
// that no reference covers.
func onItsWord(f *Facts, table, column string) bool {
	switch role := f.Declared.Role(table, column); role.Kind {
	case rules.RolePlain, rules.RoleShared:
		return true
	case rules.RoleReference:
		whole := func(ref *rules.Ref) bool { return ref.When == nil }
		others := func(ref *rules.Ref) bool { return ref.Declared.Others == rules.OthersPlain }
		return !slices.ContainsFunc(role.References, whole) && slices.ContainsFunc(role.References, others)
	}
	return false
}

// readsAs returns how the values of a column are read as keys of some classes; nil if
// they cannot be such.
func readsAs(c *catalog.Column, classes map[keyClass]bool) func(*openScan, []byte) {
	switch {
	case c.Kind == catalog.KindInteger && classes[IntegerClass]:
		return (*openScan).integer
	case (c.Kind == catalog.KindDecimal || c.Kind == catalog.KindReal) && classes[IntegerClass]:
		return (*openScan).whole
	case c.IsID && c.Kind == catalog.KindBytes && classes[bytesClass]:
		return (*openScan).bytes
	case c.Kind == catalog.KindBytes:
		return (*openScan).binary
	case c.Kind == catalog.KindAny:
		return (*openScan).anything
	case c.Kind == catalog.KindText, c.Kind == catalog.KindJSON, isUUID(c):
		return (*openScan).tokens
	default:
		return nil
	}
}

func (p *openPass) results() (all []*OpenColumn) {
	return slice.Map(p.columns, func(s *openScan) *OpenColumn { return s.OpenColumn })
}

func (p *openPass) visit(b *catalog.Batch) {
	for _, s := range p.columns {
		v := &b.Carry[s.carried]
		if v.Numbers != nil {
			visitNumbers(s, v, b.Len)
			continue
		}
		for row := range b.Len {
			value := v.At(row)
			if value == nil || s.covered(row) {
				continue
			}
			s.read++
			s.row = row
			s.reads(s, value)
		}
	}
}

// visitNumbers is integer for all values of a batch.
func visitNumbers(s *openScan, v *catalog.Vector, rows int) {
	for row, n := range v.Numbers[:rows] {
		if v.IsNull(row) || s.covered(row) {
			continue
		}
		s.read++
		s.row = row
		number := s.fateOf(keys.Signed(n))
		var digits []byte
		if number != 0 && len(s.kept) < rules.Samples && !s.pass.unshown {
			digits = v.At(row)
		}
		s.count(number, digits)
	}
}

// count notes what becomes of the value of the current row.
func (s *openScan) count(number int, value []byte) {
	if number == 0 {
		return
	}
	s.rows[fate{sure: number}] += s.times
	s.keep(s.pass.fates.sets[number], nil, value)
}

// keep keeps the current row to be shown, and the key that it would name: one for each
// change, or the same for all.
func (s *openScan) keep(set []change, values [][]byte, value []byte) {
	if len(s.kept) >= rules.Samples || s.pass.unshown {
		return
	}
	best := -1
	for i, c := range set {
		cand := s.pass.candidates[c.candidate]
		if !concerns(s.pass.r.Facts, cand, s.db, c) {
			continue
		}
		if best < 0 || cand.Table != s.pass.table && PointsTo(s.column, cand.Table, cand.Column) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	k := keptChange{row: s.pass.stream.Member(s.row), as: set[best]}
	if k.as.other != gone {
		if len(values) > 0 {
			value = values[best]
		}
		cand := s.pass.candidates[k.as.candidate]
		k.to = stream.Member{DB: s.pass.r.Facts.DBs[k.as.other], Table: cand.Table, Columns: []string{cand.Column}, Values: [][]byte{bytes.Clone(value)}, Names: 1}
	}
	s.kept = append(s.kept, k)
}

// concerns reports whether a change of a value of a database would come about when
// the databases of f are merged.
func concerns(f *Facts, c Candidate, db *rules.Database, as change) bool {
	if as.other == gone {
		return db != f.Model() || f.Reset[c.Table]
	}
	other := f.DBs[as.other]
	if c.renamed {
		return !c.first || other == db || other == f.Model() || db != f.Model() && slices.Index(f.DBs, other) < slices.Index(f.DBs, db)
	}
	return other.Tables[c.Table] != nil || other == f.Model() // rows that are not copied come to nobody
}

func (s *openScan) integer(v []byte) {
	n, ok := keys.ParseInteger(v)
	if !ok {
		return
	}
	s.count(s.fateOf(n), v)
}

// whole reads a number that may have a fraction.
func (s *openScan) whole(v []byte) {
	if n, ok := keys.ParseWhole(v); ok {
		s.count(s.fateOf(n), []byte(n.String()))
	}
}

// anything reads what SQLite has in a column without a type: a number is one in any
// form, which a part of a text is not.
func (s *openScan) anything(v []byte) {
	_, digits := keys.ParseInteger(v)
	if n, ok := keys.ParseWhole(v); ok && (!digits || n.Negative) {
		s.count(s.fateOf(n), []byte(n.String()))
		return
	}
	s.tokens(v)
}

// binary reads bytes, which may be a text.
func (s *openScan) binary(v []byte) {
	control := func(c byte) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }
	if slices.ContainsFunc(v, control) || !utf8.Valid(v) {
		s.bytes(v)
		return
	}
	s.tokens(v)
}

func (s *openScan) bytes(v []byte) {
	s.pass.begin(func() []byte { return v })
	s.addBytes(v)
	s.count(s.pass.fates.of(s.pass.now), v)
}

func (s *openScan) addBytes(v []byte) {
	s.each(bytesClass, func(set *KeySet, _ uint64) (bool, bool) { return set.hashes.Has(v) })
}

// addWords looks a part of a text up among the keys that are bytes and may be texts.
func (s *openScan) addWords(v []byte) {
	for k := range s.pass.candidates {
		if s.pass.candidates[k].words {
			s.lookInto(k, func(set *KeySet, _ uint64) (bool, bool) { return set.hashes.Has(v) })
		}
	}
}

// fateOf looks a number up, among those that were looked up before.
func (s *openScan) fateOf(n keys.Integer) int {
	if !n.Negative && n.Bits < SmallIntegers {
		if s.small == nil {
			s.small = make([]int32, SmallIntegers)
		}
		if s.small[n.Bits] == 0 {
			s.small[n.Bits] = int32(s.lookUp(n)) + 1
		}
		return int(s.small[n.Bits]) - 1
	}
	recent := &s.recent[n.Bits%uint64(len(s.recent))]
	if !recent.known || recent.value != n {
		*recent = recentInteger{n, s.lookUp(n), true}
	}
	return recent.fate
}

func (s *openScan) lookUp(n keys.Integer) int {
	p := s.pass
	before, value := p.now, p.value
	p.now, p.value = p.found[:0], nil
	s.each(IntegerClass, func(set *KeySet, offset uint64) (has, sure bool) {
		n, ok := n.Sub(offset)
		if !ok {
			return false, true
		}
		if set.Integers.Sparse {
			return false, !set.Integers.Within(n)
		}
		return set.Integers.Has(n), true
	})
	fate := p.fates.of(p.now)
	p.found, p.now, p.value = p.now, before, value
	return fate
}

// lookup looks a value up in a set of keys. offset is what is added to them in the merge.
type lookup func(set *KeySet, offset uint64) (has, sure bool)

// each looks a value up in all candidates of a class.
func (s *openScan) each(class keyClass, has lookup) {
	for k := range s.pass.candidates {
		if s.pass.candidates[k].Class == class {
			s.lookInto(k, has)
		}
	}
}

// lookInto looks a value up in a candidate, and adds what would become of it to the
// changes of the current value.
func (s *openScan) lookInto(k int, has lookup) {
	p := s.pass
	if slices.Contains(s.own, k) {
		return
	}
	if p.candidates[k].renamed {
		s.lookIntoNames(k, has)
		return
	}
	own, ownSure := false, true
	if p.stay[k] != nil && p.candidates[k].Class == IntegerClass {
		if named, _ := has(p.stay[k], 0); named { // its row stays behind
			p.add(change{k, gone})
			return
		}
	}
	if set := p.sets[k][p.self]; set != nil && set.Gap == "" {
		own, ownSure = has(set, 0)
	}
	stays := p.db.Tables[p.candidates[k].Table] != nil && p.offsets[k][p.self] == 0 && !p.matched[k]
	if own {
		if !stays {
			p.add(change{k, gone})
		}
		return
	}
	if !ownSure && !stays {
		s.maybe[k] = true // its row may be one that is not copied, or gets another key
	}
	for j, set := range p.sets[k] {
		if j == p.self && p.offsets[k][j] == 0 || set == nil || set.Gap != "" {
			continue
		}
		switch there, sure := has(set, p.offsets[k][j]); {
		case !sure, there && !ownSure:
			s.maybe[k] = true
		case there:
			p.add(change{k, j})
		}
	}
}

// lookIntoNames looks a value up among the names that are changed: it changes its
// meaning if it is such a name of its own database.
func (s *openScan) lookIntoNames(k int, has lookup) {
	p := s.pass
	own := p.sets[k][p.self]
	if own == nil || own.Gap != "" {
		return
	}
	if named, _ := has(own, 0); !named {
		return
	}
	if named, _ := has(&KeySet{hashes: own.twice, words: own.twiceWords, Integers: own.Integers}, 0); named {
		p.add(change{k, p.self})
	}
	for j, set := range p.sets[k] {
		if j == p.self || set == nil {
			continue
		}
		if named, _ := has(set, 0); named {
			p.add(change{k, j})
		}
	}
}

func (p *openPass) add(c change) {
	if slices.Contains(p.now, c) {
		return
	}
	p.now = append(p.now, c)
	if p.value != nil && !p.unshown {
		p.values = append(p.values, p.value())
	}
}

// begin forgets the changes of the value before. value gives the key that is looked
// up, as a database would send it.
func (p *openPass) begin(value func() []byte) {
	p.now, p.values, p.value = p.now[:0], p.values[:0], value
}

// tokens reads a text: as a whole, and each part of it that may be a key.
func (s *openScan) tokens(v []byte) {
	p := s.pass
	p.begin(func() []byte { return v })
	s.hexed, s.length = s.hexed[:0], len(v)
	s.countNames(v)
	for _, f := range s.forms {
		form := p.stream.Batch.Order[f.order].At(s.row)
		s.lookInto(f.candidate, func(set *KeySet, _ uint64) (bool, bool) { return set.hashes.Has(form) })
	}
	if s.binaries {
		s.addBytes(v)
	} else {
		s.addWords(v)
	}
	if !p.names {
		for t := range Tokens(v) {
			s.token(t)
		}
	}
	p.value = nil
	if became := (fate{p.fates.of(p.now), p.fates.of(s.hexed)}); became != (fate{}) {
		s.rows[became] += s.times
		s.keep(p.now, p.values, nil)
	}
}

func (s *openScan) token(t token) {
	switch t.Form {
	case tokenAddress:
		return
	case TokenDecimal:
		if n, ok := t.Decimal(); ok {
			s.addInteger(n)
		}
		s.addHex(t)
	case tokenHex:
		s.hex = true
		if n, ok := t.hex(); ok {
			s.addInteger(n)
		}
	case tokenHexWord:
		s.addHex(t)
	case tokenID, tokenUUID:
		if n, ok := t.Decimal(); ok {
			s.addInteger(n)
		}
		raw := t.bytes(nil)
		s.pass.value = func() []byte { return raw }
		s.addBytes(raw)
	}
	if s.forms == nil || len(t.text) < s.length { // as a whole, it is compared exactly
		s.pass.value = func() []byte { return t.text }
		s.word(t.text)
		s.addWords(t.text)
	}
}

// addInteger adds what would become of a number inside a text.
func (s *openScan) addInteger(n keys.Integer) {
	p := s.pass
	p.value = func() []byte { return []byte(n.String()) }
	for _, c := range p.fates.sets[s.fateOf(n)] {
		p.add(c)
	}
}

// addHex reads a token as a hexadecimal number, for the case that the column turns
// out to have such: 10, or face.
func (s *openScan) addHex(t token) {
	n, ok := t.hex()
	if !ok || !s.pass.integers {
		return
	}
	for _, c := range s.pass.fates.sets[s.fateOf(n)] {
		if !slices.Contains(s.hexed, c) {
			s.hexed = append(s.hexed, c)
		}
	}
}

// word looks a token up among the keys that are texts.
func (s *openScan) word(text []byte) {
	if !s.pass.texts {
		return
	}
	fold := folded(text)
	s.each(textClass, func(set *KeySet, _ uint64) (bool, bool) { return set.words.Has(fold) })
}
