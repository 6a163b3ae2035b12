package check

import (
	"bytes"
	"context"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// noneReader reads the keys that none of a reference covers, and the rows that refer to them.
type noneReader struct {
	*Reader
	ref  *rules.Ref
	none keys.Values // as it is declared, without the keys that are kept

	numbers keys.Set        // the keys that it covers
	words   map[string]bool // those that are no numbers, folded

	rows     Faults   // that refer to one of them
	named    [][]byte // what those of rows that are kept refer to
	examples []string
}

// readKeys reads the keys of a database in one of the columns that the reference leads to, as
// far as none covers them. Keys that are the same in every world are no matter.
func (r *noneReader) readKeys(ctx context.Context, db *rules.Database, to rules.ColumnName, n *int64) error {
	t := db.KeyTable(to.Table)
	if t == nil || t.Column(to.Column) == nil || r.Facts.Same[to.Table] {
		return nil
	}
	kept, err := rules.ParseKeep(r.Facts.Keeps[to])
	if err != nil {
		return err
	}
	scan := catalog.Scan{Table: to.Table, Unsorted: true}
	if _, able := db.Opened.(rules.Withholder); able {
		scan.Only = &coveredRows{to.Table, to.Column, t.Column(to.Column).Kind, r.none}
	}
	s := r.Stream(db, verdict.CodeReferenceNone, 0, scan)
	at := s.Carry(to.Column)
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			v := b.Carry[at].At(row)
			number, ok := keys.ParseInteger(v)
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
	if unread, err := unreadable(s.Drain(ctx)); unread != "" || err != nil {
		return err // of what cannot be read other rules say so
	}
	r.newKeys(db, to, n)
	return nil
}

// newKeys adds the keys that none does not cover, but will as they are after the merge.
func (r *noneReader) newKeys(db *rules.Database, to rules.ColumnName, n *int64) {
	by := r.Facts.Rekeyed.Offset(db, to.Table, to.Column)
	if by == 0 {
		return
	}
	set := r.Facts.Rekeyed.Read.in[db].keys[to]
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

// covers reports whether none has a key, however its letters are written.
func (r *noneReader) covers(key []byte) bool {
	alike := func(v string) bool { return bytes.Equal(folded([]byte(v)), folded(key)) }
	return r.none.Has(key) || slices.ContainsFunc(r.ref.Declared.None, alike)
}

// readRows reads the rows of a database that refer to such a key.
func (r *noneReader) readRows(ctx context.Context, db *rules.Database, t *catalog.Table) error {
	if t.Column(r.ref.Columns[0]) == nil {
		return nil
	}
	about := *r.ref
	about.None = keys.Values{}
	carry := t.RowKey(about.Columns)
	s := r.Stream(db, verdict.CodeReferenceNone, len(carry), catalog.Scan{Table: t.Name, Carry: slices.Clip(carry), Unsorted: true})
	leaves, at := Leaves(&about, s), s.Carry(about.Columns[0])
	values := func(b *catalog.Batch, row int) [][]byte { return [][]byte{b.Carry[at].At(row)} }
	if about.Cells != nil {
		inCells := inCellsOf(&about, s)
		values = func(_ *catalog.Batch, row int) (all [][]byte) {
			return slice.Map(inCells(row), func(n keys.Integer) []byte { return []byte(n.String()) })
		}
	}
	s.Visit = append(s.Visit, func(b *catalog.Batch) {
		for row := range b.Len {
			if leaves(row) {
				continue
			}
			if i := slices.IndexFunc(values(b, row), r.isCovered); i >= 0 {
				r.note(s, row, values(b, row)[i])
			}
		}
	})
	_, err := unreadable(s.Drain(ctx))
	return err
}

// isCovered reports whether a value is a key that none covers.
func (r *noneReader) isCovered(v []byte) bool {
	if v == nil || !r.none.Has(v) {
		return false
	}
	n, ok := keys.ParseInteger(v)
	return ok && r.numbers.Has(n) || !ok && r.words[string(folded(v))]
}

func (r *noneReader) note(s *stream.Stream, row int, v []byte) {
	if r.rows.Add(s, row); len(r.named) < len(r.rows.Kept) {
		r.named = append(r.named, bytes.Clone(v))
	}
	text := stream.Cut(v)
	if r.ref.Cells == nil {
		text = Show(s.DB.Tables[r.ref.Table].Column(r.ref.Columns[0]), v)
	}
	if text = printable.TOML(text); len(r.examples) < 10 && !slices.Contains(r.examples, text) {
		r.examples = append(r.examples, text)
	}
}

// show shows rows that refer to such a key, each beside a row that has it: that of its own
// database if there is one.
func (r *noneReader) show(ctx context.Context) (all []verdict.Sample, err error) {
	if r.Facts.Opts.Unshown {
		return nil, nil
	}
	for i, c := range r.rows.Kept {
		own := c.Members[0].DB
		for _, db := range append([]*rules.Database{own}, r.Facts.DBs...) {
			for _, to := range r.ref.Targets(0) {
				if len(c.Members) > 1 || db.Tables[to.Table] == nil {
					continue
				}
				named := stream.Member{DB: db, Table: to.Table, Columns: []string{to.Column}, Values: [][]byte{r.named[i]}, Names: 1}
				if fields, err := Find(ctx, named); err != nil {
					return nil, err
				} else if fields != nil {
					c.Members, c.Rows = append(c.Members, named), 2
				}
			}
		}
		s, err := Sample(ctx, c, r.ref.Table, r.ref.Columns)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// coveredRows are the rows with a key that some values cover, and perhaps more.
type coveredRows struct {
	table, column string
	kind          catalog.Kind
	values        keys.Values
}

// Of implements [catalog.Withheld].
func (c *coveredRows) Of() string { return c.table }

// SQL implements [catalog.Withheld].
func (c *coveredRows) SQL(quote func(string) string) string {
	kinds := map[catalog.Kind]keys.ColumnKind{catalog.KindInteger: keys.Integers, catalog.KindText: keys.Texts, catalog.KindBytes: keys.Bytes}
	return c.values.AmongSQL(quote(c.column), kinds[c.kind])
}
