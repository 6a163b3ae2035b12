package merge

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mergesafe/merge/rekey"
)

// openReader reads columns that are not declared, and the keys that they may name.
type openReader struct {
	*reader
	code    string          // of the rule for which it reads
	settled map[string]bool // columns of the table that need not be read; see openAtOnce

	// repeats are the candidates of names with which columns of the table are compared.
	repeats map[string][]int
}

// openReading is what was read of the undeclared columns of a table.
type openReading struct {
	candidates []candidate
	columns    []*openColumn // of all databases, by name
	unread     map[string][]Gap
	plain      []string // further columns, which are declared plain and open
}

// openColumn is what was read of one column in one database.
type openColumn struct {
	db     *database
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
	row member
	to  member // the stranger; no database if there is none
	as  change
}

// fates numbers the sets of changes, so that each distinct one is kept once.
type fates struct {
	sets   [][]change
	number map[string]int
	key    []byte // of number, for the set that is looked up
}

func newFates() *fates {
	return &fates{sets: [][]change{nil}, number: make(map[string]int)}
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

// undeclaredKeys are the keys of the candidates, read once for all tables and pairs.
func (r openReader) undeclaredKeys() *candidateKeys {
	type asked struct{}
	kept := r.kept
	if r.shared != nil {
		kept = r.shared.kept
	}
	if kept[asked{}] == nil {
		kept[asked{}] = newCandidateKeys()
	}
	return kept[asked{}].(*candidateKeys)
}

// undeclared reads the columns of a table that are not references, in every database
// of the reader, and finds what would become of their values if they were keys.
func (r openReader) undeclared(ctx context.Context, table string) (*openReading, error) {
	candidates, _, err := r.candidates(ctx)
	if err != nil {
		return nil, err
	}
	if r.settled, err = openAtOnce(ctx, r, table, candidates); err != nil {
		return nil, err
	}
	found, err := r.undeclaredAmong(ctx, table, candidates)
	if err == nil {
		found.plain = slices.Sorted(maps.Keys(r.settled))
	}
	return found, err
}

// openAtOnce returns the columns declared plain that the first rows of a large table show
// to be open. Nothing but that is reported of such columns, so the other rows need not
// be read.
func openAtOnce(ctx context.Context, r openReader, table string, candidates []candidate) (map[string]bool, error) {
	open, first := make(map[string]bool), r.first
	for db, t := range r.facts.having(table) {
		if db.rows[table] <= 2*int64(first) {
			continue
		}
		without := maps.Clone(open)
		for _, c := range t.Columns {
			if r.facts.declared.role(table, c.Name).kind != rolePlain {
				without[c.Name] = true
			}
		}
		p := r.newOpenPass(db, table, candidates, without, nil)
		if len(p.columns) == 0 {
			continue
		}
		p.stream.scan.Most = first
		err := p.stream.drain(ctx)
		if _, unsupported := errors.AsType[*UnsupportedError](err); unsupported {
			continue // the reading of all rows finds and reports it
		}
		if err != nil {
			return nil, err
		}
		for _, c := range p.results() {
			if rows, _ := c.changed(r.facts, r, candidates, func(int) bool { return true }, false); rows > 0 {
				open[c.column] = true
			}
		}
	}
	return open, nil
}

// undeclaredAmong is undeclared with the candidates given.
func (r openReader) undeclaredAmong(ctx context.Context, table string, candidates []candidate) (*openReading, error) {
	for _, c := range candidates {
		if err := r.readKeys(ctx, c); err != nil {
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
			slices.SortStableFunc(found.columns, func(a, b *openColumn) int { return strings.Compare(a.column, b.column) })
			return found, nil
		}
	}
}

// undeclaredSideBySide reads all databases, with the keys that are known.
func undeclaredSideBySide(ctx context.Context, r openReader, table string, candidates []candidate) (*openReading, error) {
	r.undeclaredKeys() // are there from here on
	var dbs []*database
	for db := range r.facts.having(table) {
		dbs = append(dbs, db)
	}
	parts := make([]openReading, len(dbs))
	err := sideBySide(ctx, dbs, func(ctx context.Context, db *database) (err error) {
		part := &parts[slices.Index(dbs, db)]
		part.candidates, part.unread = candidates, make(map[string][]Gap)
		part.columns, err = r.undeclaredOf(ctx, db, table, part)
		return err
	})
	all := &openReading{candidates: candidates, unread: make(map[string][]Gap)}
	for _, part := range parts {
		all.columns = append(all.columns, part.columns...)
		for column, gaps := range part.unread {
			all.unread[column] = append(all.unread[column], gaps...)
		}
	}
	return all, err
}

// maybeOf returns the candidates of which sparse sets could not tell.
func maybeOf(columns []*openColumn) map[int]bool {
	all := make(map[int]bool)
	for _, c := range columns {
		maps.Copy(all, c.maybe)
	}
	return all
}

// undeclaredOf reads one database. A column that turns out to hold what it should
// not is left out, and what is known of the others is read again.
func (r openReader) undeclaredOf(ctx context.Context, db *database, table string, found *openReading) ([]*openColumn, error) {
	without := make(map[string]bool)   // columns
	unweighed := make(map[string]bool) // texts that have no sorting form
	unlike := make(map[string]string)  // of these, the ones that repeat names, and why
	for {
		p := r.newOpenPass(db, table, found.candidates, without, unweighed)
		if len(p.columns) == 0 {
			return nil, nil
		}
		err := p.stream.drain(ctx)
		unsupported, ok := errors.AsType[*UnsupportedError](err)
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
			if db.opaque(table, c) == "" { // which is reported in any case
				found.unread[c] = append(found.unread[c], Gap{db.name, unsupported.Error()})
			}
		default: // a column of the key: then no row can be shown, or be told from the others
			for _, s := range p.columns {
				found.unread[s.column] = append(found.unread[s.column], Gap{db.name, unsupported.Error()})
			}
			return nil, nil
		}
	}
}

// openPass is one reading of a table in one database.
type openPass struct {
	r          openReader
	db         *database
	table      string
	self       int // the database, among those of the reader
	candidates []candidate
	sets       [][]*keySet // by candidate and database
	offsets    [][]uint64  // of their keys, in the same order
	matched    []bool      // whether own keys of a candidate become others
	stream     *stream
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
}

// openScan is one column of a pass.
type openScan struct {
	*openColumn
	pass     *openPass
	own      []int // candidates that are the column itself, or are declared to name it
	carried  int   // its place in Carry
	reads    func(*openScan, []byte)
	forms    []openForm // of texts that are compared as a whole; nil if they have none
	id       bool
	binaries bool                 // its values are bytes
	covers   []func(row int) bool // rows of declared references
	small    []int32              // fate + 1 of integers from 0 on
	recent   [256]recentInteger
	row      int      // the current one
	length   int      // of the current value
	hexed    []change // of the current value, if the column has hexadecimal numbers
	lookups  []nameLookup
	longest  int // bytes of a name in lookups
}

// openForm is the place in Order of the sorting form with which the keys of a candidate
// are compared.
type openForm struct{ candidate, order int }

// smallIntegers are kept by value rather than looked up again.
const smallIntegers = 1 << 16

type recentInteger struct {
	value rekey.Integer
	fate  int
	known bool
}

func (r openReader) newOpenPass(db *database, table string, candidates []candidate, without, unweighed map[string]bool) *openPass {
	t := db.tables[table]
	var carry []string // to show rows
	if r.facts.opts.Samples > 0 {
		carry = t.rowKey(nil)
	}
	if r.facts.opts.Samples > 0 && carry == nil {
		for _, c := range t.Columns {
			if !without[c.Name] {
				carry = append(carry, c.Name)
			}
		}
	}
	p := &openPass{r: r, db: db, table: table, self: slices.Index(r.facts.dbs, db), candidates: candidates, fates: newFates()}
	p.stream = r.stream(db, r.code, len(carry), Scan{Table: table, Carry: slices.Clip(carry), Unsorted: true})
	keys := r.undeclaredKeys()
	classes := make(map[keyClass]bool)
	for _, c := range candidates {
		var sets []*keySet
		var offsets []uint64
		for _, other := range r.facts.dbs {
			sets = append(sets, keys.sets[c][other])
			offsets = append(offsets, r.facts.rekeyed.offset(other, c.table, c.column))
		}
		p.sets, p.offsets = append(p.sets, sets), append(p.offsets, offsets)
		p.matched = append(p.matched, r.facts.rekeyed.matched(db, c.table, c.column).Len() > 0)
		classes[c.class] = true
	}
	p.texts, p.integers, p.names = classes[textClass], classes[integerClass], classes[nameClass] && len(classes) == 1
	for i := range t.Columns {
		col := &t.Columns[i]
		others := func(c candidate) bool { return c.table != table || c.column != col.Name }
		if without[col.Name] || r.settled[col.Name] || !slices.ContainsFunc(candidates, others) || !judgesOpen(r.facts, table, col.Name) || r.otherServers(db, table, col.Name, candidates) {
			continue
		}
		reads := readsAs(col, classes)
		if reads == nil || p.names && !holdsNames(col) {
			continue
		}
		s := &openScan{openColumn: &openColumn{db: db, column: col.Name, rows: make(map[fate]int64),
			maybe: make(map[int]bool), fates: p.fates}, pass: p, reads: reads, id: col.IsID, binaries: col.Kind == KindBytes}
		for k, c := range candidates {
			if c.table == table && c.column == col.Name || refersTo(r.facts.resolved, c, columnName{table, col.Name}) {
				s.own = append(s.own, k)
			}
		}
		s.carried = p.stream.carry(col.Name)
		for _, ref := range r.facts.declared.role(table, col.Name).references {
			leaves := ref.when
			if leaves == nil || t.column(leaves.Column) == nil {
				continue
			}
			at := p.stream.carry(leaves.Column)
			s.covers = append(s.covers, func(row int) bool { return leaves.Holds(p.stream.batch.Carry[at].At(row)) })
		}
		if col.Kind == KindText && !col.IsID && !unweighed[col.Name] {
			s.forms = []openForm{}
			for k, c := range candidates {
				if c.class == textClass || slices.Contains(r.repeats[col.Name], k) {
					s.forms = append(s.forms, openForm{k, p.stream.weigh(col.Name, c.collation)})
				}
			}
		}
		p.nameLookups(s, t)
		p.columns = append(p.columns, s)
	}
	p.stream.visit = append(p.stream.visit, p.visit)
	return p
}

// otherServers reports whether the IDs of a column, all of which were read before, are
// of servers of which no other database has IDs in a key, so that none of them can name
// another database's row.
func (r openReader) otherServers(db *database, table, column string, candidates []candidate) bool {
	own := r.facts.servers[idOf(table, column)][db]
	if own == nil {
		return false
	}
	for _, c := range candidates {
		if c.class != bytesClass {
			continue
		}
		for _, other := range r.facts.dbs {
			set := r.undeclaredKeys().sets[c][other]
			if set == nil {
				continue
			}
			if other.tables[c.table] == nil || set.hashes == nil || other != db && set.hashes.servers == nil {
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
func (s *stream) weigh(column, collation string) int {
	o := Order{Column: column, Collation: collation}
	i := slices.Index(s.scan.Order, o)
	if i < 0 {
		i = len(s.scan.Order)
		s.scan.Order = append(s.scan.Order, o)
	}
	return i
}

// weighs reports whether the pass reads the sorting form of a column.
func (p *openPass) weighs(column string) bool {
	return slices.ContainsFunc(p.stream.scan.Order, func(o Order) bool { return o.Column == column })
}

// judgesOpen reports whether a column may name something that nothing declares.
func judgesOpen(f *facts, table, column string) bool {
	switch r := f.declared.role(table, column); r.kind {
	case roleNatural, roleShared:
		return false
	case roleReference:
		// The rows that no condition covers: one of the references may say what they are.
		return !slices.ContainsFunc(r.references, func(ref *reference) bool { return ref.when == nil || ref.others == OthersPlain })
	case rolePlain:
		return true // to count what rests on that word
	default:
		if f.rekeyed != nil && f.moving.columns[columnName{table, column}] != nil {
			return false // a key of a space, which moves
		}
		copied := func(c NameCopy) bool { return c.Table == table && c.Column == column }
		return !foreignKey(f.resolved, table, column) && !slices.ContainsFunc(f.opts.Copies, copied)
	}
}

// readsAs returns how the values of a column are read as keys of some classes; nil if
// they cannot be such.
func readsAs(c *Column, classes map[keyClass]bool) func(*openScan, []byte) {
	switch {
	case c.Kind == KindInteger && classes[integerClass]:
		return (*openScan).integer
	case (c.Kind == KindDecimal || c.Kind == KindReal) && classes[integerClass]:
		return (*openScan).whole
	case c.IsID && c.Kind == KindBytes && classes[bytesClass]:
		return (*openScan).bytes
	case c.Kind == KindBytes:
		return (*openScan).binary
	case c.Kind == KindAny:
		return (*openScan).anything
	case c.Kind == KindText, c.Kind == KindJSON, c.isUUID():
		return (*openScan).tokens
	default:
		return nil
	}
}

func (p *openPass) results() (all []*openColumn) {
	for _, s := range p.columns {
		all = append(all, s.openColumn)
	}
	return all
}

func (p *openPass) visit(b *Batch) {
	for _, s := range p.columns {
		v := &b.Carry[s.carried]
	rows:
		for row := range b.Len {
			value := v.At(row)
			if value == nil {
				continue
			}
			for _, covers := range s.covers {
				if covers(row) {
					continue rows
				}
			}
			s.read++
			s.row = row
			s.reads(s, value)
		}
	}
}

// count notes what becomes of the value of the current row.
func (s *openScan) count(number int, value []byte) {
	if number == 0 {
		return
	}
	s.rows[fate{sure: number}]++
	s.keep(s.pass.fates.sets[number], nil, value)
}

// keep keeps the current row to be shown, and the key that it would name: one for each
// change, or the same for all.
func (s *openScan) keep(set []change, values [][]byte, value []byte) {
	if len(s.kept) >= s.pass.r.facts.opts.Samples {
		return
	}
	best := -1
	for i, c := range set {
		cand := s.pass.candidates[c.candidate]
		if !concerns(s.pass.r.facts, cand, s.db, c, s.pass.r.facts.dbs) {
			continue
		}
		if best < 0 || cand.table != s.pass.table && pointsTo(s.column, cand.table, cand.column) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	k := keptChange{row: s.pass.stream.member(s.row), as: set[best]}
	if k.as.other != gone {
		if len(values) > 0 {
			value = values[best]
		}
		cand := s.pass.candidates[k.as.candidate]
		k.to = member{db: s.pass.r.facts.dbs[k.as.other], table: cand.table, columns: []string{cand.column}, values: [][]byte{bytes.Clone(value)}, names: 1}
	}
	s.kept = append(s.kept, k)
}

// concerns reports whether a change of a value of a database would come about when
// the databases of f are merged.
func concerns(f *facts, c candidate, db *database, as change, dbs []*database) bool {
	if as.other == gone {
		return db != f.target || f.reset[c.table]
	}
	other := dbs[as.other]
	if !slices.Contains(f.dbs, other) {
		return false
	}
	if c.renamed {
		return !c.first || other == db || other == f.target || db != f.target && slices.Index(f.dbs, other) < slices.Index(f.dbs, db)
	}
	return other.tables[c.table] != nil || other == f.target // rows that are not copied come to nobody
}

func (s *openScan) integer(v []byte) {
	n, ok := rekey.ParseInteger(v)
	if !ok {
		return
	}
	s.count(s.fateOf(n), v)
}

// whole reads a number that may have a fraction.
func (s *openScan) whole(v []byte) {
	if n, ok := rekey.ParseWhole(v); ok {
		s.count(s.fateOf(n), []byte(n.String()))
	}
}

// anything reads what SQLite has in a column without a type: a number is one in any
// form, which a part of a text is not.
func (s *openScan) anything(v []byte) {
	_, digits := rekey.ParseInteger(v)
	if n, ok := rekey.ParseWhole(v); ok && (!digits || n.Negative) {
		s.count(s.fateOf(n), []byte(n.String()))
		return
	}
	s.tokens(v)
}

// binary reads bytes, which may be a text.
func (s *openScan) binary(v []byte) {
	for _, c := range v {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			s.bytes(v)
			return
		}
	}
	if !utf8.Valid(v) {
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
	s.each(bytesClass, func(set *keySet, _ uint64) (bool, bool) { return set.hashes.has(v) })
}

// addWords looks a part of a text up among the keys that are bytes and may be texts.
func (s *openScan) addWords(v []byte) {
	for k := range s.pass.candidates {
		if s.pass.candidates[k].words {
			s.lookInto(k, func(set *keySet, _ uint64) (bool, bool) { return set.hashes.has(v) })
		}
	}
}

// fateOf looks a number up, among those that were looked up before.
func (s *openScan) fateOf(n rekey.Integer) int {
	if !n.Negative && n.Bits < smallIntegers {
		if s.small == nil {
			s.small = make([]int32, smallIntegers)
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

func (s *openScan) lookUp(n rekey.Integer) int {
	p := s.pass
	before, value := p.now, p.value
	p.now, p.value = p.found[:0], nil
	s.each(integerClass, func(set *keySet, offset uint64) (has, sure bool) {
		n, ok := n.Sub(offset)
		if !ok {
			return false, true
		}
		if set.integers.Sparse {
			return false, !set.integers.Within(n)
		}
		return set.integers.Has(n), true
	})
	fate := p.fates.of(p.now)
	p.found, p.now, p.value = p.now, before, value
	return fate
}

// lookup looks a value up in a set of keys. offset is what is added to them in the merge.
type lookup func(set *keySet, offset uint64) (has, sure bool)

// each looks a value up in all candidates of a class.
func (s *openScan) each(class keyClass, has lookup) {
	for k := range s.pass.candidates {
		if s.pass.candidates[k].class == class {
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
	if set := p.sets[k][p.self]; set != nil && set.gap == "" {
		own, ownSure = has(set, 0)
	}
	stays := p.db.tables[p.candidates[k].table] != nil && p.offsets[k][p.self] == 0 && !p.matched[k]
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
		if j == p.self && p.offsets[k][j] == 0 || set == nil || set.gap != "" {
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
	if own == nil || own.gap != "" {
		return
	}
	if named, _ := has(own, 0); !named {
		return
	}
	if named, _ := has(&keySet{hashes: own.twice, words: own.twiceWords, integers: own.integers}, 0); named {
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
	if p.value != nil && p.r.facts.opts.Samples > 0 {
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
		form := p.stream.batch.Order[f.order].At(s.row)
		s.lookInto(f.candidate, func(set *keySet, _ uint64) (bool, bool) { return set.hashes.has(form) })
	}
	if s.binaries {
		s.addBytes(v)
	} else {
		s.addWords(v)
	}
	if !p.names {
		for t := range tokens(v) {
			s.token(t)
		}
	}
	p.value = nil
	if became := (fate{p.fates.of(p.now), p.fates.of(s.hexed)}); became != (fate{}) {
		s.rows[became]++
		s.keep(p.now, p.values, nil)
	}
}

func (s *openScan) token(t token) {
	switch t.form {
	case tokenAddress:
		return
	case tokenDecimal:
		if n, ok := t.decimal(); ok {
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
		if n, ok := t.decimal(); ok {
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
func (s *openScan) addInteger(n rekey.Integer) {
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
	s.each(textClass, func(set *keySet, _ uint64) (bool, bool) {
		if has, sure := set.words.has(fold); has || sure {
			return has, sure
		}
		return false, false
	})
}

// undeclaredIn is undeclared for a pair of a matrix, too: what is read is the same for
// all of them that compare texts alike.
func (r openReader) undeclaredIn(ctx context.Context, table string) (*openReading, error) {
	if r.shared == nil {
		return r.undeclared(ctx, table)
	}
	candidates, _, err := r.candidates(ctx)
	if err != nil {
		return nil, err
	}
	type asking string
	asked := asking(fmt.Sprintf("%q %#v", table, candidates))
	if r.shared.now[asked] == nil {
		all := openReader{reader: newReader(&facts{established: r.facts.established, resolved: &resolved{
			opts: r.shared.opts, declared: r.facts.declared, same: r.facts.same, skip: r.facts.skip, reset: r.facts.reset, dbs: r.shared.dbs, target: r.facts.target,
		}}, r.progress), code: r.code}
		all.kept = r.shared.kept
		read, err := all.undeclaredAmong(ctx, table, candidates)
		if err != nil {
			return nil, err
		}
		r.shared.now[asked] = read
	}
	return r.shared.now[asked].(*openReading).of(r.facts), nil
}

// of is what was read as it is to some of the databases.
func (o *openReading) of(f *facts) *openReading {
	part := &openReading{candidates: o.candidates, unread: make(map[string][]Gap)}
	for _, c := range o.columns {
		if slices.Contains(f.dbs, c.db) {
			part.columns = append(part.columns, c)
		}
	}
	for column, gaps := range o.unread {
		for _, g := range gaps {
			if slices.ContainsFunc(f.dbs, func(db *database) bool { return db.name == g.Source }) {
				part.unread[column] = append(part.unread[column], g)
			}
		}
	}
	return part
}

// group returns the databases that were read together: all of a matrix.
func (r openReader) group() []*database {
	if r.shared != nil {
		return r.shared.dbs
	}
	return r.facts.dbs
}
