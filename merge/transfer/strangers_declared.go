package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/cell"
	"mergesafe/merge/rekey"
)

// declaredStrangers refuses what [undo.strangers] cannot see: rows that did not come with
// the merge and name keys that did, by a reference that no database knows. planned are the
// tables that are exactly as the merge left them; nil if rows were removed already.
func (u *undo) declaredStrangers(ctx, soft context.Context, planned map[string]bool) (reasons []Refusal, err error) {
	if u.plan.Rekey == nil {
		return nil, nil
	}
	known, err := hasKeys(soft, u.target)
	if err != nil || !known {
		return nil, err // nothing was remembered, so that the merge was not completed
	}
	keys, err := loadKeys(soft, u.target, "path LIKE ?", []any{u.plan.ID + ".%"})
	if err != nil {
		return nil, err
	}
	for i := range u.plan.Rekey.Columns {
		c := &u.plan.Rekey.Columns[i]
		if _, there := u.keys[c.Table]; c.Key || planned[c.Table] || !there || u.plan.multiset(c.Table) && planned == nil {
			continue
		}
		found, err := u.namingWhatCame(ctx, soft, c, keys)
		if err != nil {
			return nil, err
		}
		if found.rows > 0 {
			which := ""
			if len(found.keys) > 0 {
				which = ": " + found.String()
			}
			reasons = append(reasons, Refusal{Source: u.target.Name, Table: c.Table, Reason: fmt.Sprintf("%s that did not come with the merge %s rows that did, by %s%s; let them name other rows or remove them, then run undo again",
				printable.Count(found.rows, "row", "rows"), map[bool]string{true: "names", false: "name"}[found.rows == 1], c.Column, which)})
		}
	}
	return reasons, nil
}

// namingWhatCame finds the rows of one column.
func (u *undo) namingWhatCame(ctx, soft context.Context, c *merge.RekeyedColumn, keys []keySet) (*rowSamples, error) {
	found := new(rowSamples)
	d := u.target.dialect()
	l := u.naming(c.Table, []string{c.Column})
	if u.plan.table(c.Table) != nil && !u.plan.multiset(c.Table) {
		l = u.layouts[c.Table].keysOnly()
	}
	copied, err := u.copiedTo(soft, c.Table)
	if err != nil {
		return nil, err
	}
	naming, err := newNaming(c, keys, u.opts.Codecs)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range naming.columns {
		names = append(names, d.Quote(name))
	}
	query := "SELECT " + strings.Join(append(names, l.reads...), ", ")
	if u.plan.multiset(c.Table) { // so many came, as the plan counted them
		for i := range c.Cases {
			for _, n := range c.Cases[i].Counts[1:] {
				found.rows -= n.Resolved
			}
		}
	}
	key := func(row []any) []any {
		switch {
		case !naming.names(row):
			return nil
		case u.plan.multiset(c.Table):
			found.rows++
			return nil
		default:
			return row[len(naming.columns):]
		}
	}
	if err = u.strange(soft, l, query+" FROM "+d.Quote(c.Table)+" WHERE "+d.Quote(c.Column)+" IS NOT NULL", false, nil, key, copied, found); err == nil {
		if naming.broken != nil {
			return nil, fmt.Errorf("transfer: undo: database %q, table %q: row %s: %s: %w", u.target.Name, c.Table, naming.at, c.Column, naming.broken)
		}
		err = u.between(ctx)
	}
	return found, err
}

// naming tells of a row whether it has a key that came.
type naming struct {
	columns []string // whose values it wants of a row, the first of all
	cases   []namingCase
	keys    []keySet

	broken *cell.CodecError // nothing is known of this row, and of further ones
	at     string
}

type namingCase struct {
	*merge.RekeyedCase
	none  rekey.Values
	when  int       // the place of the column of its condition
	cells *cell.Row // nil: the value is the whole cell
	at    []int     // the places of its cells
}

func newNaming(c *merge.RekeyedColumn, keys []keySet, codecs cell.Codecs) (*naming, error) {
	n := &naming{keys: keys}
	place := func(column string) int {
		i := slices.Index(n.columns, column)
		if i < 0 {
			i, n.columns = len(n.columns), append(n.columns, column)
		}
		return i
	}
	place(c.Column)
	for i := range c.Cases {
		of := namingCase{RekeyedCase: &c.Cases[i]}
		var err error
		if of.none, err = rekey.ParseValues(of.Zero, of.None); err != nil {
			return nil, err
		}
		if of.When != nil {
			of.when = place(of.When.Column)
		}
		if of.Format != "" {
			if of.cells, err = cell.ParseRow(of.Format, c.Column, codecs); err != nil {
				return nil, err
			}
			for _, column := range of.cells.Columns() {
				of.at = append(of.at, place(column))
			}
		}
		n.cases = append(n.cases, of)
	}
	return n, nil
}

func (n *naming) names(row []any) bool {
	if n.broken != nil {
		return false
	}
	for i := range n.cases {
		of := &n.cases[i]
		if of.When != nil && !of.When.Holds(printed(row[of.when])) {
			continue
		}
		numbers, err := of.numbers(row)
		if failed, is := errors.AsType[*cell.CodecError](err); is {
			n.broken = failed
			for _, v := range row[len(n.columns):] {
				n.at = strings.TrimPrefix(n.at+", "+printable.Text(string(printed(v))), ", ")
			}
			return false
		}
		if slices.ContainsFunc(numbers, func(v rekey.Integer) bool { return n.came(of, v) }) {
			return true
		}
	}
	return false
}

// numbers are those by which a row refers to something. A cell that does not have its format
// is in no row that a merge left alone: it refers to nothing.
func (of *namingCase) numbers(row []any) (all []rekey.Integer, err error) {
	if of.cells == nil {
		if v, ok := rekey.ParseInteger(printed(row[0])); ok {
			all = append(all, v)
		}
		return all, nil
	}
	cells := make([][]byte, len(of.at))
	for i, at := range of.at {
		cells[i] = printed(row[at])
	}
	keys, err := of.cells.Keys(cells)
	for _, k := range keys {
		all = append(all, k.Value)
	}
	return all, err
}

// came reports whether a number is a key that came.
func (n *naming) came(of *namingCase, v rekey.Integer) bool {
	return !of.none.HasInteger(v) && slices.ContainsFunc(n.keys, func(k keySet) bool {
		old, ok := v.Sub(k.Offset)
		return ok && k.Space == of.Space && k.Keys.Has(old)
	})
}
