package check

import (
	"slices"

	"mergesafe/merge/verdict"
)

// settle makes what was found about tables that changed meanwhile not verified.
func (r *run) settle(before, after Stamps) {
	for _, f := range judgeOutside(r.facts, before, after) {
		r.conclude(f)
	}
	for _, db := range r.facts.DBs {
		for name, t := range db.Tables {
			if t.Outside == "" {
				continue
			}
			if why := after.Since(before, SampledTable{DB: db, Table: name}); why != "" {
				r.spoil(name, verdict.Gap{World: db.Name, Reason: name + " is " + t.Outside + ", and " + why})
			}
		}
	}
}

// spoil adds a gap to all results that rest on the rows of a table.
func (r *run) spoil(table string, gap verdict.Gap) {
	for i := range r.results {
		result := &r.results[i]
		if result.Code != verdict.CodeTableChanged && (result.Table == table || RefersTo(r.facts.Resolved, result, table)) {
			result.Gaps = append(result.Gaps, gap)
			if next := verdict.Documented(verdict.CodeTableChanged).Unverified; !slices.Contains(result.Next, next) {
				result.Next = append(result.Next, next)
			}
			r.judge(result)
		}
	}
}
