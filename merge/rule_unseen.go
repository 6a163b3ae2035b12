package merge

import (
	"maps"
	"slices"
)

// checkUnseen reports what no rule can see into: databases that change while
// they are read, tables that are not read, and columns that may hold IDs in a
// form of their own.
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
	type place struct{ code, table, column string }
	gaps := make(map[place][]Gap)
	var places []place
	note := func(p place, g Gap) {
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
		gaps[p] = append(gaps[p], g)
	}
	for _, db := range c.dbs {
		for _, s := range db.skipped {
			note(place{CodeTableSkipped, s.Table, ""}, Gap{db.name, s.Reason})
		}
		for _, table := range slices.Sorted(maps.Keys(db.tables)) {
			for _, col := range db.tables[table].Columns {
				if col.Opaque != "" {
					note(place{CodeColumnOpaque, table, col.Name}, Gap{db.name, col.Opaque})
				}
			}
		}
	}
	for _, p := range places {
		message := "was not read"
		if p.code == CodeColumnOpaque {
			message = "may hold IDs that no rule can see"
		}
		c.add(Result{
			Code: p.code, Table: p.table, Subject: p.column,
			Message: message, Gaps: gaps[p],
		})
	}
}
