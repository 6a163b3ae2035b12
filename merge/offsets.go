package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/rekey"
)

// chooser chooses offsets by what was read.
type chooser struct {
	*facts
	read *measured
}

// offsets chooses what is added to the keys of each source. All spaces of a source
// get the same offset, so that a column that names rows of several kinds, or that somebody
// took for another, cannot lead to a stranger; a space has its own only if there is no
// room for that, or the operator chose it. It returns nil, and says why, if there is none.
func (f chooser) offsets() (*rekeyed, outcome) {
	read := f.read
	k := &rekeyed{target: f.target, moving: f.moving, of: make(map[*keySpace]map[*database]uint64), bent: make(map[*movedColumn]bool), read: read}
	step := uint64(0) // that the operator wants
	var together, alone []*keySpace
	for _, s := range f.moving.spaces {
		step = max(step, s.Step)
		if len(s.Offsets) > 0 {
			alone = append(alone, s)
		} else {
			together = append(together, s)
		}
	}
	var o outcome
	for len(together) > 0 {
		offsets, used, narrow := f.choose(step, false, together...)
		if narrow == nil {
			k.take(f, offsets, used, together...)
			break
		}
		// The spaces with the column at fault go by themselves.
		n := len(together)
		together = slices.DeleteFunc(together, func(s *keySpace) bool {
			out := n == 1 || slices.ContainsFunc(read.of[s][sourcesOf(f.facts.resolved)[narrow.Source]].limits, func(l rekey.Limit) bool { return l.Column == narrow.Limit.Column })
			if out {
				alone = append(alone, s)
			}
			return out
		})
		if len(together) == n { // nobody's column: the numbers themselves are too large
			alone, together = append(alone, together...), nil
		}
	}
	for _, s := range alone {
		offsets, used, narrow := f.choose(step, true, s)
		if narrow != nil {
			o.add(found(f.noRoom(s, narrow)))
			continue
		}
		k.take(f, offsets, used, s)
	}
	if len(o.findings) > 0 {
		return nil, o
	}
	if o = f.match(k); len(o.findings) > 0 {
		return nil, o
	}
	for _, at := range f.moving.inOrder() {
		c := f.moving.columns[at]
		for _, db := range sourcesOf(f.facts.resolved) {
			for i := range read.rows[c][db] {
				rows, offset := &read.rows[c][db][i], k.of[c.cases[i].space][db]
				k.bent[c] = k.bent[c] || !rows.monotone(offset)
				if moved, _ := rows.moved.Shift(offset); offset > 0 && c.cases[i].ref.none.Meets(moved) {
					o.add(found(Result{Code: CodeKeySpace, Table: at.table, Subject: at.column, Columns: []string{at.column}, Count: 1,
						Message: fmt.Sprintf("values of %s would become %s to %s, and some of these are declared to refer to no row", db.name, moved.Low, moved.High)}))
					return nil, o
				}
			}
		}
		for i, other := range c.cases {
			for _, first := range c.cases[:i] {
				if other.ref == nil || first.ref == nil || !other.ref.same(first.ref) || !slices.ContainsFunc(f.dbs, func(db *database) bool { return k.of[first.space][db] != k.of[other.space][db] }) {
					continue
				}
				o.add(found(Result{Code: CodeKeySpace, Table: at.table, Subject: at.column, Columns: []string{at.column}, Count: 1,
					Message: fmt.Sprintf("it names keys of %q and of %q, which get different offsets: declare them as one space", first.space.Name, other.space.Name)}))
				return nil, o
			}
		}
	}
	k.report = f.report(k, alone)
	return k, o
}

// sourcesOf are all databases but the target, in their order.
func sourcesOf(f *resolved) []*database {
	return slices.DeleteFunc(slices.Clone(f.dbs), func(db *database) bool { return db == f.target })
}

// choose chooses one offset of each source for some spaces. own tells that these offsets
// are those of one space alone.
func (f chooser) choose(step uint64, own bool, spaces ...*keySpace) ([]uint64, uint64, *rekey.Narrow) {
	var target rekey.Range
	given := make(map[int]uint64)
	wants := make([]rekey.Want, len(sourcesOf(f.facts.resolved)))
	for _, s := range spaces {
		target.Join(f.read.of[s][f.target].values)
		for i, db := range sourcesOf(f.facts.resolved) {
			of := f.read.of[s][db]
			wants[i].Values.Join(of.values)
			wants[i].Limits = append(wants[i].Limits, of.limits...)
			if offset, chosen := f.opts.Rekey.Offsets[db.name]; chosen {
				given[i] = offset
			}
			if offset, chosen := s.Offsets[db.name]; chosen {
				given[i] = offset
			}
		}
	}
	for i, db := range sourcesOf(f.facts.resolved) {
		_, chosen := given[i]
		for _, r := range f.opts.Rekey.Fleet {
			if !(chosen && r.World == db.name) && (!own || r.concerns(spaces[0].Name, spaces[0].Keys)) {
				wants[i].Taken = append(wants[i].Taken, r.Range)
			}
		}
	}
	return rekey.Choose(target, wants, step, given)
}

// take notes the offsets of some spaces, and the step that they are multiples of. The first
// that are taken are those in common, if there are any.
func (k *rekeyed) take(f chooser, offsets []uint64, step uint64, spaces ...*keySpace) {
	k.step = cmp.Or(k.step, step)
	for _, s := range spaces {
		k.of[s] = make(map[*database]uint64)
		for i, db := range sourcesOf(f.facts.resolved) {
			k.of[s][db] = offsets[i]
		}
	}
}

// noRoom says why the keys of a space cannot get new values.
func (f chooser) noRoom(s *keySpace, narrow *rekey.Narrow) Result {
	source := sourcesOf(f.facts.resolved)[narrow.Source].name
	r := Result{Code: CodeKeySpace, Table: spaceTable(f.facts, s.Name), Subject: s.Name, Count: 1}
	switch {
	case narrow.Taken.Any:
		i := slices.IndexFunc(f.opts.Rekey.Fleet, func(r FleetRange) bool { return r.Range == narrow.Taken })
		r.Message = fmt.Sprintf("the offset %s that was chosen for %s gives its keys numbers of %s to %s, which the fleet registry gave to %q",
			narrow.Need, source, narrow.Taken.Low, narrow.Taken.High, f.opts.Rekey.Fleet[i].World)
		r.Next = []string{"choose another offset: \"gameid servers ranges\" lists who has what; if that is the world of " + source + ", give it the same name in config.toml"}
	case narrow.Limit.Column == "" && len(s.Offsets)+len(f.opts.Rekey.Offsets) > 0:
		r.Message = fmt.Sprintf("the offset %s that was chosen for %s leaves its numbers among those of another database", narrow.Need, source)
		r.Next = []string{"choose a larger offset for " + source + ", or none"}
	case narrow.Limit.Column == "":
		r.Message = fmt.Sprintf("there is no room: the numbers of %s would need an offset of %s, and no integer is that large", source, narrow.Need)
	default:
		r.Message = fmt.Sprintf("there is no room: the numbers of %s need an offset of at least %s, and %s has %s already and ends at %s",
			source, narrow.Need, narrow.Limit.Column, narrow.Limit.High, narrow.Limit.Most)
		r.Next = []string{fmt.Sprintf("give %s a larger type in all databases; or declare its values that refer to no row, if its largest values do (none)", narrow.Limit.Column)}
		if at, db, high := f.highest(s, narrow.Source); db != nil && at.String() != narrow.Limit.Column {
			r.Message += fmt.Sprintf("; the largest of the numbers is %s, in %s of %s", high, at, db.name)
			r.Next = slices.Insert(r.Next, 0, fmt.Sprintf("look at the largest values of %s: if they refer to no row, or are something else, declare them: none = [...]", at))
		}
		if at, db, next := f.farCounter(s, narrow.Source); db != nil {
			r.Message += fmt.Sprintf("; the counter of %s is at %d in %s, far above the keys", at, next, db.name)
			r.Next = slices.Insert(r.Next, 0, fmt.Sprintf("if %s never had the numbers in between, "+
				"set the counter of %s back to just above the keys, then check again", db.name, at.table))
		}
	}
	return r
}

// highest returns the column with the largest number of a space, of the target and of the
// sources up to one.
func (f chooser) highest(s *keySpace, last int) (at columnName, db *database, high rekey.Integer) {
	for _, there := range append([]*database{f.target}, sourcesOf(f.facts.resolved)[:last+1]...) {
		for _, c := range f.moving.inOrder() {
			var values rekey.Range
			if set := f.read.keys[c][there]; set != nil && f.moving.columns[c].cases[0].space == s {
				values = set.Range()
			}
			for i, rows := range f.read.rows[f.moving.columns[c]][there] {
				if f.moving.columns[c].cases[i].space == s {
					values.Join(rows.moved)
				}
			}
			if values.Any && (db == nil || high.Less(values.High)) {
				at, db, high = c, there, values.High
			}
		}
	}
	return at, db, high
}

// farCounter returns the largest counter of a space that lies above every number of the space,
// of the target and of the sources up to one; db is nil if none does.
func (f chooser) farCounter(s *keySpace, last int) (at columnName, db *database, next uint64) {
	_, _, high := f.highest(s, last)
	for _, there := range append([]*database{f.target}, sourcesOf(f.facts.resolved)[:last+1]...) {
		for _, key := range s.keys {
			t := there.tables[key.table]
			if t == nil || t.AutoIncrement == nil || t.AutoIncrement.Column != key.column {
				continue
			}
			if n := t.AutoIncrement.Next; n > max(next, 1) && high.Less(rekey.Integer{Bits: n - 1}) {
				at, db, next = key, there, n
			}
		}
	}
	return at, db, next
}

// rekeying is what was chosen, for the report.
func (f chooser) report(k *rekeyed, alone []*keySpace) *Rekeying {
	read := f.read
	all := &Rekeying{Step: k.step, Spaces: []RekeyedSpace{}, Columns: []RekeyedColumn{}, Fleet: f.opts.Rekey.Fleet}
	of := func(s *keySpace, db *database) SpaceOf {
		v, offset := read.of[s][db], k.of[s][db]
		space := SpaceOf{Source: db.name, Offset: offset, Rows: v.rows, Keys: v.keys, Values: v.values, Matched: k.pairs[s][db]}
		space.New, _ = v.values.Shift(offset)
		for _, l := range v.limits {
			if l.High, _ = l.High.Add(offset); space.Narrow.Column == "" || l.Room().Cmp(space.Narrow.Room()) < 0 {
				space.Narrow = l
			}
		}
		return space
	}
	for _, s := range f.moving.spaces {
		space := RekeyedSpace{
			Name: s.Name, Step: s.Step, Max: s.Max, Most: f.mostKey(s), Keep: s.Keep,
			Own: slices.Contains(alone, s), By: s.by, Target: of(s, f.target), Sources: []SpaceOf{},
		}
		if s.Map != nil {
			space.From = &MapFile{s.Map.File, s.Map.Digest, s.Map.Space}
		}
		for _, at := range s.keys {
			space.Keys = append(space.Keys, at.String())
		}
		var moved []rekey.Range
		for _, db := range sourcesOf(f.facts.resolved) {
			space.Sources, moved = append(space.Sources, of(s, db)), append(moved, read.of[s][db].values)
		}
		space.Step = cmp.Or(space.Step, rekey.DefaultStep(moved...))
		all.Spaces = append(all.Spaces, space)
	}
	slices.SortFunc(all.Spaces, func(a, b RekeyedSpace) int { return strings.Compare(a.Name, b.Name) })
	for _, at := range f.moving.inOrder() {
		c := f.moving.columns[at]
		column := RekeyedColumn{Table: at.table, Column: at.column, Key: c.key}
		for i, a := range c.cases {
			one := RekeyedCase{Space: a.space.Name, Counts: []CaseCounts{}}
			if a.ref != nil {
				one.Zero, one.None, one.When = a.ref.declared.ZeroIsNone, a.ref.declared.None, a.ref.when
				one.Format = a.ref.declared.Format
			}
			if a.space.Keep != "" {
				one.None = append(slices.Clone(one.None), a.space.Keep)
			}
			for _, db := range append([]*database{f.target}, sourcesOf(f.facts.resolved)...) {
				counts := CaseCounts{}
				if rows := read.rows[c][db]; len(rows) > i {
					counts = rows[i].CaseCounts
				}
				one.Counts = append(one.Counts, counts)
			}
			column.Cases = append(column.Cases, one)
		}
		all.Columns = append(all.Columns, column)
	}
	for _, c := range f.moving.counters {
		most := least(f.counterMost(c), c.space.Max)
		all.Counters = append(all.Counters, RekeyedCounter{
			Table: c.table, Column: c.column, When: c.when, Space: c.space.Name,
			Next: all.next(all.Space(c.space.Name), most), Most: most,
		})
	}
	slices.SortFunc(all.Columns, func(a, b RekeyedColumn) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column))
	})
	return all
}

// mostKey is the largest key that the columns of a space take, those that refer to it
// included; 0 if that is not known.
func (f chooser) mostKey(s *keySpace) (most uint64) {
	most = s.Max
	for _, at := range s.keys {
		if end, known := mostOf(f.facts.resolved, at); known {
			most = least(most, end.Bits)
		}
	}
	for _, db := range sourcesOf(f.facts.resolved) {
		for _, l := range f.read.of[s][db].limits {
			most = least(most, l.Most.Bits)
		}
	}
	return most
}

// least is the smaller of two ends, of which 0 is none.
func least(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// counterMost is the largest number that a counter takes; 0 if that is not known.
func (f chooser) counterMost(c keptCounter) uint64 {
	if s := f.target.catalog.Sequence(c.table); c.sequence() && s != nil && !s.Max.Negative {
		return s.Max.Bits
	}
	t := f.target.apart[c.table]
	if t == nil || t.column(c.column) == nil {
		return 0
	}
	most, known := t.column(c.column).most(f.target.catalog.Engine)
	if !known {
		return 0
	}
	return most.Bits
}

// mostOf is the largest number that a column of the target takes; known is false if that
// cannot be told.
func mostOf(f *resolved, at columnName) (most rekey.Integer, known bool) {
	_, model := f.model(at.table)
	if c := model.column(at.column); c != nil {
		return c.most(f.target.catalog.Engine)
	}
	return most, false
}

// integerBits are the sizes of integers in MySQL and MariaDB.
var integerBits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}

// most is the largest number that a column takes.
func (c *Column) most(engine string) (most rekey.Integer, known bool) {
	declared := strings.ToLower(c.Type)
	name, rest, _ := strings.Cut(declared, "(")
	name, _, _ = strings.Cut(name, " ")
	var digits, scale int
	switch bits := integerBits[name]; {
	case engine == "sqlite" && c.Kind == KindInteger:
		return rekey.Integer{Bits: 1<<63 - 1}, true
	case bits > 0 && strings.Contains(declared, "unsigned"):
		return rekey.Integer{Bits: 1<<bits - 1}, true
	case bits > 0:
		return rekey.Integer{Bits: 1<<(bits-1) - 1}, true
	case c.Kind == KindDecimal:
		fmt.Sscanf(rest, "%d,%d", &digits, &scale)
	case name == "varchar" || name == "char":
		fmt.Sscanf(rest, "%d", &digits)
	}
	if digits -= scale; digits <= 0 {
		return most, false
	}
	if digits > 19 {
		return rekey.Integer{Bits: 1<<64 - 1}, true
	}
	n := uint64(1)
	for range digits {
		n *= 10
	}
	return rekey.Integer{Bits: n - 1}, true
}
