package merge

import (
	"context"
	"errors"
	"slices"

	"mergesafe/merge/rekey"
)

// anyReading is what was read of a reference of which each value names a row of one
// of several tables.
type anyReading struct {
	strays    strayReading
	ambiguous ambiguousReading
}

// anyOf reads such a reference in every database that has it.
func (r openReader) anyOf(ctx context.Context, ref *reference) (*anyReading, error) {
	var keys []candidate
	for _, to := range append([]columnName{{ref.ToTable, ref.ToColumns[0]}}, ref.or...) {
		_, model := keyModel(r.facts.resolved, to.table)
		if model == nil {
			continue
		}
		c := candidate{table: to.table, column: to.column, class: keyClassOf(model.column(to.column))}
		if err := r.readKeys(ctx, c); err != nil {
			return nil, err
		}
		if _, err := r.readFully(ctx, c); err != nil {
			return nil, err
		}
		keys = append(keys, c)
	}
	var found anyReading
	var kept [3][]conflict
	for db := range r.facts.having(ref.table) {
		p := &anyPass{r: r, db: db, ref: ref, keys: keys}
		for _, to := range append([]columnName{{ref.ToTable, ref.ToColumns[0]}}, ref.or...) {
			if reason := db.cannotRefer(ref.table, Reference{Columns: ref.Columns, ToTable: to.table, ToColumns: []string{to.column}}); reason != "" {
				p.gap = reason
			}
		}
		gap, err := p.read(ctx)
		if err != nil {
			return nil, err
		}
		var gaps []Gap
		if gap != "" {
			gaps = []Gap{{db.name, gap}}
		}
		found.strays.sources = append(found.strays.sources, strayRows{
			db: db, dangling: p.found[anyDangling].rows + p.found[anyRebound].rows, gaps: gaps,
			rebound: repeats{values: p.found[anyRebound].rows, rows: []int64{p.found[anyRebound].rows}},
		})
		found.ambiguous.sources = append(found.ambiguous.sources, ambiguousRows{db, p.found[anyAmbiguous].rows, gaps})
		for i := range kept {
			kept[i] = append(kept[i], p.found[i].kept...)
		}
	}
	var err error
	for i, samples := range []*[]Sample{&found.strays.dangling, &found.strays.rebound, &found.ambiguous.samples} {
		if *samples, err = r.samples(ctx, kept[i], ref.table, ref.Columns); err != nil {
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
	r     openReader
	db    *database
	ref   *reference
	keys  []candidate
	found [3]faults
	gap   string
}

// read reads the rows. gap says why they could not be judged.
func (p *anyPass) read(ctx context.Context) (gap string, err error) {
	t := p.db.tables[p.ref.table]
	col := t.column(p.ref.Columns[0])
	if col == nil {
		return "has no column " + p.ref.Columns[0], nil
	}
	for i := range p.found {
		p.found[i].samples = p.r.facts.opts.Samples
	}
	carry := t.rowKey(p.ref.Columns)
	s := p.r.stream(p.db, p.r.code, len(carry), Scan{Table: p.ref.table, Carry: slices.Clip(carry), Unsorted: true})
	at := s.carry(col.Name)
	leaves := p.ref.leaves(s)
	row := func(b *Batch, row int) {
		if v := b.Carry[at].At(row); v != nil {
			if kind, ok := p.judge(keyClassOf(col), v); ok {
				p.found[kind].add(s, row)
			}
		}
	}
	if p.ref.cells != nil {
		row = p.inCells(s)
	}
	s.visit = append(s.visit, func(b *Batch) {
		for i := range b.Len {
			if !leaves(i) {
				row(b, i)
			}
		}
	})
	err = s.drain(ctx)
	if unsupported, ok := errors.AsType[*UnsupportedError](err); ok {
		return unsupported.Error(), nil
	}
	return p.gap, err
}

// inCells returns what judges the keys in the cells of a row, which counts once.
func (p *anyPass) inCells(s *stream) func(b *Batch, row int) {
	numbers := p.ref.inCellsOf(s)
	return func(_ *Batch, row int) {
		var wrong [3]bool
		for _, n := range numbers(row) {
			if kind, is := p.judge(integerClass, []byte(n.String())); is {
				wrong[kind] = true
			}
		}
		wrong[anyDangling] = wrong[anyDangling] && !wrong[anyRebound] // which says more
		for kind, is := range wrong {
			if is {
				p.found[kind].add(s, row)
			}
		}
	}
}

// judge says what is wrong with a value, if anything is.
func (p *anyPass) judge(class keyClass, v []byte) (kind int, wrong bool) {
	if n, ok := rekey.ParseInteger(v); ok && class == integerClass {
		if _, matched := p.r.facts.rekeyed.matched(p.db, p.ref.ToTable, p.ref.ToColumns[0]).Image(n); matched {
			return anyAmbiguous, false // it names its own row, and that of the other world is the same thing
		}
	}
	own, other := false, false
	moves := p.r.facts.rekeyed.offset(p.db, p.ref.table, p.ref.Columns[0])
	if p.ref.cells != nil { // there may be keys of other spaces in the same cells
		moves = p.r.facts.rekeyed.offset(p.db, p.ref.ToTable, p.ref.ToColumns[0])
	}
	for _, c := range p.keys {
		for _, db := range p.r.facts.dbs {
			set := p.r.undeclaredKeys().sets[c][db]
			if set == nil {
				continue
			}
			offset := uint64(0)
			if db != p.db {
				offset = p.r.facts.rekeyed.offset(db, c.table, c.column)
			} else if moves > 0 {
				offset = moves // it finds its row again
			}
			has, sure := set.find(class, v, moves, offset)
			switch {
			case set.gap != "":
				p.gap = set.gap
			case c.class != class || class == textClass:
				p.gap = "a column that names keys of several tables is compared if it and they are integers, or bytes"
			case !sure:
				p.gap = "the keys of " + c.String() + " are too many, and too far apart, to look them up"
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
func (s *keySet) find(class keyClass, v []byte, moves, offset uint64) (has, sure bool) {
	switch {
	case s.gap != "":
		return false, false
	case class == integerClass:
		n, ok := rekey.ParseInteger(v)
		if ok && moves != offset {
			if n, ok = n.Add(moves); ok {
				n, ok = n.Sub(offset)
			}
		}
		if !ok || s.integers.Sparse {
			return false, ok && !s.integers.Within(n)
		}
		return s.integers.Has(n), true
	default:
		return s.hashes.has(v)
	}
}
