package check

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/stream"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// A unique text may be repeated by columns that nothing declares: the receiver of a letter,
// by name. In every text of the game some values are names by accident, so a column is
// judged by names only if it repeats them: in one of the databases, more than half of its
// values are names of that database. They are counted while the table is read for other
// reasons, by a filter. What repeats names is then read again, to be compared with the names
// of all databases as the first world compares.

// nameCount counts the values of a column in one database.
type nameCount struct {
	Rows  int64 // with a value, but for 0 and what is declared to be no name
	Named int64 // of these, those whose value is a name
}

// NameCandidates returns the columns of one unique text that other columns may repeat, but
// for those that are candidates as keys.
func NameCandidates(ctx context.Context, r OpenReader, keys []Candidate) (all []Candidate, err error) {
	for _, table := range rules.KeyTables(r.Facts.Resolved) {
		_, model := rules.KeyModel(r.Facts.Resolved, table)
		for _, column := range uniqueTexts(r.Facts, table, model) {
			c := nameCandidate(table, model.Column(column))
			isKey := func(key Candidate) bool { return key.Table == table && key.Column == column && !key.renamed }
			if slices.ContainsFunc(keys, isKey) || !anyOther(r.Facts, c, holdsNames) { // to repeat them
				continue
			}
			if err := r.ReadKeys(ctx, c); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func nameCandidate(table string, c *catalog.Column) Candidate {
	return Candidate{Table: table, Column: c.Name, Class: nameClass, collation: c.Collation}
}

// namesAreAsked reports whether the values of a column will be asked for as names that other columns may repeat.
func namesAreAsked(f *Facts, table, column string) bool {
	_, model := rules.KeyModel(f.Resolved, table)
	return model != nil && slices.Contains(uniqueTexts(f, table, model), column) && anyOther(f, nameCandidate(table, model.Column(column)), holdsNames)
}

// uniqueTexts returns the columns of a table that are unique by themselves and hold texts of
// the world.
func uniqueTexts(f *Facts, table string, model *catalog.Table) (columns []string) {
	add := func(names []string) {
		if len(names) == 1 {
			columns = append(columns, names[0])
		}
	}
	for _, u := range model.Uniques { // one that is unclear tells of names, too
		add(u.Columns)
	}
	for _, u := range f.Opts.Uniques {
		if u.Table == table {
			add(u.Columns)
		}
	}
	for _, to := range f.Opts.Renames {
		if to.Table == table {
			add([]string{to.Column})
		}
	}
	slices.Sort(columns)
	return slices.DeleteFunc(slices.Compact(columns), func(name string) bool {
		switch f.Declared.Role(table, name).Kind {
		case rules.RoleShared:
			return true // the same in every world
		}
		if key := model.Key(); len(key) > 0 && key[0] == name {
			return true // a candidate as a key
		}
		// What repeats the names of a reference repeats those that it leads to.
		return !holdsNames(model.Column(name)) || f.Complete[rules.IDOf(table, name)] && isCopied(f.Resolved, table)
	})
}

// holdsNames reports whether the values of a column can be names: texts that the schema does
// not list.
func holdsNames(c *catalog.Column) bool {
	if c == nil || c.Kind != catalog.KindText || c.Collation == "" || c.IsID || isUUID(c) {
		return false
	}
	kind := strings.ToLower(c.Type)
	return !strings.HasPrefix(kind, "enum(") && !strings.HasPrefix(kind, "set(")
}

// readNameFilter reads the names of one database into a filter.
func readNameFilter(ctx context.Context, r OpenReader, db *rules.Database, t *catalog.Table, c Candidate) (*KeySet, error) {
	room := &r.UndeclaredKeys().Room
	set := &KeySet{Integers: new(keys.Set), hashes: newHashes(room), words: newHashes(room)}
	if !holdsNames(t.Column(c.Column)) {
		return set, nil // it has no such names
	}
	set.unread = true
	if filter, is := r.Kept[filteredNames{db, c.Table, c.Column}].(*nameFilter); is {
		set.filter = filter
		return set, nil
	}
	s := r.Stream(db, r.Code, 1, catalog.Scan{Table: c.Table, Unsorted: true})
	set.filter = r.filterNames(s, c.Column)
	gap, err := unreadable(s.Drain(ctx))
	if gap != "" {
		return &KeySet{Integers: set.Integers, hashes: set.hashes, words: set.words, Gap: gap}, nil
	}
	return set, err
}

// filteredNames are those of a column that were put into a filter while they were compared with those of other worlds.
type filteredNames struct {
	db            *rules.Database
	table, column string
}

// filterNames puts the names that a stream reads in a column into a filter.
func (r OpenReader) filterNames(s *stream.Stream, column string) *nameFilter {
	rows, known := s.DB.Rows[s.Scan.Table]
	if !known {
		rows = 1 << 20 // its rows stay behind, and were not counted
	}
	filter := newNameFilter(rows, &r.UndeclaredKeys().Filters)
	filter.none = r.Facts.Declared.NoNames(s.Scan.Table, column)
	at := s.Carry(column)
	var name []byte
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			if v := b.Carry[at].At(row); v != nil && !filter.none.Has(v) {
				name = appendFolded(name[:0], v)
				filter.add(name)
			}
		}
	})
	return filter
}

// readNamesOf adds the names themselves to a set that has only the filter.
func readNamesOf(ctx context.Context, r OpenReader, db *rules.Database, c Candidate, set *KeySet) error {
	s := r.Stream(db, r.Code, 1, catalog.Scan{
		Table: c.Table, Order: []catalog.Order{{Column: c.Column, Collation: c.collation}}, Carry: []string{c.Column}, Unsorted: true, SkipNull: true,
	})
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			if v := b.Carry[0].At(row); !isNoName(v) && !set.filter.none.Has(v) {
				set.hashes.Add(b.Order[0].At(row))
			}
		}
	})
	gap, err := unreadable(s.Drain(ctx))
	set.Gap = gap
	set.hashes.Finish()
	set.unread = false
	return err
}

// isNoName reports whether a text stands for no name in any game.
func isNoName(v []byte) bool { return keys.IsZero(v) || len(bytes.TrimRight(v, " ")) == 0 }

// nameLookup counts the values of a column that are names of a candidate.
type nameLookup struct {
	filter *nameFilter
	count  *nameCount
}

// nameLookups prepares to count the names in a column of the pass.
func (p *openPass) nameLookups(s *openScan, t *catalog.Table) {
	if !holdsNames(t.Column(s.column)) {
		return
	}
	for k, c := range p.candidates {
		set := p.sets[k][p.self]
		if c.Class != nameClass || set == nil || set.filter == nil || slices.Contains(s.own, k) {
			continue
		}
		l := nameLookup{filter: set.filter, count: new(nameCount)}
		if s.names == nil {
			s.names = make(map[int]*nameCount)
		}
		s.names[k] = l.count
		s.lookups = append(s.lookups, l)
		s.longest = max(s.longest, set.filter.longest)
	}
}

// maxShrink is how many times shorter a text may be in lower case: a Kelvin sign has 3 bytes.
const maxShrink = utf8.UTFMax - 1

// countNames counts a value.
func (s *openScan) countNames(v []byte) {
	if len(s.lookups) == 0 || isNoName(v) {
		return
	}
	var hash uint64
	short := len(bytes.TrimRight(v, " ")) <= maxShrink*s.longest
	if short {
		s.pass.folded = appendFolded(s.pass.folded[:0], v)
		hash = hashOf(s.pass.folded)
	}
	for i := range s.lookups {
		l := &s.lookups[i]
		if !l.filter.none.Empty() && l.filter.none.Has(v) {
			continue
		}
		l.count.Rows += s.times
		if short && l.filter.has(hash) {
			l.count.Named += s.times
		}
	}
}

// ByColumn groups what was read by column.
func (o *openReading) ByColumn() map[string][]*OpenColumn {
	all := make(map[string][]*OpenColumn)
	for _, c := range o.columns {
		all[c.column] = append(all[c.column], c)
	}
	return all
}

// repeating returns, by column, the candidates whose names it repeats in one of the databases.
func (o *openReading) repeating() map[string][]int {
	all := make(map[string][]int)
	for _, c := range o.columns {
		for k, n := range c.names {
			if n.most() && !slices.Contains(all[c.column], k) {
				all[c.column] = append(all[c.column], k)
			}
		}
	}
	for _, repeats := range all {
		slices.Sort(repeats)
	}
	return all
}

func (n *nameCount) most() bool { return 2*n.Named > n.Rows }

// RepeatedNames returns the candidates whose names a column repeats in the databases of f: those
// that most of its rows repeat. Of two columns of names the one that has more is repeated by
// the other.
func RepeatedNames(f *Facts, keys *candidateKeys, candidates []Candidate, at rules.ColumnName, parts []*OpenColumn) map[int]nameCount {
	all, best := make(map[int]nameCount), int64(0)
	for k, c := range candidates {
		if c.Class != nameClass {
			continue
		}
		var sum nameCount
		most := false
		for _, p := range parts {
			if n := p.names[k]; n != nil {
				sum.Rows += n.Rows
				sum.Named += n.Named
				most = most || n.most()
			}
		}
		if most && !hasFewerNames(f, keys, c, candidates, at) {
			all[k], best = sum, max(best, sum.Named)
		}
	}
	for k, n := range all {
		if n.Named < best {
			delete(all, k)
		}
	}
	return all
}

// mostRepeated returns the candidate that the most rows of a column name, of those whose names it
// repeats; -1 if it repeats none.
func mostRepeated(named map[int]int64, repeated map[int]nameCount) (most int) {
	most = -1
	for _, k := range slices.Sorted(maps.Keys(repeated)) {
		if most < 0 || named[k] > named[most] {
			most = k
		}
	}
	return most
}

// namesUnlike says why a column could not be compared with the names that it repeats.
func namesUnlike(f *Facts, keys *candidateKeys, c Candidate, parts []*OpenColumn) (gaps []verdict.Gap) {
	of := "the column repeats the names of " + c.String() + ", and cannot be compared with them: "
	for _, p := range parts {
		if p.gap != "" {
			gaps = append(gaps, verdict.Gap{World: p.db.Name, Reason: of + p.gap})
		}
	}
	for _, db := range f.DBs {
		if set := keys.Sets[c][db]; set != nil && set.Gap != "" {
			gaps = append(gaps, verdict.Gap{World: db.Name, Reason: of + set.Gap})
		}
	}
	return gaps
}

// repeatsText says whose names a column repeats, and how many of its values, where, would name
// other rows: strangers, if they are names of another database only.
func repeatsText(c Candidate, n nameCount, values int64, strangers bool, in []string) string {
	text := fmt.Sprintf("seems to repeat the names of %s (%s of %s)", c, printable.Number(n.Named), printable.Count(n.Rows, "value", "values"))
	switch {
	case values == 0:
		return text
	case strangers:
		return text + "; " + printable.Count(values, "value is a name", "values are names") + " only in another database: " + catalog.Few(in)
	default:
		return text + "; " + printable.Count(values, "value", "values") + " would name other rows: " + catalog.Few(in)
	}
}

// hasFewerNames reports whether a candidate has fewer names than a column, if that has names
// itself.
func hasFewerNames(f *Facts, keys *candidateKeys, c Candidate, candidates []Candidate, column rules.ColumnName) bool {
	i := slices.IndexFunc(candidates, func(c Candidate) bool {
		return c.Class == nameClass && rules.ColumnName{Table: c.Table, Column: c.Column} == column
	})
	if i < 0 || candidates[i].collation != c.collation { // compared otherwise, it may find what the other way does not
		return false
	}
	of := func(c Candidate) (n int64) {
		for _, db := range f.DBs {
			if set := keys.Sets[c][db]; set != nil && set.filter != nil {
				n += set.filter.names
			}
		}
		return n
	}
	switch mine, its := of(candidates[i]), of(c); {
	case mine != its:
		return its < mine
	default:
		return slices.Index(candidates, c) > i
	}
}

// readRepeating reads the columns of a table again that repeat names, with the names of all
// databases.
func readRepeating(ctx context.Context, r OpenReader, table string, candidates []Candidate, found *openReading) error {
	r.repeats = found.repeating()
	if len(r.repeats) == 0 {
		return nil
	}
	for _, repeats := range r.repeats {
		for _, k := range repeats {
			if _, err := r.readFully(ctx, candidates[k]); err != nil {
				return err
			}
		}
	}
	r.settled = make(map[string]bool)
	for _, t := range r.Facts.Having(table) {
		for _, c := range t.Columns {
			r.settled[c.Name] = r.repeats[c.Name] == nil
		}
	}
	again, err := undeclaredSideBySide(ctx, r, table, candidates)
	if err != nil {
		return err
	}
	found.columns = slices.DeleteFunc(found.columns, func(c *OpenColumn) bool { return r.repeats[c.column] != nil })
	found.columns = append(found.columns, again.columns...)
	for column, gaps := range again.unread {
		found.unread[column] = append(found.unread[column], gaps...)
	}
	return nil
}

// nameFilter tells of a text whether it may be one of many names: it knows all of them, and
// takes few other texts for one.
type nameFilter struct {
	bits    []uint64 // as many as a power of two
	names   int64
	longest int // bytes of a name
	none    keys.Values
}

// Of a name, a filter takes nameBits bits as long as there is room, and at least leastWords
// in all. All filters together have maxFilters words.
const (
	nameBits   = 16
	leastWords = 1 << 7
	maxFilters = 32 << 20 / 8
)

// newNameFilter makes a filter for about so many names. It takes at most half of the room.
func newNameFilter(names int64, room *int64) *nameFilter {
	words := int64(leastWords)
	for words*64 < names*nameBits && 2*words <= *room/2 {
		words *= 2
	}
	*room = max(0, *room-words)
	return &nameFilter{bits: make([]uint64, words)}
}

func (f *nameFilter) add(folded []byte) {
	if isNoName(folded) {
		return
	}
	f.names++
	f.longest = max(f.longest, len(folded))
	for _, at := range f.places(hashOf(folded)) {
		f.bits[at/64] |= 1 << (at % 64)
	}
}

func (f *nameFilter) has(hash uint64) bool {
	for _, at := range f.places(hash) {
		if f.bits[at/64]&(1<<(at%64)) == 0 {
			return false
		}
	}
	return true
}

func (f *nameFilter) places(hash uint64) [2]uint64 {
	last := uint64(len(f.bits))*64 - 1
	return [2]uint64{hash & last, hash >> 32 & last}
}
