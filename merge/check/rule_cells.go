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

// cellColumn is a column with keys in its cells. Whether these can be found, and given new values, is judged while
// [ReferenceRule] looks where they lead.
type cellColumn struct {
	at     rules.ColumnName
	refs   []*rules.Ref // that are about it
	passes []*cellPass  // by database that has it
}

// cellColumns are those of a table.
func cellColumns(f *Facts, table string) (all []*cellColumn) {
	_, model := f.ModelOf(table)
	for i := range model.Columns {
		at := rules.ColumnName{Table: table, Column: model.Columns[i].Name}
		if refs := f.Declared.InCellsOf(at); len(refs) > 0 {
			all = append(all, &cellColumn{at: at, refs: refs})
		}
	}
	return all
}

// judgeCells says what is wrong with the cells of a column.
func judgeCells(ctx context.Context, r *Reader, c *cellColumn) (verdict.Result, error) {
	at := c.at
	result := verdict.Result{Code: verdict.CodeCellFormat, Table: at.Table, Subject: at.Column, Columns: []string{at.Column}}
	keys := int64(0)
	var kept []stream.Conflict
	var wrong []string
	for _, read := range c.passes {
		result.Read += read.rows
		if read.unread != "" {
			result.Gaps = append(result.Gaps, verdict.Gap{World: read.db.Name, Reason: read.unread})
		}
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
