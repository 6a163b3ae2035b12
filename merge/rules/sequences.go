package rules

import (
	"fmt"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
)

// declareSequence adds a sequence of the first world that the operator names as the counter of a
// space; done is false if it has none of that name.
func (m *Moving) declareSequence(f *Resolved, c CounterRow, space *KeySpace) (done bool, err error) {
	name := c.At
	if quoted, ok := strings.CutPrefix(name, "`"); ok && strings.HasSuffix(quoted, "`") && len(quoted) > 1 {
		name = strings.ReplaceAll(quoted[:len(quoted)-1], "``", "`")
	}
	if f.Model().Catalog.Sequence(name) == nil {
		if strings.Contains(c.At, ".") {
			return false, nil
		}
		all := slice.Map(f.Model().Catalog.Sequences, func(s catalog.Sequence) string { return s.Name })
		return true, fmt.Errorf("at is %q: want table.column, or the name of a sequence of the first world%s", c.At, naming.Hint(name, all))
	}
	if c.When != nil {
		return true, fmt.Errorf("%q is a sequence: it has no rows, so a when cannot select any", name)
	}
	m.Counters = append(m.Counters, KeptCounter{ColumnName{Table: name}, nil, space, ""})
	return true, nil
}
