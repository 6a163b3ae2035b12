package merge

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
)

// noneReader reads the keys that none of a reference covers, and the rows that refer to them.
type noneReader struct {
	*reader
	code string // of the rule for which it reads
	ref  *reference
	none rekey.Values // as it is declared, without the keys that are kept

	numbers rekey.Set       // the keys that it covers
	words   map[string]bool // those that are no numbers, folded

	rows     faults   // that refer to one of them
	named    [][]byte // what those of rows that are kept refer to
	examples []string
}

// readKeys reads the keys of a database in one of the columns that the reference leads to, as
// far as none covers them. Keys that are the same in every world are no matter.
func (r *noneReader) readKeys(ctx context.Context, db *database, to columnName, n *int64) error {
	t := db.keyTable(to.table)
	if t == nil || t.column(to.column) == nil || r.facts.same[to.table] {
		return nil
	}
	kept, err := parseKeep(r.facts.keeps[to])
	if err != nil {
		return err
	}
	scan := Scan{Table: to.table, Unsorted: true}
	if _, able := db.source.(Withholder); able {
		scan.Only = &coveredRows{to.table, to.column, t.column(to.column).Kind, r.none}
	}
	s := r.stream(db, r.code, 0, scan)
	at := s.carry(to.column)
	s.visit = append(s.visit, func(b *Batch) {
		for row := range b.Len {
			v := b.Carry[at].At(row)
			number, ok := rekey.ParseInteger(v)
			switch {
			case v == nil || !r.covers(v) || ok && kept.HasInteger(number):
				continue
			case ok:
				r.numbers.Add(number)
			default:
				r.words[string(folded(v))] = true
			}
			*n++
		}
	})
	if err := s.drain(ctx); err != nil {
		return readable(err)
	}
	r.newKeys(db, to, n)
	return nil
}

// newKeys adds the keys that none does not cover, but will as they are after the merge.
func (r *noneReader) newKeys(db *database, to columnName, n *int64) {
	by := r.facts.rekeyed.offset(db, to.table, to.column)
	if by == 0 {
		return
	}
	set := r.facts.rekeyed.read.keys[to][db]
	if set == nil {
		return
	}
	if moved, _ := set.Range().Shift(by); !r.none.Meets(moved) && moved.Any {
		return
	}
	for key := range set.All() {
		if now, ok := key.Add(by); ok && r.none.HasInteger(now) {
			r.numbers.Add(now)
			*n++
		}
	}
}

// readable is an error of a reading, unless it is that a column cannot be read: other rules
// say so.
func readable(err error) error {
	if _, unsupported := errors.AsType[*UnsupportedError](err); unsupported {
		return nil
	}
	return err
}

// covers reports whether none has a key, however its letters are written.
func (r *noneReader) covers(key []byte) bool {
	alike := func(v string) bool { return bytes.Equal(folded([]byte(v)), folded(key)) }
	return r.none.Has(key) || slices.ContainsFunc(r.ref.declared.None, alike)
}

// readRows reads the rows of a database that refer to such a key.
func (r *noneReader) readRows(ctx context.Context, db *database, t *Table) error {
	if t.column(r.ref.Columns[0]) == nil {
		return nil
	}
	about := *r.ref
	about.none = rekey.Values{}
	carry := t.rowKey(about.Columns)
	s := r.stream(db, r.code, len(carry), Scan{Table: t.Name, Carry: slices.Clip(carry), Unsorted: true})
	leaves, at := about.leaves(s), s.carry(about.Columns[0])
	values := func(b *Batch, row int) [][]byte { return [][]byte{b.Carry[at].At(row)} }
	if about.cells != nil {
		inCells := about.inCellsOf(s)
		values = func(_ *Batch, row int) (all [][]byte) {
			for _, n := range inCells(row) {
				all = append(all, []byte(n.String()))
			}
			return all
		}
	}
	s.visit = append(s.visit, func(b *Batch) {
		for row := range b.Len {
			if leaves(row) {
				continue
			}
			if i := slices.IndexFunc(values(b, row), r.isCovered); i >= 0 {
				r.note(s, row, values(b, row)[i])
			}
		}
	})
	return readable(s.drain(ctx))
}

// isCovered reports whether a value is a key that none covers.
func (r *noneReader) isCovered(v []byte) bool {
	if v == nil || !r.none.Has(v) {
		return false
	}
	n, ok := rekey.ParseInteger(v)
	return ok && r.numbers.Has(n) || !ok && r.words[string(folded(v))]
}

func (r *noneReader) note(s *stream, row int, v []byte) {
	if r.rows.add(s, row); len(r.named) < len(r.rows.kept) {
		r.named = append(r.named, bytes.Clone(v))
	}
	text := cut(v)
	if r.ref.cells == nil {
		text = s.db.tables[r.ref.table].column(r.ref.Columns[0]).show(v)
	}
	if text = printable.TOML(text); len(r.examples) < 10 && !slices.Contains(r.examples, text) {
		r.examples = append(r.examples, text)
	}
}

// show shows rows that refer to such a key, each beside a row that has it: that of its own
// database if there is one.
func (r *noneReader) show(ctx context.Context) (all []Sample, err error) {
	for i, c := range r.rows.kept {
		own := c.members[0].db
		for _, db := range append([]*database{own}, r.facts.dbs...) {
			for _, to := range r.ref.targets() {
				if len(c.members) > 1 || db.tables[to.table] == nil {
					continue
				}
				named := member{db, to.table, []string{to.column}, [][]byte{r.named[i]}, 1}
				if fields, err := named.find(ctx); err != nil {
					return nil, err
				} else if fields != nil {
					c.members, c.rows = append(c.members, named), 2
				}
			}
		}
		s, err := sample(ctx, c, r.ref.table, r.ref.Columns)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// targets are the keys of which each value of a reference of one column names one.
func (r *reference) targets() []columnName {
	return append([]columnName{{r.ToTable, r.ToColumns[0]}}, r.or...)
}

// coveredRows are the rows with a key that some values cover, and perhaps more.
type coveredRows struct {
	table, column string
	kind          Kind
	values        rekey.Values
}

// Of implements [Withheld].
func (c *coveredRows) Of() string { return c.table }

// SQL implements [Withheld].
func (c *coveredRows) SQL(quote func(string) string) string {
	kinds := map[Kind]rekey.ColumnKind{KindInteger: rekey.Integers, KindText: rekey.Texts, KindBytes: rekey.Bytes}
	return c.values.AmongSQL(quote(c.column), kinds[c.kind])
}
