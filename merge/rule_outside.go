package merge

import (
	"maps"
	"slices"
)

// outsideRule reports tables that are in no snapshot. What was read of them holds if
// their rows were the same at the beginning and at the end of the check. The run
// judges that, when all is read.
func outsideRule() rule {
	return rule{codes: []string{CodeTableChanged}}
}

// judgeOutside compares the states of the tables that are in no snapshot.
func judgeOutside(f *facts, before, after stamps) (findings []finding) {
	results := make(map[string]*Result)
	for _, db := range f.dbs {
		for name, t := range db.tables {
			if t.Outside == "" {
				continue
			}
			r := results[name]
			if r == nil {
				r = &Result{Code: CodeTableChanged, Table: name}
				results[name] = r
			}
			if why := after.since(before, sampledTable{db, name}); why != "" {
				r.Gaps = append(r.Gaps, Gap{db.name, t.Outside + ": " + why})
			} else {
				r.Read += db.rows[name]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		r.without("its rows were the same at the beginning and at the end of the check")
		findings = append(findings, finding{Result: *r})
	}
	return findings
}
