package leave

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// readCells finds the rows that come and name, inside cells, rows that stay: their keys are cleared, or they block.
func (r *run) readCells(ctx context.Context, found *Found) error {
	for _, c := range r.cells {
		blocking := Blocking{SeveredReference: c}
		for _, w := range r.worlds {
			counts := make(map[keys.Integer]int64)
			rows, err := r.namedInCells(ctx, w, c, counts)
			if err != nil {
				return err
			}
			if c.Counts = append(c.Counts, rows); rows > 0 {
				blocking.Worlds = append(blocking.Worlds, Blocked{w.db.Name, rows, heaviest(counts)})
			}
		}
		if c.Gone == rules.GoneNone {
			found.Cleared = append(found.Cleared, c)
		} else if blocking.Worlds != nil {
			found.Blocking = append(found.Blocking, blocking)
		}
	}
	return nil
}

// namedInCells counts the rows of a world, and how many name each key.
func (r *run) namedInCells(ctx context.Context, w *world, c *rules.SeveredReference, counts map[keys.Integer]int64) (rows int64, err error) {
	to, format := w.keys[c.To], c.Ref.Cells
	if w.db.Tables[c.Table] == nil || to == nil || to.n == 0 {
		return 0, nil
	}
	scan := catalog.Scan{Table: c.Table, Carry: slices.Clone(format.Columns())}
	cells := make([][]byte, len(scan.Carry))
	if c.Ref.When != nil {
		scan.Carry = append(scan.Carry, c.Ref.When.Column)
	}
	stays, err := r.stays(ctx, w, c.Table, &scan)
	if err != nil {
		return 0, err
	}
	var fails error
	err = w.scan(ctx, scan, func(b *catalog.Batch, row int) {
		if fails != nil || c.Ref.When != nil && !c.Ref.When.Holds(b.Carry[len(cells)].At(row)) || stays(b, row) {
			return
		}
		for i := range cells {
			cells[i] = b.Carry[i].At(row)
		}
		keyed, err := format.Keys(cells)
		if _, is := errors.AsType[*keys.CodecError](err); is {
			fails = err
		}
		named := false
		for _, k := range keyed { // of a cell that has not the format there are none: a rule says so
			if !c.Ref.None.HasInteger(k.Value) && to.has(keys.Key{Integer: k.Value}) {
				named = true
				counts[k.Value]++
			}
		}
		if !named {
			return
		}
		if rows++; c.Gone == rules.GoneNone {
			none, _ := keys.ParseInteger([]byte(*c.Becomes))
			_, fails = format.Splice(cells, func(keys.CellKey) (keys.Integer, error) { return none, nil })
		}
	})
	if err == nil && fails != nil {
		err = &catalog.ReadError{World: w.db.Name, Table: c.Table, Doing: "keys inside cells", Err: fails}
	}
	return rows, err
}

// heaviest are the values that most rows have.
func heaviest(counts map[keys.Integer]int64) []rules.Heavy {
	keyed := slices.SortedFunc(maps.Keys(counts), func(a, b keys.Integer) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), a.Compare(b))
	})
	return slice.Map(keyed[:min(shownKeys, len(keyed))], func(n keys.Integer) rules.Heavy {
		return rules.Heavy{Value: n.String(), Rows: counts[n]}
	})
}
