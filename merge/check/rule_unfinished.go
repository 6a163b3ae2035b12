package check

import (
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// unfinishedRule is about merges that a database has on record. While one is under way, or was
// interrupted, only a part of the rows is there.
var unfinishedRule = Rule{
	Codes:   []string{verdict.CodeMergeUnfinished},
	Single:  true,
	Catalog: judgeUnfinished,
}

// judgeUnfinished says nothing of databases without such merges, which are nearly all.
func judgeUnfinished(f *Facts) (findings []finding) {
	r := verdict.Result{Code: verdict.CodeMergeUnfinished}
	var parts []string
	for _, db := range f.DBs {
		for _, id := range db.Catalog.Unfinished {
			r.Count++
			parts = append(parts, "merge "+id+" into "+db.Name)
			r.Samples = append(r.Samples, verdict.Sample{Key: "merge " + id, Rows: []verdict.SampleRow{{World: db.Name, Fields: []catalog.Field{{Column: "merge", Value: id}}}}})
		}
	}
	if r.Count == 0 {
		return nil
	}
	r.Read, r.Rows, r.Message = r.Count, r.Count, catalog.Few(parts)
	r.Samples = r.Samples[:min(len(r.Samples), rules.Samples)]
	return []finding{{Result: r}}
}
