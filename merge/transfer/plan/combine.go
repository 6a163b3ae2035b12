package plan

import (
	"fmt"
	"math/big"
	"slices"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/rowio"
)

// A table of the policy combine has one row for a key after the merge, whatever worlds had one.
// The first source of the plan that has a row with a key brings those of all: it is read, the
// rows of the other sources and of the target with its key are looked up, and what becomes of
// them is inserted, or written over the target's row. So a row of the target is written once,
// and it does not matter which source is interrupted.
//
// A row of the target that is written over is kept in a table of the merge's own until an undo
// puts it back; see [sqldb.KeptPrefix]. The rows of a batch, what is kept of the target's, and
// the checkpoint are one transaction. Sources are combined one after the other.

// Combine says how rows with the same key become one row of the target. Rows with a key of
// their own are copied.
type Combine struct {
	declare.Combining

	Keys     int64 `json:"keys"`     // that have rows in several databases
	Combined int64 `json:"combined"` // rows of the sources that become part of another row
	Copied   int64 `json:"copied"`   // rows of the sources that are copied, or combined with others of sources
	Changed  int64 `json:"changed"`  // rows of the target that are written over

	// Was is the sum over these rows of the target before the merge, Result over their results,
	// and After over all rows of the table after the merge.
	Was    rowio.Sum `json:"was"`
	Result rowio.Sum `json:"result"`
	After  rowio.Sum `json:"after"`

	// Sums are those of the columns that are added up, over all rows of the table.
	Sums []CombinedSum `json:"sums,omitempty"`

	Kept string `json:"kept"` // the table that keeps the target's old rows
}

// CombinedSum is the sum of a column in all databases. The sum in the target after the merge
// is that of all databases before.
type CombinedSum struct {
	Column  string   `json:"column"`
	Target  string   `json:"target"`
	Sources []string `json:"sources"` // in their order
	After   string   `json:"after"`
}

// validateCombines makes sure that the plan says of combined tables what it can.
func (p *Plan) validateCombines() error {
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Combine == nil {
			continue
		}
		unknown := func(column string) bool { return !slices.Contains(t.Columns, column) }
		if len(t.Key) == 0 || t.Combine.When != nil && unknown(t.Combine.When.Column) ||
			slices.ContainsFunc(t.Combine.Columns, func(c declare.CombinedColumn) bool {
				return unknown(c.Column) || !c.Formula.Known() || slices.Contains(t.Key, c.Column)
			}) {
			return fmt.Errorf("transfer: the plan contradicts itself in combining the rows of table %q", t.Name)
		}
	}
	return nil
}

// Combines returns the numbers of the tables that are combined.
func (p *Plan) Combines() (tables []int) {
	for i := range p.Tables {
		if p.Tables[i].Combine != nil {
			tables = append(tables, i)
		}
	}
	return tables
}

// WritesOver reports whether own rows of the target are changed.
func (t *Table) WritesOver() bool { return t.RenamesOwn() || t.Combine != nil }

// NotCombined are the parts of tables that are copied row by row.
func (p *Plan) NotCombined(parts []Part) []Part {
	return slices.DeleteFunc(parts, func(of Part) bool { return p.Tables[of.Table].Combine != nil })
}

// Planned reports whether a table of the target has as many rows as it should when so many rows
// of the sources were dealt with, and how many that are, at most.
func (t *Table) Planned(rows, done int64) (ok bool, want int64) {
	if t.Combine == nil {
		return rows == t.Target.Rows+done, t.Target.Rows + done
	}
	want = t.Target.Rows + t.Combine.Copied
	if done == t.Rows() {
		return rows == want, want
	}
	return t.Target.Rows <= rows && rows <= want, want
}

// Conserved reports whether a sum is that of all databases before.
func (s *CombinedSum) Conserved(after string) bool {
	all := new(big.Rat)
	for _, text := range append([]string{s.Target}, s.Sources...) {
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			return false
		}
		all.Add(all, n)
	}
	n, ok := new(big.Rat).SetString(after)
	return ok && n.Cmp(all) == 0
}
