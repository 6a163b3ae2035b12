package check

import (
	"maps"
	"slices"

	"mergesafe/merge/verdict"
)

// outsideRule reports tables that are in no snapshot. What was read of them holds if
// their rows were the same at the beginning and at the end of the check. The run
// judges that, when all is read.
var outsideRule = Rule{Codes: []string{verdict.CodeTableChanged}, Single: true}

// judgeOutside compares the states of the tables that are in no snapshot.
func judgeOutside(f *Facts, before, after Stamps) (findings []Finding) {
	results := make(map[string]*verdict.Result)
	for _, db := range f.DBs {
		for name, t := range db.Tables {
			if t.Outside == "" {
				continue
			}
			r := results[name]
			if r == nil {
				r = &verdict.Result{Code: verdict.CodeTableChanged, Table: name}
				results[name] = r
			}
			if why := after.Since(before, SampledTable{DB: db, Table: name}); why != "" {
				r.Gaps = append(r.Gaps, verdict.Gap{World: db.Name, Reason: t.Outside + ": " + why})
			} else {
				r.Read += db.Rows[name]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		r.Without("its rows were the same at the beginning and at the end of the check")
		findings = append(findings, Finding{Result: *r})
	}
	return findings
}
