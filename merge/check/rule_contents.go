package check

import (
	"context"

	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
)

// contentsRule sums up the rows of every table, if the operator wants that. It
// judges nothing: [Compare] compares the sums of two reports.
var contentsRule = rule.Rule{Tasks: contentsTasks}

func contentsTasks(f *read.Facts) (tasks []rule.Task) {
	if !f.Opts.Contents || len(f.Opts.Only) > 0 {
		return nil
	}
	for _, table := range f.Tables {
		tasks = append(tasks, rule.Task{ID: rule.TaskID{Code: "contents", Columns: declare.IDOf(table)}, Tables: []string{table}, Run: func(ctx context.Context, r *read.Reader) (o rule.Outcome, err error) {
			for db := range f.Having(table) {
				c := read.Contents{DB: db, Table: table}
				if c.Sum, _, c.Unread, err = r.Contents(ctx, db, table, nil); err != nil {
					return rule.Outcome{}, err
				}
				o.Contents = append(o.Contents, c)
			}
			return o, nil
		}})
	}
	return tasks
}
