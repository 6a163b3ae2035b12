package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// chooser chooses offsets by what was read.
type chooser struct {
	*Facts
	read *measured
}

// offsets chooses what is added to the keys of each world. All spaces of a world
// get the same offset, so that a column that names rows of several kinds, or that somebody
// took for another, cannot lead to a stranger; a space has its own only if there is no
// room for that, or the operator chose it. It returns nil, and says why, if there is none.
func (f chooser) offsets() (*Rekeyed, Outcome) {
	read := f.read
	k := &Rekeyed{Moving: f.Moving, Of: make(map[*rules.KeySpace]map[*rules.Database]uint64), Bent: make(map[*rules.MovedColumn]bool), Read: read}
	step := uint64(0) // that the operator wants
	var together, alone []*rules.KeySpace
	for _, s := range f.Moving.Spaces {
		step = max(step, s.Step)
		if len(s.Offsets) > 0 {
			alone = append(alone, s)
		} else {
			together = append(together, s)
		}
	}
	var o Outcome
	for len(together) > 0 {
		offsets, used, narrow := f.choose(step, together...)
		if narrow == nil {
			takeOffsets(k, f, offsets, used, together...)
			break
		}
		// The spaces with the column at fault go by themselves.
		n := len(together)
		together = slices.DeleteFunc(together, func(s *rules.KeySpace) bool {
			out := n == 1 || slices.ContainsFunc(read.in[f.DBs[narrow.World]].of[s].Limits, func(l keys.Limit) bool { return l.Column == narrow.Limit.Column })
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
		offsets, used, narrow := f.choose(step, s)
		if narrow != nil {
			o.Add(Found(f.noRoom(s, narrow)))
			continue
		}
		takeOffsets(k, f, offsets, used, s)
	}
	if len(o.Findings) > 0 {
		return nil, o
	}
	if o = f.match(k); len(o.Findings) > 0 {
		return nil, o
	}
	for _, at := range f.Moving.InOrder() {
		c := f.Moving.Columns[at]
		for _, db := range f.DBs {
			for i := range read.in[db].rows[c] {
				rows, offset := &read.in[db].rows[c][i], k.Of[c.Cases[i].Space][db]
				k.Bent[c] = k.Bent[c] || !monotone(rows, offset)
				if moved, _ := rows.Moved.Shift(offset); offset > 0 && c.Cases[i].Ref.None.Meets(moved) {
					o.Add(Found(verdict.Result{Code: verdict.CodeKeySpace, Table: at.Table, Subject: at.Column, Columns: []string{at.Column}, Count: 1,
						Message: fmt.Sprintf("values of %s would become %s to %s, and some of these are declared to refer to no row", db.Name, moved.Low, moved.High)}))
					return nil, o
				}
			}
		}
		for i, other := range c.Cases {
			for _, first := range c.Cases[:i] {
				if other.Ref == nil || first.Ref == nil || !other.Ref.Same(first.Ref) || !slices.ContainsFunc(f.DBs, func(db *rules.Database) bool { return k.Of[first.Space][db] != k.Of[other.Space][db] }) {
					continue
				}
				o.Add(Found(verdict.Result{Code: verdict.CodeKeySpace, Table: at.Table, Subject: at.Column, Columns: []string{at.Column}, Count: 1,
					Message: fmt.Sprintf("it refers to keys of %q and of %q, which get different offsets: declare them as one space", first.Space.Name, other.Space.Name)}))
				return nil, o
			}
		}
	}
	k.Report = f.report(k, alone)
	return k, o
}

// choose chooses one offset of each world for some spaces.
func (f chooser) choose(step uint64, spaces ...*rules.KeySpace) ([]uint64, uint64, *keys.Narrow) {
	given := make(map[int]uint64)
	wants := make([]keys.Want, len(f.DBs))
	for _, s := range spaces {
		for i, db := range f.DBs {
			of := f.read.in[db].of[s]
			wants[i].Values.Join(of.Values)
			wants[i].Limits = append(wants[i].Limits, of.Limits...)
			if offset, chosen := f.Opts.Rekey.Offsets[db.Name]; chosen {
				given[i] = offset
			}
			if offset, chosen := s.Offsets[db.Name]; chosen {
				given[i] = offset
			}
		}
	}
	return keys.Choose(wants, step, given)
}

// takeOffsets notes the offsets of some spaces, and the step that they are multiples of. The first
// that are taken are those in common, if there are any.
func takeOffsets(k *Rekeyed, f chooser, offsets []uint64, step uint64, spaces ...*rules.KeySpace) {
	k.Step = cmp.Or(k.Step, step)
	for _, s := range spaces {
		k.Of[s] = make(map[*rules.Database]uint64)
		for i, db := range f.DBs {
			k.Of[s][db] = offsets[i]
		}
	}
}

// noRoom says why the keys of a space cannot get new values.
func (f chooser) noRoom(s *rules.KeySpace, narrow *keys.Narrow) verdict.Result {
	source := f.DBs[narrow.World].Name
	r := verdict.Result{Code: verdict.CodeKeySpace, Table: spaceTable(f.Facts, s.Name), Subject: s.Name, Count: 1}
	switch {
	case narrow.Limit.Column == "" && len(s.Offsets)+len(f.Opts.Rekey.Offsets) > 0:
		r.Message = fmt.Sprintf("the offset %s chosen for %s puts its numbers among those of another database", narrow.Need, source)
		r.Next = []string{"choose a larger offset for " + source + ", or none"}
	case narrow.Limit.Column == "":
		r.Message = fmt.Sprintf("there is no room: the numbers of %s would need an offset of %s, but no integer is that large", source, narrow.Need)
	default:
		r.Message = fmt.Sprintf("there is no room: the numbers of %s need an offset of at least %s, but %s already holds %s and ends at %s",
			source, narrow.Need, narrow.Limit.Column, narrow.Limit.High, narrow.Limit.Most)
		r.Next = []string{fmt.Sprintf("give %s a larger type in all databases; or, if its largest values refer to no row, declare them (none)", narrow.Limit.Column)}
		if at, db, high := f.highest(s, narrow.World); db != nil && at.String() != narrow.Limit.Column {
			r.Message += fmt.Sprintf("; the largest of the numbers is %s, in %s of %s", high, at, db.Name)
			r.Next = slices.Insert(r.Next, 0, fmt.Sprintf("look at the largest values of %s: if they refer to no row, or are something else, declare them: none = [...]", at))
		}
		if at, db, next := f.farCounter(s, narrow.World); db != nil {
			r.Message += fmt.Sprintf("; the counter of %s is at %d in %s, far above the keys", at, next, db.Name)
			r.Next = slices.Insert(r.Next, 0, fmt.Sprintf("if %s never had the numbers in between, "+
				"set the counter of %s back to just above the keys, then check again", db.Name, at.Table))
		}
	}
	return r
}

// highest returns the column with the largest number of a space, of the worlds up to one.
func (f chooser) highest(s *rules.KeySpace, last int) (at rules.ColumnName, db *rules.Database, high keys.Integer) {
	for _, there := range f.DBs[:last+1] {
		for _, c := range f.Moving.InOrder() {
			var values keys.Range
			if set := f.read.in[there].keys[c]; set != nil && f.Moving.Columns[c].Cases[0].Space == s {
				values = set.Range()
			}
			for i, rows := range f.read.in[there].rows[f.Moving.Columns[c]] {
				if f.Moving.Columns[c].Cases[i].Space == s {
					values.Join(rows.Moved)
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
// of the worlds up to one; db is nil if none does.
func (f chooser) farCounter(s *rules.KeySpace, last int) (at rules.ColumnName, db *rules.Database, next uint64) {
	_, _, high := f.highest(s, last)
	for _, there := range f.DBs[:last+1] {
		for _, key := range s.Columns {
			t := there.Tables[key.Table]
			if t == nil || t.AutoIncrement == nil || t.AutoIncrement.Column != key.Column {
				continue
			}
			if n := t.AutoIncrement.Next; n > max(next, 1) && high.Less(keys.Integer{Bits: n - 1}) {
				at, db, next = key, there, n
			}
		}
	}
	return at, db, next
}

// rekeying is what was chosen, for the report.
func (f chooser) report(k *Rekeyed, alone []*rules.KeySpace) *verdict.Rekeying {
	read := f.read
	all := &verdict.Rekeying{Step: k.Step, Spaces: []verdict.RekeyedSpace{}, Columns: []verdict.RekeyedColumn{}}
	of := func(s *rules.KeySpace, db *rules.Database) verdict.SpaceOf {
		v, offset := read.in[db].of[s], k.Of[s][db]
		space := verdict.SpaceOf{World: db.Name, Offset: offset, Rows: v.Rows, Keys: v.Keys, Values: v.Values, Matched: k.Pairs[s][db]}
		space.New, _ = v.Values.Shift(offset)
		for _, l := range v.Limits {
			if l.High, _ = l.High.Add(offset); space.Narrow.Column == "" || l.Room().Cmp(space.Narrow.Room()) < 0 {
				space.Narrow = l
			}
		}
		return space
	}
	for _, s := range f.Moving.Spaces {
		space := verdict.RekeyedSpace{
			Name: s.Name, Step: s.Step, Max: s.Max, Most: f.mostKey(s), Keep: s.Keep,
			Own: slices.Contains(alone, s), By: s.By,
			Keys: slice.Map(s.Columns, rules.ColumnName.String),
		}
		if s.Map != nil {
			space.From = &verdict.MapFile{File: s.Map.File, Digest: s.Map.Digest, Space: s.Map.Space}
		}
		var moved []keys.Range
		for _, db := range f.DBs {
			space.Worlds = append(space.Worlds, of(s, db))
		}
		for _, db := range rules.OthersOf(f.Resolved) {
			moved = append(moved, read.in[db].of[s].Values)
		}
		space.Step = cmp.Or(space.Step, keys.DefaultStep(moved...))
		all.Spaces = append(all.Spaces, space)
	}
	slices.SortFunc(all.Spaces, func(a, b verdict.RekeyedSpace) int { return strings.Compare(a.Name, b.Name) })
	for _, at := range f.Moving.InOrder() {
		c := f.Moving.Columns[at]
		column := verdict.RekeyedColumn{Table: at.Table, Column: at.Column, Key: c.Key}
		for i, a := range c.Cases {
			one := verdict.RekeyedCase{Space: a.Space.Name, Counts: []verdict.CaseCounts{}}
			if a.Ref != nil {
				one.None, one.When = a.Ref.Declared.None, a.Ref.When
				one.Format = a.Ref.Declared.Format
			}
			if a.Space.Keep != "" {
				one.None = append(slices.Clone(one.None), a.Space.Keep)
			}
			for _, db := range f.DBs {
				counts := verdict.CaseCounts{}
				if rows := read.in[db].rows[c]; len(rows) > i {
					counts = rows[i].CaseCounts
				}
				one.Counts = append(one.Counts, counts)
			}
			column.Cases = append(column.Cases, one)
		}
		all.Columns = append(all.Columns, column)
	}
	for _, c := range f.Moving.Counters {
		most := verdict.Least(f.counterMost(c), c.Space.Max)
		all.Counters = append(all.Counters, verdict.RekeyedCounter{
			Table: c.Table, Column: c.Column, When: c.When, Space: c.Space.Name,
			Next: all.Next(all.Space(c.Space.Name), most), Most: most,
		})
	}
	slices.SortFunc(all.Columns, func(a, b verdict.RekeyedColumn) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Column, b.Column))
	})
	return all
}

// mostKey is the largest key that the columns of a space take, those that refer to it
// included; 0 if that is not known.
func (f chooser) mostKey(s *rules.KeySpace) (most uint64) {
	most = s.Max
	for _, at := range s.Columns {
		if end, known := mostOf(f.Facts.Resolved, at); known {
			most = verdict.Least(most, end.Bits)
		}
	}
	for _, db := range f.DBs {
		for _, l := range f.read.in[db].of[s].Limits {
			most = verdict.Least(most, l.Most.Bits)
		}
	}
	return most
}

// counterMost is the largest number that a counter takes; 0 if that is not known.
func (f chooser) counterMost(c rules.KeptCounter) uint64 {
	if s := f.Model().Catalog.Sequence(c.Table); c.Sequence() && s != nil && !s.Max.Negative {
		return s.Max.Bits
	}
	t := f.Model().Apart[c.Table]
	if t == nil || t.Column(c.Column) == nil {
		return 0
	}
	most, known := t.Column(c.Column).Most(f.Model().Catalog.Engine)
	if !known {
		return 0
	}
	return most.Bits
}

// mostOf is the largest number that a column of the first world takes; known is false if that
// cannot be told.
func mostOf(f *rules.Resolved, at rules.ColumnName) (most keys.Integer, known bool) {
	if _, model := f.ModelOf(at.Table); model != nil && model.Column(at.Column) != nil { // its rows may stay behind
		return model.Column(at.Column).Most(f.Model().Catalog.Engine)
	}
	return most, false
}
