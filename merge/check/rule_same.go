package check

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// sameRule proves that tables which are declared the same in every world are so, row
// by row. Their keys are no conflicts, and to refer to them is the same everywhere. It doubts
// columns that are declared shared: see sharedTasks.
var sameRule = Rule{
	Codes: []string{verdict.CodeTableDiffers},
	Tasks: sameTasks,
}

func sameTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		if !f.Same[table] {
			continue
		}
		tasks = append(tasks, Task{Code: verdict.CodeTableDiffers, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			result, err := compareSame(ctx, f, r, verdict.Result{Code: verdict.CodeTableDiffers, Table: table}, nil)
			return Found(result), err
		}})
	}
	for _, kept := range f.Keeps.Rows(f.Tables) {
		result := verdict.Result{Code: verdict.CodeTableDiffers, Table: kept.Table, Subject: kept.Column + " " + kept.Keys, Columns: []string{kept.Column}}
		tasks = append(tasks, Task{Code: verdict.CodeTableDiffers, Tables: []string{kept.Table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			result, err := compareSame(ctx, f, r, result, kept)
			return Found(result), err
		}})
	}
	return append(tasks, sharedTasks(f)...)
}

// compareSame compares the rows of a table in all databases, or only some.
func compareSame(ctx context.Context, f *Facts, r *Reader, result verdict.Result, only catalog.Withheld) (verdict.Result, error) {
	table := result.Table
	model, _ := f.ModelOf(table)
	var want, of string
	var in []string
	others := slices.DeleteFunc(slices.Clone(f.DBs), func(db *rules.Database) bool { return db == model || db.Tables[table] == nil })
	for _, db := range append([]*rules.Database{model}, others...) {
		sum, rows, unread, err := r.Contents(ctx, db, table, only)
		switch {
		case err != nil:
			return result, err
		case unread != "":
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: unread})
			continue
		}
		result.Read += rows
		if want == "" {
			want, of = sum, printable.Count(rows, "row", "rows")
		} else if sum != want {
			result.Count++
			result.Rows += rows
			in = append(in, db.Name+": "+printable.Count(rows, "row", "rows"))
		}
	}
	result.Without("the rows are the same in every database")
	if result.Count > 0 {
		result.Message = "the rows are not those of " + model.Name + ", " + of + ": " + catalog.Few(in)
	}
	return result, nil
}
