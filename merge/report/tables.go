package report

import (
	"cmp"
	"slices"
	"strings"

	"mergesafe/merge/verdict"
)

// table is one table of all databases. Its verdict ignores what the operator
// allows.
type table struct {
	Name    string
	Rows    []*int64 // of each source; nil if it was not read
	Verdict verdict.Verdict
	Codes   []string // of the results that did not pass
}

// keys are the ends of the primary key of one table in one database.
type mapKeys struct{ World, Table, First, Last string }

// tables returns the tables of all databases, the worst first.
func tables(r *verdict.Report) (all []table) {
	found := make(map[string]*table)
	get := func(name string) *table {
		if found[name] == nil {
			found[name] = &table{Name: name, Rows: make([]*int64, len(r.Worlds))}
		}
		return found[name]
	}
	for i, s := range r.Worlds {
		for _, t := range s.Tables {
			get(t.Table).Rows[i] = &t.Rows
		}
	}
	for _, result := range r.Results {
		if result.Table == "" {
			continue
		}
		t := get(result.Table)
		if t.Verdict == "" || badness(result.Verdict) > badness(t.Verdict) {
			t.Verdict = result.Verdict
		}
		code := result.Code
		if result.Allowed {
			code += " (allowed)"
		}
		if result.Verdict != verdict.Pass && !slices.Contains(t.Codes, code) {
			t.Codes = append(t.Codes, code)
		}
	}
	for _, t := range found {
		t.Verdict = cmp.Or(t.Verdict, verdict.NotVerified)
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b table) int {
		return cmp.Or(badness(b.Verdict)-badness(a.Verdict), strings.Compare(a.Name, b.Name))
	})
	return all
}

func badness(v verdict.Verdict) int {
	return slices.Index([]verdict.Verdict{verdict.Pass, verdict.NotVerified, verdict.Fail}, v)
}

// keyRanges are sorted by table, so that the ranges of the databases can be
// compared.
func keyRanges(r *verdict.Report) (all []mapKeys) {
	for _, s := range r.Worlds {
		for _, t := range s.Tables {
			if t.First != "" || t.Last != "" {
				all = append(all, mapKeys{s.Name, t.Table, t.First, t.Last})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b mapKeys) int { return strings.Compare(a.Table, b.Table) })
	return all
}
