package plan

import (
	"fmt"
	"math/big"
	"slices"

	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// A table of the policy combine has one row for a key after the merge, whatever worlds had one.
// The first world of the plan that has a row with a key brings those of all: it is read, the
// rows of the later worlds with its key are looked up, and what becomes of them is inserted. So a
// row is written once, and it does not matter in which world the work is interrupted. Worlds are
// combined one after the other.

// Combine says how rows with the same key become one row. Rows with a key of their own are copied.
type Combine struct {
	rules.Combining

	Keys     int64 `json:"keys"`     // that have rows in several worlds
	Combined int64 `json:"combined"` // rows that become part of another row
	Rows     int64 `json:"rows"`     // of the table after the merge

	After world.Sum `json:"after"` // over all rows of the table after the merge

	// Sums are those of the columns that are added up, over all rows of the table.
	Sums []CombinedSum `json:"sums,omitempty"`
}

// CombinedSum is the sum of a column in all worlds. The sum after the merge is that of all of them.
type CombinedSum struct {
	Column string   `json:"column"`
	Worlds []string `json:"worlds"` // in their order
	After  string   `json:"after"`
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
			slices.ContainsFunc(t.Combine.Columns, func(c rules.CombinedColumn) bool {
				return unknown(c.Column) || !c.Formula.Known() || slices.Contains(t.Key, c.Column)
			}) {
			return fmt.Errorf("merge: the plan contradicts itself about combining the rows of table %q", t.Name)
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

// Conserved reports whether a sum is that of all worlds.
func (s *CombinedSum) Conserved(after string) bool {
	all := new(big.Rat)
	for _, text := range s.Worlds {
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			return false
		}
		all.Add(all, n)
	}
	n, ok := new(big.Rat).SetString(after)
	return ok && n.Cmp(all) == 0
}
