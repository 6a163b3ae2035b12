package leave

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
)

// judgeBest finds the rows of each group that are not among the first ones, over all worlds. Memory holds
// a small number for each group, and rows only of groups that may have too many.
func (r *run) judgeBest(ctx context.Context) error {
	for _, s := range r.says {
		if s.Best == nil {
			continue
		}
		seed, counts := maphash.MakeSeed(), make(map[uint64]uint16)
		of := func(group []byte) uint64 { return maphash.Bytes(seed, group) }
		err := r.members(ctx, s, false, func(group []byte, _ *ranked) {
			if h := of(group); int(counts[h]) <= s.Best.Keep && counts[h] < 1<<16-1 {
				counts[h]++
			}
		})
		if err != nil {
			return err
		}
		over := make(map[uint64]bool) // groups that may have too many rows, and others with the same hash
		for h, n := range counts {
			if int(n) > s.Best.Keep || n == 1<<16-1 {
				over[h] = true
			}
		}
		clear(counts)
		if err := r.rank(ctx, s, func(group []byte) bool { return over[of(group)] }); err != nil {
			return err
		}
	}
	return nil
}

// rank lets all but the first rows of some groups stay behind.
func (r *run) rank(ctx context.Context, s *said, wanted func(group []byte) bool) error {
	type group struct {
		first []*ranked
		over  bool // others stay
	}
	t, groups := r.tables[s.Table], make(map[string]*group)
	var out []*ranked // judged on the rows that remain after where: added when all are read
	err := r.members(ctx, s, true, func(of []byte, row *ranked) {
		if !wanted(of) {
			return
		}
		g := groups[string(of)]
		if g == nil {
			g = new(group)
			groups[string(of)] = g
		}
		i, _ := slices.BinarySearchFunc(g.first, row, s.compare)
		g.over = g.over || len(g.first) >= s.Best.Keep
		if i >= s.Best.Keep {
			out = append(out, &ranked{w: row.w, key: row.key})
			return
		}
		kept := *row
		kept.by = make([][]byte, len(row.by))
		for k, v := range row.by {
			kept.by[k] = bytes.Clone(v)
		}
		if g.first = slices.Insert(g.first, i, &kept); len(g.first) > s.Best.Keep {
			last := g.first[len(g.first)-1]
			out, g.first = append(out, &ranked{w: last.w, key: last.key}), g.first[:len(g.first)-1]
		}
	})
	for _, g := range groups {
		if n := len(g.first); g.over && n > 0 {
			s.last = append(s.last, &ranked{w: g.first[n-1].w, key: g.first[n-1].key})
		}
	}
	for _, row := range out {
		row.w.add(t, row.key, s.Best.String())
	}
	return err
}

// members reads the rows that remain, with the group of each. Rows without a group come. by tells whether their places are wanted.
func (r *run) members(ctx context.Context, s *said, by bool, take func(group []byte, row *ranked)) error {
	t := r.tables[s.Table]
	none := rules.BelongToNone(r.f, s.Table, []string{s.Best.Of})[s.Best.Of]
	for number, w := range r.worlds {
		if w.db.Tables[s.Table] == nil {
			continue
		}
		order, err := r.sorting(w, s.Table, s.Best.Of)
		if err != nil {
			return err
		}
		scan := catalog.Scan{Table: s.Table, Order: order}
		key, group := reading(t.RowKey, &scan), scan.Bring(s.Best.Of)
		_, model := r.f.ModelOf(s.Table)
		if by {
			for _, of := range s.by {
				scan.Order = append(scan.Order, catalog.OrderBy([]string{of.Column}, model)...)
			}
		}
		row := &ranked{w: w, of: number, by: make([][]byte, len(s.by))}
		err = w.scan(ctx, scan, func(b *catalog.Batch, i int) {
			var ok bool
			if row.key, ok = key.key(b, i); !ok || w.keys[t.name].has(row.key) || b.Order[0].IsNull(i) ||
				!none.Empty() && none.Has(b.Carry[group].At(i)) {
				return
			}
			for k := range scan.Order[1:] {
				row.by[k] = b.Order[1+k].At(i)
			}
			take(b.Order[0].At(i), row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
