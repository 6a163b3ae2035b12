package check

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// renumbered works out what becomes of the rows of a table; why says what prevents it.
func renumbered(ctx context.Context, f *rules.Resolved, r *Reader, n *rules.Renumber) (found *verdict.Renumbered, why string, err error) {
	_, model := f.ModelOf(n.Table)
	if model.Key() == nil {
		return nil, model.Keyless(), nil
	}
	most := int64(1<<63 - 1)
	if end, known := mostOf(f, rules.ColumnName{Table: n.Table, Column: n.Column}); known && end.Bits < uint64(most) {
		most = int64(end.Bits)
	}
	if n.Max != nil {
		most = min(most, *n.Max)
	}
	err = r.Retry(func(excluded exclusions) error {
		found, why = &verdict.Renumbered{Table: n.Table, Column: n.Column, Within: n.Within, From: n.From, Max: n.Max}, ""
		streams, gaps := r.keyStreams(verdict.CodeUniqueCollision, n.Table, n.Columns(), excluded)
		if len(gaps) > 0 {
			why = gaps[0].World + " " + gaps[0].Reason
			return nil
		}
		for _, s := range streams {
			s.Scan.SkipNull = true
			s.Carry(n.Column)
			for _, k := range model.Key() {
				s.Carry(k)
			}
		}
		exempt := func(stream.Position) bool { return false }
		if i := slices.IndexFunc(f.Uniques(n.Table), func(u rules.Unique) bool { return n.Are(u.Columns) }); i >= 0 {
			if nobody := rules.BelongToNone(f, n.Table, f.Uniques(n.Table)[i].Of); len(nobody) > 0 {
				exempt = ofNone(Question{Columns: n.Within, Nobody: nobody}, streams)
			}
		}
		var group []numberedRow
		settle := func() {
			if why == "" {
				why = settle(found, f, group, most)
			}
			group = group[:0]
		}
		add := func(at stream.Position) {
			if exempt(at) {
				return
			}
			row := numberedRow{db: at.Stream.DB, shown: at.Stream.CarriedAt(at.Stream.Carry(n.Column), at.Row)}
			row.value, row.integer = keys.ParseInteger(row.shown)
			for _, k := range model.Key() {
				row.key = append(row.key, bytes.Clone(at.Stream.CarriedAt(at.Stream.Carry(k), at.Row)))
			}
			row.shown = bytes.Clone(row.shown)
			group = append(group, row)
		}
		err := stream.MergeEqual(ctx, streams, len(n.Within), func(before, row stream.Position, begins bool) error {
			if begins {
				settle()
				add(before)
			}
			add(row)
			return nil
		})
		settle()
		return err
	})
	if found != nil && why == "" {
		for _, db := range f.DBs {
			rows := int64(0)
			for _, row := range found.Rows {
				if row.World == db.Name {
					rows++
				}
			}
			found.Counts = append(found.Counts, rows)
		}
	}
	return found, why, err
}

// numberedRow is a row of those that belong together.
type numberedRow struct {
	db      *rules.Database
	key     [][]byte
	shown   []byte
	value   keys.Integer
	integer bool
}

func (row *numberedRow) number() int64 { return int64(row.value.Bits) }

// settle gives the rows that belong together their values. It returns why that cannot be.
func settle(all *verdict.Renumbered, f *rules.Resolved, group []numberedRow, most int64) (why string) {
	if len(group) == 0 {
		return ""
	}
	rank := make(map[*rules.Database]int)
	for i, db := range f.DBs {
		rank[db] = i
	}
	slices.SortStableFunc(group, func(a, b numberedRow) int {
		return cmp.Or(rank[a.db]-rank[b.db], a.value.Compare(b.value), slices.CompareFunc(a.key, b.key, func(a, b []byte) int {
			return cmp.Or(len(a)-len(b), bytes.Compare(a, b)) // as numbers of one sign are ordered
		}))
	})
	next := int64(1<<63 - 1)
	taken := make(map[int64]bool)
	for _, row := range group {
		if !row.integer || !row.value.Negative && row.value.Bits > 1<<63-1 {
			return fmt.Sprintf("in %s the column %s holds %.40q, which cannot be renumbered", row.db.Name, all.Column, row.shown)
		}
		next = min(next, row.number())
	}
	if all.From != nil {
		next = *all.From
	}
	from := next
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].db == group[0].db {
			n++
		}
		var others []numberedRow
		for _, row := range group[:n] {
			if taken[row.number()] {
				others = append(others, row)
			}
			taken[row.number()] = true
		}
		if len(others) > 0 && rank[group[0].db] == 0 {
			return fmt.Sprintf("%s itself has several rows with the same value, such as %s: give them different values first", group[0].db.Name, others[0].shown)
		}
		for _, row := range others {
			for taken[next] && next < most {
				next++
			}
			if taken[next] || next > most {
				why = fmt.Sprintf("in %s the row with the key %q would exceed the largest value, %d: there are too many rows with its %s", row.db.Name, bytes.Join(row.key, []byte("/")), most, catalog.ColumnList(all.Within))
				if from > 0 {
					why += fmt.Sprintf(" from %d on; smaller values are used only if from allows them, such as from = 0", from)
				}
				return why
			}
			taken[next] = true
			if all.Rows = append(all.Rows, verdict.RenumberedRow{World: row.db.Name, Key: row.key, Old: row.number(), New: next}); len(all.Rows) > verdict.MaxRenumbered {
				return fmt.Sprintf("more than %s rows would get another value", printable.Number(verdict.MaxRenumbered))
			}
		}
		group = group[n:]
	}
	return ""
}

// resolveByRenumbering takes what a result counts as settled if its rows get other values.
func resolveByRenumbering(ctx context.Context, r *verdict.Result, f *rules.Resolved, from *Reader) (*verdict.Renumbered, error) {
	n := f.Renumbers[r.Table]
	if n == nil || !n.Are(r.Columns) {
		return nil, nil
	}
	found, why, err := renumbered(ctx, f, from, n)
	if err != nil {
		return nil, err
	}
	if why == "" {
		why = f.Unchangeable(n.Table, n.Column)
	}
	if why != "" {
		if r.Count > 0 {
			r.Message += "; [[merge.table]] renumber = " + printable.TOML(n.Column) + " cannot resolve it: " + why
		}
		return nil, nil
	}
	r.Renumbered = int64(len(found.Rows))
	if r.Count > 0 {
		r.Message = printable.Count(r.Renumbered, "row", "rows") + " will get another " + n.Column + ", by [[merge.table]]: " + r.Message
		r.Count, r.Rows, r.Samples = 0, 0, nil
	}
	return found, nil
}
