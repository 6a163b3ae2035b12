package check

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// anyReading is what was read of a reference of which each value names a row of one
// of several tables.
type anyReading struct {
	strays    strayReading
	Ambiguous ambiguousReading

	ref  *rules.Ref
	keys []Candidate // that it may name
	kept [3][]stream.Conflict
}

// AnyOf reads such references of one table in every database that has it, and the columns with keys in their cells, all at
// once.
func (r OpenReader) AnyOf(ctx context.Context, table string, refs []*rules.Ref, cells []*cellColumn) (all []*anyReading, err error) {
	for _, ref := range refs {
		found := &anyReading{ref: ref}
		for _, to := range ref.Targets(0) {
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
			found.keys = append(found.keys, c)
		}
		all = append(all, found)
	}
	for db := range r.Facts.Having(table) {
		var passes []tablePass
		for _, of := range all {
			p := &anyPass{anyReading: of, r: r, db: db}
			if strays, known := r.Facts.Rekeyed.strays(db, table, of.ref); known {
				p.found[anyDangling] = strays
				p.conclude()
			} else {
				passes = append(passes, p)
			}
		}
		for _, c := range cells {
			p := &cellPass{cellColumn: c, r: r.Reader, db: db}
			if read := r.Facts.Rekeyed.cellsOf(db, c.at); read != nil {
				p.cellsRead = *read
				p.conclude()
			} else {
				passes = append(passes, p)
			}
		}
		if err := r.readAny(ctx, db, table, passes); err != nil {
			return nil, err
		}
		for _, p := range passes {
			p.conclude()
		}
	}
	for _, found := range all {
		for i, samples := range []*[]verdict.Sample{&found.strays.Dangling, &found.strays.Rebound, &found.Ambiguous.Samples} {
			if *samples, err = r.Samples(ctx, found.kept[i], table, found.ref.Columns); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// tablePass is what is looked for in one column, while a table of one database is read.
type tablePass interface {
	column() string
	visit(s *stream.Stream)   // has the rows judged, from the beginning
	cannotRead(reason string) // says why they were not
	conclude()                // keeps what was found
}

// readAny reads a table of one database for passes.
func (r OpenReader) readAny(ctx context.Context, db *rules.Database, table string, passes []tablePass) error {
	t := db.Tables[table]
	there := slices.DeleteFunc(slices.Clone(passes), func(p tablePass) bool { return t.Column(p.column()) == nil })
	if len(there) == 0 {
		return nil
	}
	carry := t.RowKey(slice.Map(there, tablePass.column))
	s := r.Stream(db, r.Code, len(carry), catalog.Scan{Table: table, Carry: slices.Clip(carry), Unsorted: true})
	for _, p := range there {
		p.visit(s)
	}
	err := s.Drain(ctx)
	unsupported, is := errors.AsType[*catalog.UnsupportedError](err)
	switch {
	case !is:
		return err
	case len(there) == 1:
		there[0].cannotRead(unsupported.Error())
		return nil
	}
	for _, p := range there { // it may be about one of them
		if err := r.readAny(ctx, db, table, []tablePass{p}); err != nil {
			return err
		}
	}
	return nil
}

// What may become of a row.
const (
	anyDangling = iota
	anyRebound
	anyAmbiguous
)

// anyPass is the reading of one database.
type anyPass struct {
	*anyReading
	r      OpenReader
	db     *rules.Database
	found  [3]Faults
	gap    string // why keys could not be compared
	unread string // why rows could not be read
}

func (p *anyPass) column() string { return p.ref.Columns[0] }

func (p *anyPass) cannotRead(reason string) { p.unread = reason }

func (p *anyPass) visit(s *stream.Stream) {
	p.found = [3]Faults{}
	col := p.db.Tables[p.ref.Table].Column(p.ref.Columns[0])
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
}

func (p *anyPass) conclude() {
	if p.db.Tables[p.ref.Table].Column(p.ref.Columns[0]) == nil {
		p.unread = "has no column " + p.ref.Columns[0]
	}
	for _, to := range p.ref.Targets(0) {
		if reason := p.db.CannotRefer(p.ref.Table, catalog.Reference{Columns: p.ref.Columns, ToTable: to.Table, ToColumns: []string{to.Column}}); reason != "" {
			p.gap = cmp.Or(p.gap, reason)
		}
	}
	var gaps []verdict.Gap
	if gap := cmp.Or(p.unread, p.gap); gap != "" {
		gaps = []verdict.Gap{{World: p.db.Name, Reason: gap}}
	}
	p.strays.Worlds = append(p.strays.Worlds, strayRows{
		DB: p.db, Dangling: p.found[anyDangling].Rows + p.found[anyRebound].Rows, Gaps: gaps,
		Rebound: stream.Repeats{Values: p.found[anyRebound].Rows, Rows: []int64{p.found[anyRebound].Rows}},
	})
	p.Ambiguous.Worlds = append(p.Ambiguous.Worlds, ambiguousRows{DB: p.db, Rows: p.found[anyAmbiguous].Rows, Gaps: gaps})
	for i := range p.kept {
		p.kept[i] = append(p.kept[i], p.found[i].Kept...)
	}
}

// inCells returns what judges the keys in the cells of a row, which counts once.
func (p *anyPass) inCells(s *stream.Stream) func(b *catalog.Batch, row int) {
	numbers := inCellsOf(p.ref, s)
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
