package merge

import (
	"maps"
	"slices"
)

// checkUnseen reports what no rule can see into: databases that change while
// they are read, and tables that are not read.
func (c *checker) checkUnseen() {
	moment := Result{Code: CodeNoSnapshot, Message: "was not read as of one moment"}
	for _, db := range c.dbs {
		if db.catalog.NoSnapshot {
			moment.Gaps = append(moment.Gaps, Gap{db.name, "every table was read as of its own moment, because the operator wanted it so"})
		}
	}
	if len(moment.Gaps) > 0 {
		c.add(moment)
	}
	gaps := make(map[string][]Gap)
	for _, db := range c.dbs {
		for _, s := range db.skipped {
			gaps[s.Table] = append(gaps[s.Table], Gap{db.name, s.Reason})
		}
	}
	for _, table := range slices.Sorted(maps.Keys(gaps)) {
		c.add(Result{Code: CodeTableSkipped, Table: table, Message: "was not read", Gaps: gaps[table]})
	}
}
