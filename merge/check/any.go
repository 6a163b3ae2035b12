package check

import (
	"context"
	"errors"
	"slices"

	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// anyReading is what was read of a reference of which each value names a row of one
// of several tables.
type anyReading struct {
	Strays    StrayReading
	Ambiguous AmbiguousReading
}

// AnyOf reads such a reference in every database that has it.
func (r OpenReader) AnyOf(ctx context.Context, ref *rules.Ref) (*anyReading, error) {
	var keys []Candidate
	for _, to := range append([]rules.ColumnName{{Table: ref.ToTable, Column: ref.ToColumns[0]}}, ref.Or...) {
		_, model := rules.KeyModel(r.Facts.Resolved, to.Table)
		if model == nil {
			continue
		}
		c := Candidate{Table: to.Table, Column: to.Column, Class: KeyClassOf(model.Column(to.Column))}
		if err := r.ReadKeys(ctx, c); err != nil {
			return nil, err
		}
		if _, err := r.readFully(ctx, c); err != nil {
			return nil, err
		}
		keys = append(keys, c)
	}
	var found anyReading
	var kept [3][]stream.Conflict
	for db := range r.Facts.Having(ref.Table) {
		p := &anyPass{r: r, db: db, ref: ref, keys: keys}
		for _, to := range append([]rules.ColumnName{{Table: ref.ToTable, Column: ref.ToColumns[0]}}, ref.Or...) {
			if reason := db.CannotRefer(ref.Table, catalog.Reference{Columns: ref.Columns, ToTable: to.Table, ToColumns: []string{to.Column}}); reason != "" {
				p.gap = reason
			}
		}
		gap, err := p.read(ctx)
		if err != nil {
			return nil, err
		}
		var gaps []verdict.Gap
		if gap != "" {
			gaps = []verdict.Gap{{World: db.Name, Reason: gap}}
		}
		found.Strays.Worlds = append(found.Strays.Worlds, StrayRows{
			DB: db, Dangling: p.found[anyDangling].Rows + p.found[anyRebound].Rows, Gaps: gaps,
			Rebound: stream.Repeats{Values: p.found[anyRebound].Rows, Rows: []int64{p.found[anyRebound].Rows}},
		})
		found.Ambiguous.Worlds = append(found.Ambiguous.Worlds, AmbiguousRows{DB: db, Rows: p.found[anyAmbiguous].Rows, Gaps: gaps})
		for i := range kept {
			kept[i] = append(kept[i], p.found[i].Kept...)
		}
	}
	var err error
	for i, samples := range []*[]verdict.Sample{&found.Strays.Dangling, &found.Strays.Rebound, &found.Ambiguous.Samples} {
		if *samples, err = r.Samples(ctx, kept[i], ref.Table, ref.Columns); err != nil {
			return nil, err
		}
	}
	return &found, nil
}

// What may become of a row.
const (
	anyDangling = iota
	anyRebound
	anyAmbiguous
)

// anyPass is the reading of one database.
type anyPass struct {
	r     OpenReader
	db    *rules.Database
	ref   *rules.Ref
	keys  []Candidate
	found [3]Faults
	gap   string
}

// read reads the rows. gap says why they could not be judged.
func (p *anyPass) read(ctx context.Context) (gap string, err error) {
	t := p.db.Tables[p.ref.Table]
	col := t.Column(p.ref.Columns[0])
	if col == nil {
		return "has no column " + p.ref.Columns[0], nil
	}
	carry := t.RowKey(p.ref.Columns)
	s := p.r.Stream(p.db, p.r.Code, len(carry), catalog.Scan{Table: p.ref.Table, Carry: slices.Clip(carry), Unsorted: true})
	at := s.Carry(col.Name)
	leaves := Leaves(p.ref, s)
	row := func(b *catalog.Batch, row int) {
		if v := b.Carry[at].At(row); v != nil {
			if kind, ok := p.judge(KeyClassOf(col), v); ok {
				p.found[kind].Add(s, row)
			}
		}
	}
	if p.ref.Cells != nil {
		row = p.inCells(s)
	}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for i := range b.Len {
			if !leaves(i) {
				row(b, i)
			}
		}
	})
	err = s.Drain(ctx)
	if unsupported, ok := errors.AsType[*catalog.UnsupportedError](err); ok {
		return unsupported.Error(), nil
	}
	return p.gap, err
}

// inCells returns what judges the keys in the cells of a row, which counts once.
func (p *anyPass) inCells(s *stream.Stream) func(b *catalog.Batch, row int) {
	numbers := InCellsOf(p.ref, s)
	return func(_ *catalog.Batch, row int) {
		var wrong [3]bool
		for _, n := range numbers(row) {
			if kind, is := p.judge(IntegerClass, []byte(n.String())); is {
				wrong[kind] = true
			}
		}
		wrong[anyDangling] = wrong[anyDangling] && !wrong[anyRebound] // which says more
		for kind, is := range wrong {
			if is {
				p.found[kind].Add(s, row)
			}
		}
	}
}

// judge says what is wrong with a value, if anything is.
func (p *anyPass) judge(class keyClass, v []byte) (kind int, wrong bool) {
	if n, ok := keys.ParseInteger(v); ok && class == IntegerClass {
		if _, matched := p.r.Facts.Rekeyed.Matched(p.db, p.ref.ToTable, p.ref.ToColumns[0]).Image(n); matched {
			return anyAmbiguous, false // it names its own row, and that of the other world is the same thing
		}
	}
	own, other := false, false
	moves := p.r.Facts.Rekeyed.Offset(p.db, p.ref.Table, p.ref.Columns[0])
	if p.ref.Cells != nil { // there may be keys of other spaces in the same cells
		moves = p.r.Facts.Rekeyed.Offset(p.db, p.ref.ToTable, p.ref.ToColumns[0])
	}
	for _, c := range p.keys {
		for _, db := range p.r.Facts.DBs {
			set := p.r.UndeclaredKeys().Sets[c][db]
			if set == nil {
				continue
			}
			offset := uint64(0)
			if db != p.db {
				offset = p.r.Facts.Rekeyed.Offset(db, c.Table, c.Column)
			} else if moves > 0 {
				offset = moves // it finds its row again
			}
			has, sure := set.find(class, v, moves, offset)
			switch {
			case set.Gap != "":
				p.gap = set.Gap
			case c.Class != class || class == textClass:
				p.gap = "a column that refers to several tables is compared only if it and their keys are all integers or all bytes"
			case !sure:
				p.gap = "the keys of " + c.String() + " are too many and too far apart to look up"
			case has && db == p.db:
				own = true
			case has:
				other = true
			}
		}
	}
	switch {
	case !own && other:
		return anyRebound, true
	case !own:
		return anyDangling, true
	default:
		return anyAmbiguous, other
	}
}

// find looks a value up that a database sent, and that moves by one number while the keys
// move by another.
func (s *KeySet) find(class keyClass, v []byte, moves, offset uint64) (has, sure bool) {
	switch {
	case s.Gap != "":
		return false, false
	case class == IntegerClass:
		n, ok := keys.ParseInteger(v)
		if ok && moves != offset {
			if n, ok = n.Add(moves); ok {
				n, ok = n.Sub(offset)
			}
		}
		if !ok || s.Integers.Sparse {
			return false, ok && !s.Integers.Within(n)
		}
		return s.Integers.Has(n), true
	default:
		return s.hashes.Has(v)
	}
}
