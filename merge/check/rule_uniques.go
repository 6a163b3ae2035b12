package check

import (
	"cmp"
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// uniqueRule compares the values of every unique index of the first world, and of
// every unique that the operator declares or has renamed, over all worlds and as the first world's
// collation compares. Rows with a NULL take no part.
var uniqueRule = Rule{
	Codes:  []string{verdict.CodeUniqueCollision},
	Single: true,
	Tasks:  uniqueTasks,
}

func uniqueTasks(f *Facts) (tasks []Task) {
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

func uniqueTask(f *Facts, table string, u rules.Unique) Task {
	return Task{Code: verdict.CodeUniqueCollision, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		some := u.Unclear == catalog.SomeRows
		unclear := func(why string) Outcome {
			return Found(verdict.Result{
				Code: verdict.CodeUniqueCollision, Table: table, Subject: catalog.ColumnList(u.Columns), Columns: u.Columns, Message: "cannot be checked",
				Gaps: []verdict.Gap{{Reason: "index " + u.Name + ": " + u.Unclear + why}},
			})
		}
		if u.Unclear != "" && !some {
			return unclear(""), nil
		}
		q := Question{Code: verdict.CodeUniqueCollision, Table: table, Columns: u.Columns, SkipNull: true,
			None: f.Declared.NoNames(table, u.Columns...), Nobody: rules.BelongToNone(f.Resolved, table, u.Of),
			names: len(f.DBs) > 1 && len(u.Columns) == 1 && namesAreAsked(f, table, u.Columns[0])}
		if some { // if no two of all rows are equal, it covers no such two
			q.None = keys.Values{}
		}
		read, err := keysApart(ctx, r, q)
		if read == nil && err == nil {
			read = numbersApart(r, q)
		}
		if read == nil && err == nil {
			read, err = r.Read(ctx, q)
		}
		if err != nil {
			return Outcome{}, err
		}
		if read.Combined, read.OneKey, err = combinesAll(ctx, f, r, table, u.Columns, read.Repeats); err != nil {
			return Outcome{}, err
		}
		o := judgeUnique(f, table, u, read)
		if equal := o.Findings[0].Count; some && (equal > 0 || read.Combined || read.Renamed > 0) {
			return unclear(", and among all rows " + printable.Count(max(equal, read.Renamed, 1), "value occurs", "values occur") + " more than once"), nil
		}
		if result := &o.Findings[0].Result; some && result.Renamed > 0 {
			result.Message += "; the index " + u.Name + " covers only some of the rows, and one that it does not cover, such as of a deleted player, may keep the name: keep in [[merge.name]] can prefer the others"
		}
		renumbered, err := resolveByRenumbering(ctx, &o.Findings[0].Result, f.Resolved, r)
		if renumbered != nil {
			o.Renumbered = []verdict.Renumbered{*renumbered}
		}
		return o, err
	}}
}

// newNames says how to let the merge give new names.
func newNames(table, column string) string {
	return fmt.Sprintf("let the merge give new names: [[merge.name]] at = %s, template = \"{name}.{source}\"", printable.TOML(rules.Place(table, column)))
}

func judgeUnique(f *Facts, table string, u rules.Unique, read *Reading) Outcome {
	result := verdict.Result{
		Code: verdict.CodeUniqueCollision, Table: table, Subject: catalog.ColumnList(u.Columns), Columns: u.Columns,
		Read: read.RowsRead(), Gaps: read.Gaps, Samples: read.Samples,
	}
	var otherwise []string
	if !u.Declared {
		otherwise = comparedOtherwise(f, table, u.Columns)
	}
	describeRepeats(&result, read.Repeats, "value", otherwise)
	if u.Declared && u.Name != "" {
		result.Message = u.Name + ": " + result.Message
	}
	disjoint, action := result.Count+read.Renamed == 0 && !read.Combined && len(result.Gaps) == 0, ""
	if read.Combined {
		result.Message = "only rows with the same key, which will be combined: " + result.Message
		result.Count, result.Rows, result.Samples = 0, 0, nil
	}
	if why := result.ResolveByRenaming(f.Resolved, read.OneKey); why != "" {
		result.Message += "; [[merge.name]] cannot resolve it: " + why
	} else if _, model := f.ModelOf(table); model != nil && len(u.Columns) == 1 && model.Column(u.Columns[0]).Kind == catalog.KindText {
		action = newNames(table, u.Columns[0]) + "; or rename all but one of each, with every column that repeats the name"
	}
	if result.Alike = f.Alike[table] && result.Count > 0; result.Alike {
		action = "declare the table the same if it is the game's own data; otherwise " + cmp.Or(action, verdict.Documented(result.Code).Action)
	}
	return Outcome{
		Findings: []finding{{Result: result, Action: action}},
		Disjoint: map[rules.ColumnsID]bool{rules.IDOf(table, u.Columns...): disjoint},
	}
}
