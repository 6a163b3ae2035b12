package rules

import (
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
)

// CounterRow is a column in which a game keeps the last key that it gave, or the next
// one, or a sequence.
type CounterRow struct {
	At    string `json:"at"`             // "table.column", or the name of a sequence
	When  *When  `json:"when,omitempty"` // the rows that it covers; nil: all
	Space string `json:"space"`          // the name of a space, or one of its keys

	// Others says what the rows are that When does not cover: "plain", they count nothing;
	// "", they are judged as undeclared, unless another counter covers them.
	Others string `json:"others,omitempty"`

	File string `json:"-"` // for messages
	Line int    `json:"-"` // in File; 0: not known
}

// KeptCounter is a CounterRow as it is in the databases. A sequence has no column.
type KeptCounter struct {
	ColumnName
	When   *When
	Space  *KeySpace
	others string
}

func (c *KeptCounter) Sequence() bool { return c.Column == "" }

// declareCounter adds a counter that the operator names.
func (m *Moving) declareCounter(f *Resolved, n Names, c CounterRow) error {
	k := slices.IndexFunc(m.Spaces, func(s *KeySpace) bool {
		return s.Name == c.Space || slices.ContainsFunc(s.Columns, func(at ColumnName) bool { return at.String() == c.Space })
	})
	if k < 0 {
		return fmt.Errorf("there is no space %q, and no space has that key: declare it, as in [[merge.space]] keys = [%s], or set rekey = true in [merge], which covers AUTO_INCREMENT keys", c.Space, printable.TOML(c.Space))
	}
	if err := c.When.Validate(); err != nil {
		return err
	}
	if err := c.validateOthers(); err != nil {
		return err
	}
	if done, err := m.declareSequence(f, c, m.Spaces[k]); done {
		return err
	}
	return n.each(c.At, func(at ColumnName, exact bool) error {
		col := n[at.Table][at.Column]
		switch {
		case !exact:
			return fmt.Errorf("at is %q: want the name of one column, not a pattern", c.At)
		case m.Columns[at] != nil:
			return fmt.Errorf("%s gets new values itself", at)
		case col.Kind != catalog.KindInteger:
			return fmt.Errorf("%s is %s, and only integers can be raised: change the type of the column in all databases, "+
				"or remove this counter and raise it by hand after the merge, before the game starts", at, col.Type)
		case c.When != nil && n[at.Table][c.When.Column] == nil:
			return fmt.Errorf("when: %s", n.lacks(at.Table, c.When.Column))
		}
		if err := neverHolds(c.When, at.Table, n); err != nil {
			return err
		}
		m.Counters = append(m.Counters, KeptCounter{at, c.When, m.Spaces[k], c.Others})
		return nil
	})
}
