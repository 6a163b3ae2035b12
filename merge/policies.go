package merge

import (
	"fmt"
	"maps"
	"slices"

	"mergesafe/internal/nearest"
)

// Policy says what a merge does with the rows of a table.
type Policy string

// The policies.
const (
	PolicyCopy Policy = "copy" // the rows of all sources come to the target
	PolicySame Policy = "same" // every world has the same rows, which is proved; the target's stay
)

// TablePolicy is the policy of tables, by patterns of their names, as in
// [Options.Allow]. An exact name beats a pattern, and a later policy an earlier one.
type TablePolicy struct {
	Tables []string `json:"tables"`
	Policy Policy   `json:"policy"`
}

// sameTables returns the tables that are declared the same in every world.
func sameTables(opts Options, n names) (map[string]bool, error) {
	policies := make(map[string]Policy)
	exact := make(map[string]bool)
	for i, p := range opts.Tables {
		what := fmt.Sprintf("table %d", i+1)
		if p.Policy != PolicyCopy && p.Policy != PolicySame {
			return nil, unsuitable("%s: the policy is %q: want %q or %q", what, p.Policy, PolicyCopy, PolicySame)
		}
		for _, text := range p.Tables {
			pattern, column, err := parsePlace(text)
			if err == nil && column != nil {
				err = fmt.Errorf("%q names a column: want the name of a table", text)
			}
			if err != nil {
				return nil, unsuitable("%s: %v", what, err)
			}
			found := false
			for _, table := range slices.Sorted(maps.Keys(n)) {
				if !pattern.match(table) {
					continue
				}
				found = true
				if named := pattern.exact != ""; named || !exact[table] {
					policies[table], exact[table] = p.Policy, named
				}
			}
			if !found {
				return nil, unsuitable("%s: no source has a table that matches %q%s", what, text, nearest.Hint(text, slices.Sorted(maps.Keys(n))))
			}
		}
	}
	same := make(map[string]bool)
	for table, p := range policies {
		same[table] = p == PolicySame
	}
	return same, nil
}
