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

// inCells is a reference inside cells to a table of which rows may stay behind. It cannot be followed or cleared, so it
// blocks if a row that comes names one that stays.
type inCells struct {
	ref *rules.Ref
	to  rules.ColumnName
}

// blockedInCells finds such rows.
func (r *run) blockedInCells(ctx context.Context, found *Found) error {
	for _, c := range r.cells {
		table := c.ref.Table
		severed := rules.Severed{Table: table, Column: c.ref.Columns[0], To: c.to.Table, ToColumn: c.to.Column}
		blocking := Blocking{SeveredReference: &rules.SeveredReference{Severed: severed, Ref: c.ref}}
		for _, w := range r.worlds {
			to := w.keys[c.to.Table]
			if w.db.Tables[table] == nil || to == nil || to.n == 0 {
				continue
			}
			scan := catalog.Scan{Table: table, Carry: slices.Clone(c.ref.Cells.Columns())}
			cells := make([][]byte, len(scan.Carry))
			if c.ref.When != nil {
				scan.Carry = append(scan.Carry, c.ref.When.Column)
			}
			stays, err := r.stays(ctx, w, table, &scan)
			if err != nil {
				return err
			}
			counts, codec := make(map[keys.Integer]int64), error(nil)
			rows := int64(0)
			err = w.scan(ctx, scan, func(b *catalog.Batch, row int) {
				if codec != nil || c.ref.When != nil && !c.ref.When.Holds(b.Carry[len(cells)].At(row)) || stays(b, row) {
					return
				}
				for i := range cells {
					cells[i] = b.Carry[i].At(row)
				}
				keyed, err := c.ref.Cells.Keys(cells)
				if failed, is := errors.AsType[*keys.CodecError](err); is {
					codec = failed
				}
				named := false
				for _, k := range keyed { // of a cell that has not the format there are none: a rule says so
					if !c.ref.None.HasInteger(k.Value) && to.has(keys.Key{Integer: k.Value}) {
						named = true
						counts[k.Value]++
					}
				}
				if named {
					rows++
				}
			})
			if err == nil && codec != nil {
				err = &catalog.ReadError{World: w.db.Name, Table: table, Doing: "keys inside cells", Err: codec}
			}
			if err != nil {
				return err
			}
			if rows > 0 {
				blocking.Worlds = append(blocking.Worlds, Blocked{w.db.Name, rows, heaviest(counts)})
			}
		}
		if blocking.Worlds != nil {
			found.Blocking = append(found.Blocking, blocking)
		}
	}
	return nil
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
