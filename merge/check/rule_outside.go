package check

import (
	"maps"
	"slices"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// outsideRule reports tables that are in no snapshot. What was read of them holds if
// their rows were the same at the beginning and at the end of the check. The run
// judges that, when all is read.
var outsideRule = Rule{Codes: []string{verdict.CodeTableChanged}, Single: true}

// settle compares the states of the tables that are in no snapshot, and makes what was found about
// those that changed meanwhile not verified.
func (r *run) settle(before, after stamps) {
	results := make(map[string]*verdict.Result)
	for _, db := range r.facts.DBs {
		for name, t := range db.Tables {
			if t.Outside == "" {
				continue
			}
			result := results[name]
			if result == nil {
				result = &verdict.Result{Code: verdict.CodeTableChanged, Table: name}
				results[name] = result
			}
			if why := after.since(before, sampledTable{DB: db, Table: name}); why != "" {
				result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: t.Outside + ": " + why})
				r.spoil(name, verdict.Gap{World: db.Name, Reason: name + " is " + t.Outside + ", and " + why})
			} else {
				result.Read += db.Rows[name]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		results[name].Without("its rows were the same at the beginning and at the end of the check")
		r.conclude(finding{Result: *results[name]})
	}
}

// spoil adds a gap to all results that rest on the rows of a table.
func (r *run) spoil(table string, gap verdict.Gap) {
	for i := range r.results {
		result := &r.results[i]
		refers := func(ref rules.Ref) bool { return ref.ToTable == table && ref.Subject() == result.Subject }
		if result.Table == table || result.Table != "" && slices.ContainsFunc(r.facts.References(result.Table), refers) {
			result.Gaps = append(result.Gaps, gap)
			if next := verdict.Documented(verdict.CodeTableChanged).Unverified; !slices.Contains(result.Next, next) {
				result.Next = append(result.Next, next)
			}
			r.judge(result)
		}
	}
}
