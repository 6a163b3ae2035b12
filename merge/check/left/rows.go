package left

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// Tasks count the rows of some tables that stay behind, and those that refer to them.
func Tasks(f *read.Facts) (tasks []rule.Task) {
	for _, l := range declare.LeftOf(f.Resolved) {
		tasks = append(tasks, rule.Task{Code: verdict.CodeRowsLeft, Tables: nil, Run: func(ctx context.Context, _ *read.Reader) (rule.Outcome, error) { return judgeLeft(ctx, f, l) }})
	}
	return tasks
}

func judgeLeft(ctx context.Context, f *read.Facts, l *declare.LeftRows) (o rule.Outcome, err error) {
	now := *l
	result := verdict.Result{Code: verdict.CodeRowsLeft, Table: l.Table, Subject: "when " + l.When.String()}
	orphans := verdict.Result{Code: verdict.CodeReferenceSevered, Table: l.Table, Subject: "when " + l.When.String()}
	var parts, leave []string
	for _, db := range f.DBs {
		n := int64(0)
		if db == f.Model() { // whose rows come
			now.Counts = append(now.Counts, n)
			continue
		}
		if db.Tables[l.Table] != nil {
			if n, err = read.Referring(ctx, db, l.Table, l.All(), nil); err != nil {
				return o, err
			}
			lost, err := orphaned(ctx, f, db, l.Table, nil, &orphans)
			if err != nil {
				return o, err
			}
			leave = append(leave, lost...)
		}
		now.Counts = append(now.Counts, n)
		result.Read += n
		parts = append(parts, db.Name+": "+printable.Number(n))
	}
	result.Message = "rows that stay behind, as declared: " + catalog.Few(parts)
	o = rule.Found(result)
	if o.Left = []declare.LeftRows{now}; orphans.Count > 0 {
		orphans.Rows, orphans.Read = orphans.Count, result.Read
		orphans.Message = fmt.Sprintf("rows refer to rows of %s that stay behind when %s: %s", l.Table, l.When, catalog.Few(leave))
		orphans.Next = []string{fmt.Sprintf("gone = %q in the [[check.reference]] of these rows: they stay behind too", declare.RowsDrop)}
		o.Add(rule.Found(orphans))
	}
	return o, nil
}
