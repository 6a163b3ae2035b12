package rules

import (
	"fmt"
	"slices"

	"mergesafe/merge/catalog"
)

// Counted returns the conditions of the counters in a column. all tells that every row is
// covered: by one of them, or since it is said that the others count nothing.
func (m *Moving) Counted(at ColumnName) (whens []*When, all bool) {
	for _, c := range m.Counters {
		if c.ColumnName == at {
			if c.When == nil || c.others == OthersPlain {
				return nil, true
			}
			whens = append(whens, c.When)
		}
	}
	return whens, false
}

// Uncounted returns what a scan has to carry besides columns of a table, to tell of a row
// whether a counter in one of the columns covers it.
func (m *Moving) Uncounted(table string, columns []string) (carry []string, covered func(b *catalog.Batch, column, row int) bool) {
	type condition struct {
		when *When
		at   int
	}
	of := make([][]condition, len(columns))
	carry = slices.Clone(columns)
	for i, name := range columns {
		whens, _ := m.Counted(ColumnName{table, name})
		for _, w := range whens {
			at := slices.Index(carry, w.Column)
			if at < 0 {
				at, carry = len(carry), append(carry, w.Column)
			}
			of[i] = append(of[i], condition{w, at})
		}
	}
	return carry, func(b *catalog.Batch, column, row int) bool {
		return slices.ContainsFunc(of[column], func(c condition) bool { return c.when.Holds(b.Carry[c.at].At(row)) })
	}
}

// validateOthers returns an error unless what is said of the other rows means something.
func (c *CounterRow) validateOthers() error {
	switch {
	case c.Others != "" && c.Others != OthersPlain:
		return fmt.Errorf("others is %q: want %q, or nothing", c.Others, OthersPlain)
	case c.Others != "" && c.When == nil:
		return fmt.Errorf("others is set without when: the counter covers all rows of %s", c.At)
	}
	return nil
}
