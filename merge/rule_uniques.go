package merge

import (
	"context"
)

// uniqueRule compares the values of every unique index of the target, and of
// every unique that the operator declares or has renamed, over all sources and as the target's
// collation compares. Rows with a NULL take no part.
func uniqueRule() rule {
	return rule{
		codes: []string{CodeUniqueCollision},
		tasks: uniqueTasks,
	}
}

func uniqueTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		if f.same[table] {
			continue
		}
		for _, u := range f.uniques(table) {
			if f.wants(CodeUniqueCollision, table, columnList(u.Columns)) {
				tasks = append(tasks, uniqueTask(f, table, u))
			}
		}
	}
	return tasks
}

func uniqueTask(f *facts, table string, u unique) task {
	return task{taskID{code: CodeUniqueCollision, columns: idOf(table, u.Columns...)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
		if u.Unclear != "" {
			return found(Result{
				Code: CodeUniqueCollision, Table: table, Subject: columnList(u.Columns), Columns: u.Columns, Message: "cannot be checked",
				Gaps: []Gap{{Reason: "index " + u.Name + ": " + u.Unclear}},
			}), nil
		}
		none, err := NoNames(f.opts, table, u.Columns...)
		if err != nil {
			return outcome{}, err
		}
		q := question{code: CodeUniqueCollision, table: table, columns: u.Columns, skipNull: true, none: none}
		q.nobody = belongToNone(f.resolved, table, u.of)
		read, err := r.read(ctx, q)
		if err != nil {
			return outcome{}, err
		}
		if read.combined, err = combinesAll(ctx, f, r, table, u.Columns, read.repeats); err != nil {
			return outcome{}, err
		}
		o := judgeUnique(f, table, u, read)
		renumbered, err := o.findings[0].resolveByRenumbering(ctx, f.resolved, r)
		if renumbered != nil {
			o.renumbered = []Renumbered{*renumbered}
		}
		return o, err
	}}
}

func judgeUnique(f *facts, table string, u unique, read *reading) outcome {
	result := Result{
		Code: CodeUniqueCollision, Table: table, Subject: columnList(u.Columns), Columns: u.Columns,
		Read: read.rowsRead(), Gaps: read.gaps, Samples: read.samples,
	}
	result.describe(read.repeats, "value", !u.declared)
	if u.declared && u.Name != "" {
		result.Message = u.Name + ": " + result.Message
	}
	disjoint, action := result.Count == 0 && !read.combined && len(result.Gaps) == 0, ""
	if read.combined {
		result.Message = "only rows with the same key, which will be combined: " + result.Message
		result.Count, result.Rows, result.Samples = 0, 0, nil
	}
	if why := result.resolveByRenaming(f.resolved); why != "" {
		result.Message += "; [[merge.name]] cannot resolve it: " + why
	}
	if result.Alike = f.alike[table] && result.Count > 0; result.Alike {
		action = "declare the table the same if it is the game's own data; otherwise " + documented(result.Code).Action
	}
	return outcome{
		findings: []finding{{Result: result, action: action}},
		disjoint: map[columnsID]bool{idOf(table, u.Columns...): disjoint},
	}
}
