package check

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
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

// cellColumn is a column with keys in its cells.
type cellColumn struct {
	at   rules.ColumnName
	refs []*rules.Ref // that are about it
}

// cellTasks reads each table with keys in cells, after the keys have got their new values.
func cellTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		_, model := f.ModelOf(table)
		var columns []cellColumn
		for i := range model.Columns {
			at := rules.ColumnName{Table: table, Column: model.Columns[i].Name}
			if refs := f.Declared.InCellsOf(at); len(refs) > 0 {
				columns = append(columns, cellColumn{at, refs})
			}
		}
		if len(columns) > 0 {
			tasks = append(tasks, Task{Code: verdict.CodeCellFormat, Tables: []string{table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
				results, err := judgeCells(ctx, f, r, table, columns)
				return Found(results...), err
			}})
		}
	}
	return tasks
}

// judgeCells reads the cells of a table in all databases, and says of each column what is wrong with them.
func judgeCells(ctx context.Context, f *Facts, r *Reader, table string, columns []cellColumn) (results []verdict.Result, err error) {
	passes := make([][]*cellPass, len(columns))
	for db, t := range f.Having(table) {
		there := slices.DeleteFunc(slice.Map(columns, func(c cellColumn) string { return c.at.Column }), func(name string) bool { return t.Column(name) == nil })
		if len(there) == 0 {
			continue
		}
		carry := t.RowKey(there)
		s := r.Stream(db, verdict.CodeCellFormat, len(carry), catalog.Scan{Table: table, Carry: slices.Clip(carry), Unsorted: true})
		for i, c := range columns {
			if t.Column(c.at.Column) != nil {
				read := &cellPass{db: db, at: c.at, refs: c.refs}
				read.visit(r, s)
				passes[i] = append(passes[i], read)
			}
		}
		if err := s.Drain(ctx); err != nil {
			return nil, err
		}
	}
	for i, c := range columns {
		result, err := judgeCellColumn(ctx, r, c.at, passes[i])
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}

func judgeCellColumn(ctx context.Context, r *Reader, at rules.ColumnName, passes []*cellPass) (verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeCellFormat, Table: at.Table, Subject: at.Column, Columns: []string{at.Column}}
	keys := int64(0)
	var kept []stream.Conflict
	var wrong []string
	for _, read := range passes {
		result.Read += read.rows
		keys += read.keys
		result.Count += read.broken.Rows
		kept = append(kept, read.broken.Kept...)
		if read.wrong != "" {
			wrong = append(wrong, read.db.Name+": "+read.wrong)
		}
		if read.large > 0 {
			result.Gaps = append(result.Gaps, verdict.Gap{World: read.db.Name, Reason: fmt.Sprintf("%s to more than 256 KiB with new keys: whether the new database accepts such rows was not tested (max_allowed_packet)", printable.Count(read.large, "cell grows", "cells grow"))})
		}
		if read.others > 0 {
			result.Gaps = append(result.Gaps, verdict.Gap{World: read.db.Name, Reason: fmt.Sprintf("%s a tag that no format covers, such as %s", printable.Count(read.others, "number has", "numbers have"), read.other)})
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
