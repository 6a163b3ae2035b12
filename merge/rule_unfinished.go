package merge

// unfinishedRule is about merges that a database has on record. While one is under way, or was
// interrupted, only a part of the rows is there.
func unfinishedRule() rule {
	return rule{
		codes:   []string{CodeMergeUnfinished},
		catalog: judgeUnfinished,
	}
}

// judgeUnfinished says nothing of databases without such merges, which are nearly all.
func judgeUnfinished(f *facts) (findings []finding) {
	r := Result{Code: CodeMergeUnfinished}
	var parts []string
	for _, db := range f.dbs {
		for _, id := range db.catalog.Unfinished {
			r.Count++
			parts = append(parts, "merge "+id+" into "+db.name)
			r.Samples = append(r.Samples, Sample{Key: "merge " + id, Rows: []SampleRow{{Source: db.name, Fields: []Field{{Column: "merge", Value: id}}}}})
		}
	}
	if r.Count == 0 {
		return nil
	}
	r.Read, r.Rows, r.Message = r.Count, r.Count, few(parts)
	r.Samples = r.Samples[:min(len(r.Samples), max(0, f.opts.Samples))]
	return []finding{{Result: r}}
}
