package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

// sameRule proves that tables which are declared the same in every world are so, row
// by row. Their keys are no conflicts, and to refer to them is the same everywhere.
func sameRule() rule {
	return rule{
		codes: []string{CodeTableDiffers},
		tasks: sameTasks,
	}
}

func sameTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		if !f.same[table] || !f.wants(CodeTableDiffers, table, "") {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeTableDiffers, columns: idOf(table)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
			result, err := compareSame(ctx, f, r, Result{Code: CodeTableDiffers, Table: table}, nil)
			return found(result), err
		}})
	}
	for _, kept := range f.keeps.rows(f.tables) {
		result := Result{Code: CodeTableDiffers, Table: kept.Table, Subject: kept.Column + " " + kept.Keys, Columns: []string{kept.Column}}
		if !f.wants(CodeTableDiffers, kept.Table, result.Subject) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeTableDiffers, columns: idOf(kept.Table, kept.Column)}, []string{kept.Table}, func(ctx context.Context, r *reader) (outcome, error) {
			result, err := compareSame(ctx, f, r, result, kept)
			return found(result), err
		}})
	}
	return tasks
}

// compareSame compares the rows of a table in all databases, or only some.
func compareSame(ctx context.Context, f *facts, r *reader, result Result, only Withheld) (Result, error) {
	table := result.Table
	model, _ := f.model(table)
	var want, of string
	var in []string
	others := slices.DeleteFunc(slices.Clone(f.dbs), func(db *database) bool { return db == model || db.tables[table] == nil })
	for _, db := range append([]*database{model}, others...) {
		sum, rows, unread, err := r.contents(ctx, db, table, only)
		switch {
		case err != nil:
			return result, err
		case unread != "":
			result.Gaps = append(result.Gaps, Gap{db.name, unread})
			continue
		}
		result.Read += rows
		if want == "" {
			want, of = sum, printable.Count(rows, "row", "rows")
		} else if sum != want {
			result.Count++
			result.Rows += rows
			in = append(in, db.name+": "+printable.Count(rows, "row", "rows"))
		}
	}
	result.without("the rows are the same in every database")
	if result.Count > 0 {
		result.Message = "the rows are not those of " + model.name + ", " + of + ": " + few(in)
	}
	return result, nil
}
