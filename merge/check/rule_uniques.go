package check

import (
	"context"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// uniqueRule compares the values of every unique index of the first world, and of
// every unique that the operator declares or has renamed, over all worlds and as the first world's
// collation compares. Rows with a NULL take no part.
var uniqueRule = rule.Rule{
	Codes:  []string{verdict.CodeUniqueCollision},
	Single: true,
	Tasks:  uniqueTasks,
}

func uniqueTasks(f *read.Facts) (tasks []rule.Task) {
	for _, table := range f.Tables {
		if f.Same[table] {
			continue
		}
		for _, u := range f.Uniques(table) {
			tasks = append(tasks, uniqueTask(f, table, u))
		}
	}
	return tasks
}

func uniqueTask(f *read.Facts, table string, u declare.Unique) rule.Task {
	return rule.Task{Code: verdict.CodeUniqueCollision, Tables: []string{table}, Run: func(ctx context.Context, r *read.Reader) (rule.Outcome, error) {
		if u.Unclear != "" {
			return rule.Found(verdict.Result{
				Code: verdict.CodeUniqueCollision, Table: table, Subject: catalog.ColumnList(u.Columns), Columns: u.Columns, Message: "cannot be checked",
				Gaps: []verdict.Gap{{Reason: "index " + u.Name + ": " + u.Unclear}},
			}), nil
		}
		q := read.Question{Code: verdict.CodeUniqueCollision, Table: table, Columns: u.Columns, SkipNull: true,
			None: f.Declared.NoNames(table, u.Columns...), Nobody: declare.BelongToNone(f.Resolved, table, u.Of)}
		read, err := r.Read(ctx, q)
		if err != nil {
			return rule.Outcome{}, err
		}
		if read.Combined, err = combinesAll(ctx, f, r, table, u.Columns, read.Repeats); err != nil {
			return rule.Outcome{}, err
		}
		o := judgeUnique(f, table, u, read)
		renumbered, err := resolveByRenumbering(ctx, &o.Findings[0].Result, f.Resolved, r)
		if renumbered != nil {
			o.Renumbered = []verdict.Renumbered{*renumbered}
		}
		return o, err
	}}
}

func judgeUnique(f *read.Facts, table string, u declare.Unique, read *read.Reading) rule.Outcome {
	result := verdict.Result{
		Code: verdict.CodeUniqueCollision, Table: table, Subject: catalog.ColumnList(u.Columns), Columns: u.Columns,
		Read: read.RowsRead(), Gaps: read.Gaps, Samples: read.Samples,
	}
	describeRepeats(&result, read.Repeats, "value", !u.Declared)
	if u.Declared && u.Name != "" {
		result.Message = u.Name + ": " + result.Message
	}
	disjoint, action := result.Count == 0 && !read.Combined && len(result.Gaps) == 0, ""
	if read.Combined {
		result.Message = "only rows with the same key, which will be combined: " + result.Message
		result.Count, result.Rows, result.Samples = 0, 0, nil
	}
	if why := result.ResolveByRenaming(f.Resolved); why != "" {
		result.Message += "; [[merge.name]] cannot resolve it: " + why
	}
	if result.Alike = f.Alike[table] && result.Count > 0; result.Alike {
		action = "declare the table the same if it is the game's own data; otherwise " + verdict.Documented(result.Code).Action
	}
	return rule.Outcome{
		Findings: []rule.Finding{{Result: result, Action: action}},
		Disjoint: map[declare.ColumnsID]bool{declare.IDOf(table, u.Columns...): disjoint},
	}
}
