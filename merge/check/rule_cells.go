package check

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// CellRule judges whether the keys inside cells can be found, and given new values.
var CellRule = Rule{
	Codes:  []string{verdict.CodeCellFormat},
	Single: true,
	Tasks:  cellTasks,
}

// cellTasks reads each column with keys in cells, after the keys have got their new values.
func cellTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		_, model := f.ModelOf(table)
		for i := range model.Columns {
			at := rules.ColumnName{Table: table, Column: model.Columns[i].Name}
			refs := f.Declared.InCellsOf(at)
			if len(refs) == 0 {
				continue
			}
			tasks = append(tasks, Task{Code: verdict.CodeCellFormat, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
				result, err := judgeCells(ctx, f, r, at, refs)
				return Found(result), err
			}})
		}
	}
	return tasks
}

// judgeCells reads the cells of a column in all databases, and says what is wrong with them.
func judgeCells(ctx context.Context, f *Facts, r *Reader, at rules.ColumnName, refs []*rules.Ref) (verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeCellFormat, Table: at.Table, Subject: at.Column, Columns: []string{at.Column}}
	keys := int64(0)
	var kept []stream.Conflict
	var wrong []string
	for db, t := range f.Having(at.Table) {
		if t.Column(at.Column) == nil {
			continue
		}
		read := &cellPass{db: db, at: at, refs: refs}
		if err := read.read(ctx, r, verdict.CodeCellFormat, t); err != nil {
			return result, err
		}
		result.Read += read.rows
		keys += read.keys
		result.Count += read.broken.Rows
		kept = append(kept, read.broken.Kept...)
		if read.wrong != "" {
			wrong = append(wrong, db.Name+": "+read.wrong)
		}
		if read.large > 0 {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%s to more than 256 KiB by new keys: it was not tested whether the new database accepts such rows (max_allowed_packet)", printable.Count(read.large, "cell grows", "cells grow"))})
		}
		if read.others > 0 {
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%s a tag that no format covers, such as %s", printable.Count(read.others, "number has", "numbers have"), read.other)})
		}
	}
	result.Rows = result.Count
	result.Message = printable.Count(keys, "key", "keys") + " in the cells"
	if result.Count > 0 {
		result.Message = fmt.Sprintf("%s wrong: %s", printable.Count(result.Count, "cell is", "cells are"), catalog.Few(wrong))
	}
	var err error
	result.Samples, err = r.Samples(ctx, kept, at.Table, []string{at.Column})
	return result, err
}
