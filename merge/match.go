package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// Some rows are the same thing in several worlds: an account, by its login name. Of a space
// with Match, the key of such a row of a source becomes the key that the same thing has in the
// target already, or in a source before it; all other keys get a number added as ever. What is
// the same is told by other columns of the row, its natural key, as the target compares them. A
// row of which one of these is NULL or empty is the same as no other.
//
// The row itself is then there twice with one key. It is combined, by the formulas of the
// table's policy or, if it has none, in such a way that all columns stay as the target has them.

// MatchedBy is what tells that rows of several worlds are the same thing.
type MatchedBy struct {
	Table   string   `json:"table"`
	Key     string   `json:"key"`     // the column with the keys of the space
	Columns []string `json:"columns"` // the natural key
}

func (m *MatchedBy) String() string {
	var all []string
	for _, c := range m.Columns {
		all = append(all, place(m.Table, c))
	}
	return strings.Join(all, ", ")
}

// MapFrom is the plan of another merge, by which a space moves.
type MapFrom struct {
	File   string `json:"file"`
	Digest string `json:"digest"` // SHA-256 of the file, in hexadecimal digits

	// Space is its name in the other plan. Offsets and Matched say which keys its rows get,
	// by source.
	Space   string                  `json:"space"`
	Offsets map[string]uint64       `json:"offsets"`
	Matched map[string]*rekey.Pairs `json:"matched,omitempty"`
}

// maxMatched is how many keys of one source may be matched: each is recorded in the plan.
const maxMatched = 1_000_000

// matches reports whether keys of the space may become those of other rows.
func (k *keySpace) matches() bool {
	return k.by != nil || k.Map != nil && len(k.Map.Matched) > 0
}

// matchBy resolves the natural key of a space.
func matchBy(f *resolved, n names, k *keySpace) error {
	if len(k.Match) == 0 {
		return nil
	}
	if k.Keep != "" {
		return fmt.Errorf("match: a space has keep or match, not both: rows that are kept are the same in every world as they are")
	}
	by := new(MatchedBy)
	for _, text := range k.Match {
		err := n.each(text, func(at columnName, exact bool) error {
			switch {
			case !exact:
				return fmt.Errorf("%q is a pattern: want the names of columns", text)
			case by.Table != "" && by.Table != at.table:
				return fmt.Errorf("%q is not a column of %s: want columns of one table", text, by.Table)
			case slices.Contains(by.Columns, at.column):
				return fmt.Errorf("%q is there twice", text)
			}
			by.Table, by.Columns = at.table, append(by.Columns, at.column)
			return nil
		})
		if err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	for _, at := range k.keys {
		if at.table != by.Table {
			continue
		}
		if by.Key != "" {
			return fmt.Errorf("match: %s has two keys of the space: want one", by.Table)
		}
		by.Key = at.column
	}
	switch {
	case f.skip[by.Table]:
		return fmt.Errorf("match: the rows of %s stay behind ([[merge.table]]), so that none of them can be matched", by.Table)
	case len(k.keys) == 0:
		return fmt.Errorf("match: the space has no keys: want keys too, the key of %s", by.Table)
	case by.Key == "":
		return fmt.Errorf("match: %s has no key of the space, which are %s", by.Table, columnNames(k.keys))
	case slices.Contains(by.Columns, by.Key):
		return fmt.Errorf("match: %s is the key itself: want the columns that say what a row is, such as a login name", place(by.Table, by.Key))
	}
	k.by = by
	return combineMatched(f, by)
}

func columnNames(all []columnName) string {
	var names []string
	for _, at := range all {
		names = append(names, at.String())
	}
	return few(names)
}

// combineMatched makes the rows that are matched one: if the operator did not say how, the
// target's stays as it is.
func combineMatched(f *resolved, by *MatchedBy) error {
	_, model := f.model(by.Table)
	if model == nil {
		return nil
	}
	key := model.Key()
	if key == nil || slices.ContainsFunc(key, func(name string) bool { return name != by.Key && !slices.Contains(by.Columns, name) }) {
		return fmt.Errorf("match: the key of table %s is %s: want %s alone, so that a matched row is there once", by.Table, columnList(key), by.Key)
	}
	c := f.combined[by.Table]
	if c == nil {
		for _, r := range f.opts.Renames {
			if r.Table == by.Table {
				return fmt.Errorf("match: %s is renamed by [[merge.name]], and rows of %s are matched: give the table the policy %q instead", place(r.Table, r.Column), by.Table, PolicyCombine)
			}
		}
		for _, r := range f.opts.Copies {
			if r.Table == by.Table {
				return fmt.Errorf("match: %s is renamed along by [[merge.copy]], and rows of %s are matched: a table can have one of the two", place(r.Table, r.Column), by.Table)
			}
		}
		c = &Combined{Table: by.Table, Columns: []CombinedColumn{}, Matched: true}
		for _, col := range model.Columns {
			if !slices.Contains(key, col.Name) && col.Generated == "" {
				c.Columns = append(c.Columns, CombinedColumn{col.Name, Formula{Op: FormulaTarget}})
			}
		}
		f.combined[by.Table] = c
		return nil
	}
	for _, name := range by.Columns {
		if formula := c.Formula(name); !slices.Contains(key, name) && formula.Op == FormulaSame {
			c.Columns = append(c.Columns, CombinedColumn{name, Formula{Op: FormulaTarget}}) // equal, perhaps in other letters
		} else if !formula.chooses() && formula.Op != FormulaSame {
			return fmt.Errorf("match: %s tells what a row is, and is to be combined by %q: want \"target\" or \"source\"", place(by.Table, name), formula)
		}
	}
	slices.SortFunc(c.Columns, func(a, b CombinedColumn) int { return strings.Compare(a.Column, b.Column) })
	return nil
}

// mapFrom takes what another plan says of a space.
func mapFrom(f *resolved, k *keySpace) error {
	if k.Map == nil {
		return nil
	}
	if len(k.Match) > 0 || len(k.Offsets) > 0 || k.Keep != "" {
		return fmt.Errorf("map: %s says which keys the rows get: remove match, offset and keep", k.Map.File)
	}
	k.Offsets = make(map[string]uint64)
	for _, db := range sourcesOf(f) {
		offset, known := k.Map.Offsets[db.name]
		if !known {
			return fmt.Errorf("map: %s has no source named %q: both merges need the same sources, by the same names", k.Map.File, db.name)
		}
		k.Offsets[db.name] = offset
	}
	return nil
}

// matchContradiction says what of matched spaces cannot be.
func (m *moving) matchContradiction() error {
	for _, k := range m.spaces {
		if k.by == nil {
			continue
		}
		for _, name := range k.by.Columns {
			if m.columns[columnName{k.by.Table, name}] != nil {
				return unsuitable("space %q: match: the values of %s get new ones themselves, so that they do not tell what a row is", k.Name, place(k.by.Table, name))
			}
		}
	}
	for _, at := range m.inOrder() {
		cases := m.columns[at].cases
		for i, a := range cases {
			for _, b := range cases[:i] {
				if a.space != b.space && a.ref != nil && b.ref != nil && (a.space.matches() || b.space.matches()) && a.ref.identity() == b.ref.identity() {
					return unsuitable("%s names keys of %q and of %q, and those of one are matched: declare which rows name which (when)", at, b.space.Name, a.space.Name)
				}
			}
		}
	}
	return nil
}

// matchedRow is a row of one of several databases that are the same thing.
type matchedRow struct {
	db  int // the target is 0, then the sources in their order
	key rekey.Integer
}

// matchedRows are the rows of a space that are the same thing.
type matchedRows struct {
	groups [][]matchedRow // each in the order of the databases
	twice  []string       // natural keys that a database has more than once, and which; the first ones
	many   int64          // how many there are
	gaps   []Gap          // why they could not be read
}

// maxTwice is how many of them are named.
const maxTwice = 5

// readMatched finds the rows that are the same thing. The target comes first; a database
// without the table is nil.
func readMatched(ctx context.Context, sources []Source, tables []*Table, by *MatchedBy) (*matchedRows, error) {
	found := new(matchedRows)
	var model *Table
	for _, t := range tables {
		if model == nil {
			model = t
		}
	}
	var scans []SourceScan
	var dbs []int
	for i, t := range tables {
		if t == nil {
			continue
		}
		if why := incomparable(t, by.Columns, &database{name: sources[0].Name()}, model, by.Columns); why != "" {
			found.gaps = append(found.gaps, Gap{sources[i].Name(), why})
			return found, nil
		}
		scans = append(scans, SourceScan{sources[i], Scan{Table: by.Table, Order: order(by.Columns, model), Carry: append(slices.Clone(by.Columns), by.Key), SkipNull: true}})
		dbs = append(dbs, i)
	}
	for rows, err := range EqualRows(ctx, scans, len(by.Columns)) {
		if unsupported, is := errors.AsType[*UnsupportedError](err); is {
			name := ""
			if read, is := errors.AsType[*ReadError](err); is {
				name = read.Source
			}
			found.gaps = append(found.gaps, Gap{name, unsupported.Error()})
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rows[0].Carry[:len(by.Columns)], func(v []byte) bool { return len(bytes.Trim(v, " \x00")) == 0 }) {
			continue
		}
		group := make([]matchedRow, len(rows))
		twice := ""
		for i, r := range rows {
			group[i].db = dbs[r.From]
			var ok bool
			if group[i].key, ok = rekey.ParseInteger(r.Carry[len(by.Columns)]); !ok {
				return nil, fmt.Errorf("%s of %q has a value that is not an integer", place(by.Table, by.Key), sources[group[i].db].Name())
			}
			if i > 0 && group[i].db == group[i-1].db {
				twice = fmt.Sprintf("%s of %s, keys %s and %s", naturalKey(r.Carry[:len(by.Columns)]), sources[group[i].db].Name(), group[i-1].key, group[i].key)
			}
		}
		if twice != "" {
			if found.many++; len(found.twice) < maxTwice {
				found.twice = append(found.twice, twice)
			}
			continue
		}
		found.groups = append(found.groups, group)
	}
	return found, nil
}

func naturalKey(values [][]byte) string {
	var all []string
	for _, v := range values {
		all = append(all, printable.Text(fmt.Sprintf("%q", cut(v))))
	}
	return strings.Join(all, ", ")
}

// pairs returns what becomes of the keys of each source, the first of which is number 1;
// offset is what is added to those of one.
func (m *matchedRows) pairs(sources int, offset func(source int) uint64) ([]*rekey.Pairs, error) {
	all := make([][]rekey.Pair, sources)
	for _, group := range m.groups {
		home := group[0].key
		if group[0].db > 0 {
			var ok bool
			if home, ok = home.Add(offset(group[0].db - 1)); !ok {
				return nil, fmt.Errorf("the key %s and %d is more than any column can hold", group[0].key, offset(group[0].db-1))
			}
		}
		for _, row := range group[1:] {
			all[row.db-1] = append(all[row.db-1], rekey.Pair{Old: row.key, New: home})
		}
	}
	found := make([]*rekey.Pairs, sources)
	for i := range all {
		if len(all[i]) == 0 {
			continue
		}
		var err error
		if found[i], err = rekey.NewPairs(all[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// targetFirst are the databases, the target first.
func targetFirst(f *facts) []*database {
	return append([]*database{f.target}, sourcesOf(f.resolved)...)
}

// readMatches reads the rows of all spaces that are matched.
func (r *spaceReader) readMatches(ctx context.Context) error {
	r.found.matched = make(map[*keySpace]*matchedRows)
	for _, s := range r.moving.spaces {
		if s.by == nil {
			continue
		}
		var sources []Source
		var tables []*Table
		for _, db := range targetFirst(r.facts) {
			sources, tables = append(sources, db.source), append(tables, db.tables[s.by.Table])
		}
		var err error
		if r.found.matched[s], err = readMatched(ctx, sources, tables, s.by); err != nil {
			return err
		}
	}
	return nil
}

// match finds what becomes of the keys that are matched, when the offsets are known. It says
// what stands against it.
func (f chooser) match(k *rekeyed) (o outcome) {
	k.pairs = make(map[*keySpace]map[*database]*rekey.Pairs)
	sources := sourcesOf(f.facts.resolved)
	for _, s := range f.moving.spaces {
		k.pairs[s] = make(map[*database]*rekey.Pairs)
		result := Result{Code: CodeKeySpace, Table: spaceTable(f.facts, s.Name), Subject: s.Name}
		switch matched := f.read.matched[s]; {
		case s.Map != nil:
			for _, db := range sources {
				k.pairs[s][db] = s.Map.Matched[db.name]
			}
		case matched == nil:
			continue
		case len(matched.gaps) > 0:
			result.Gaps, result.Message = matched.gaps, "the values of "+s.by.String()+" cannot be compared, so that no rows can be matched"
			o.add(found(result))
			continue
		case matched.many > 0:
			result.Table, result.Subject, result.Columns, result.Count = s.by.Table, columnList(s.by.Columns), s.by.Columns, matched.many
			result.Message = fmt.Sprintf("%s more than once in one database, as the target compares, so they do not identify the rows: %s",
				printable.Count(matched.many, "value occurs", "values occur"), strings.Join(matched.twice, "; "))
			result.Next = []string{"give all rows but one other values; or match by more columns; or remove match from the space"}
			o.add(found(result))
			continue
		default:
			all, err := matched.pairs(len(sources), func(i int) uint64 { return k.of[s][sources[i]] })
			if err != nil {
				result.Count, result.Message = 1, "match: "+err.Error()
				o.add(found(result))
				continue
			}
			for i, db := range sources {
				if k.pairs[s][db] = all[i]; all[i].Len() > maxMatched {
					result.Count = int64(all[i].Len())
					result.Message = fmt.Sprintf("%s of %s would be matched, and at most %s can be", printable.Count(result.Count, "key", "keys"), db.name, printable.Number(maxMatched))
					o.add(found(result))
				}
			}
		}
	}
	for _, at := range f.moving.inOrder() {
		for _, db := range sources {
			o.add(f.matchedFits(k, f.moving.columns[at], db))
		}
	}
	return o
}

// matchedFits says which values of a column would become what it does not take, or what means
// nobody.
func (f chooser) matchedFits(k *rekeyed, c *movedColumn, db *database) outcome {
	for i, of := range c.cases {
		pairs := k.pairs[of.space][db]
		if of.ref == nil || pairs.Len() == 0 || len(f.read.rows[c][db]) <= i {
			continue
		}
		most, bounded := (&spaceReader{reader: &reader{facts: f.facts}}).most(c, i)
		moved := f.read.rows[c][db][i].moved
		for old, image := range pairs.All() {
			if !moved.Meets(rekey.Range{Low: old, High: old, Any: true}) {
				continue
			}
			result := Result{Code: CodeKeySpace, Table: c.table, Subject: c.column, Columns: []string{c.column}, Count: 1}
			switch {
			case of.ref.none.HasInteger(old):
				continue
			case of.ref.none.HasInteger(image):
				result.Message = fmt.Sprintf("%s of %s is matched with %s, which is declared to refer to no row there", old, db.name, image)
			case bounded && most.Less(image):
				result.Message = fmt.Sprintf("%s of %s is matched with %s, and the column ends at %s", old, db.name, image, most)
				result.Next = []string{"give " + place(c.table, c.column) + " a larger type in all databases"}
			default:
				continue
			}
			return found(result)
		}
	}
	return outcome{}
}

// shiftOf is what becomes of the keys of a space of a database, but for values that stay.
func (k *rekeyed) shiftOf(space *keySpace, db *database, stay rekey.Values) *rekey.Shift {
	return &rekey.Shift{By: k.of[space][db], Stay: stay, Match: k.pairs[space][db]}
}

// movesIn reports whether any key of a space of a database gets a new value.
func (k *rekeyed) movesIn(space *keySpace, db *database) bool {
	return k.of[space][db] > 0 || k.pairs[space][db].Len() > 0
}

// matched are the pairs of the keys that a column of a database has, or refers to in all rows.
func (k *rekeyed) matched(db *database, table, column string) *rekey.Pairs {
	if k == nil {
		return nil
	}
	m := k.moving.columns[columnName{table, column}]
	if m == nil {
		return nil
	}
	return k.pairs[m.cases[0].space][db]
}

// matchesAny reports whether keys of a space are matched, of any database.
func (k *rekeyed) matchesAny(space *keySpace) bool {
	for _, pairs := range k.pairs[space] {
		if pairs.Len() > 0 {
			return true
		}
	}
	return false
}

// Rematched are the keys of a space that are matched now.
type Rematched struct {
	Pairs map[string]*rekey.Pairs // by source; nil for none
	Twice []string                // natural keys that a database has more than once, with their rows; the first ones
}

// Matches works out again which keys are matched, by space and source. The target comes first;
// the plan says how. Of a space that does not move by [Space.Match] it says nothing.
func Matches(ctx context.Context, sources []Source, planned *Rekeying) (map[string]Rematched, error) {
	all := make(map[string]Rematched)
	catalogs := make([]*Catalog, len(sources))
	for i := range planned.Spaces {
		s := &planned.Spaces[i]
		if s.By == nil {
			continue
		}
		tables := make([]*Table, len(sources))
		for k, source := range sources {
			if catalogs[k] == nil {
				var err error
				if catalogs[k], err = source.Catalog(ctx); err != nil {
					return nil, err
				}
			}
			if at := slices.IndexFunc(catalogs[k].Tables, func(t Table) bool { return t.Name == s.By.Table }); at >= 0 {
				tables[k] = &catalogs[k].Tables[at]
			}
		}
		found, err := readMatched(ctx, sources, tables, s.By)
		if err != nil {
			return nil, err
		}
		if len(found.gaps) > 0 {
			return nil, fmt.Errorf("merge: %q: the values of %s cannot be compared: %s", found.gaps[0].Source, s.By, found.gaps[0].Reason)
		}
		pairs, err := found.pairs(len(sources)-1, func(k int) uint64 { return planned.Offset(s.Name, sources[k+1].Name()) })
		if err != nil {
			return nil, err
		}
		again := Rematched{make(map[string]*rekey.Pairs), found.twice}
		for k, p := range pairs {
			again.Pairs[sources[k+1].Name()] = p
		}
		all[s.Name] = again
	}
	return all, nil
}

// matchedAction says what to do about rows that have one key since others are matched; "" if
// none of its columns names such.
func matchedAction(f *facts, table string, key []string) string {
	for _, name := range key {
		if f.rekeyed == nil || f.combined[table] != nil || f.moving.columns[columnName{table, name}] == nil {
			continue
		}
		if s := f.moving.columns[columnName{table, name}].cases[0].space; f.rekeyed.matchesAny(s) {
			return fmt.Sprintf("%s names rows of %s that are matched (match), so that rows of several worlds have one key now: say how they are merged, [[merge.table]] tables = [%s], policy = %q",
				name, s.Name, printable.TOML(table), PolicyCombine)
		}
	}
	return ""
}
