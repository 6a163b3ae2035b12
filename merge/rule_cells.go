package merge

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
)

// cellRule judges whether the keys inside cells can be found, and given new values.
func cellRule() rule {
	return rule{
		codes: []string{CodeCellFormat},
		tasks: cellTasks,
	}
}

// cellTasks reads each column with keys in cells, after the keys have got their new values.
func cellTasks(f *facts) (tasks []task) {
	for _, table := range f.tables {
		_, model := f.model(table)
		for i := range model.Columns {
			at := columnName{table, model.Columns[i].Name}
			refs := f.declared.inCellsOf(at)
			if len(refs) == 0 || !f.wants(CodeCellFormat, table, at.column) {
				continue
			}
			tasks = append(tasks, task{taskID{code: CodeCellFormat, columns: idOf(table, at.column)}, []string{table}, func(ctx context.Context, r *reader) (outcome, error) {
				result, err := judgeCells(ctx, f, r, at, refs)
				return found(result), err
			}})
		}
	}
	return tasks
}

// judgeCells reads the cells of a column in all databases, and says what is wrong with them.
func judgeCells(ctx context.Context, f *facts, r *reader, at columnName, refs []*reference) (Result, error) {
	result := Result{Code: CodeCellFormat, Table: at.table, Subject: at.column, Columns: []string{at.column}}
	keys := int64(0)
	var kept []conflict
	var wrong []string
	for db, t := range f.having(at.table) {
		if t.column(at.column) == nil {
			continue
		}
		read := &cellPass{db: db, at: at, refs: refs}
		if err := read.read(ctx, r, CodeCellFormat, t); err != nil {
			return result, err
		}
		result.Read += read.rows
		keys += read.keys
		result.Count += read.broken.rows
		kept = append(kept, read.broken.kept...)
		if read.wrong != "" {
			wrong = append(wrong, db.name+": "+read.wrong)
		}
		if read.large > 0 {
			result.Gaps = append(result.Gaps, Gap{db.name, fmt.Sprintf("%s to more than 256 KiB by new keys: it was not tested whether the target accepts such rows (max_allowed_packet)", printable.Count(read.large, "cell grows", "cells grow"))})
		}
		if read.others > 0 {
			result.Gaps = append(result.Gaps, Gap{db.name, fmt.Sprintf("%s a tag that no format covers, such as %s", printable.Count(read.others, "number has", "numbers have"), read.other)})
		}
	}
	result.Rows = result.Count
	result.Message = printable.Count(keys, "key", "keys") + " in the cells"
	if result.Count > 0 {
		result.Message = fmt.Sprintf("%s wrong: %s", printable.Count(result.Count, "cell is", "cells are"), few(wrong))
	}
	var err error
	result.Samples, err = r.samples(ctx, kept, at.table, []string{at.column})
	return result, err
}
