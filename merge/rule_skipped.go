package merge

import (
	"maps"
	"slices"
)

// The code about tables that are not read.
const CodeTableSkipped = "table-skipped"

// skippedRule reports the tables that are not read.
func skippedRule() rule {
	return rule{
		codes: []Code{{
			Code:       CodeTableSkipped,
			Meaning:    "a table was not read",
			Unverified: "check the table by other means, or leave it out of the merge",
		}},
		catalog: judgeSkipped,
	}
}

func judgeSkipped(f *facts) (findings []finding) {
	gaps := make(map[string][]Gap)
	for _, db := range f.dbs {
		for _, s := range db.skipped {
			gaps[s.Table] = append(gaps[s.Table], Gap{db.name, s.Reason})
		}
	}
	for _, table := range slices.Sorted(maps.Keys(gaps)) {
		findings = append(findings, finding{Result: Result{Code: CodeTableSkipped, Table: table, Message: "was not read", Gaps: gaps[table]}})
	}
	return findings
}
