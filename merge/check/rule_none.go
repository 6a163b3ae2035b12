package check

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// noneRule looks for keys that exist although none of a reference to them has their values:
// rows that refer to them would keep the value, whatever becomes of the key.
var noneRule = Rule{Codes: []string{verdict.CodeReferenceNone}, Tasks: noneTasks}

func noneTasks(f *Facts) (tasks []Task) {
	for _, table := range f.Tables {
		for _, ref := range f.Declared.Those(table, (*rules.Ref).HasNone) {
			tasks = append(tasks, Task{Code: verdict.CodeReferenceNone, Tables: nil, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
				read := &noneReader{Reader: r, ref: ref, numbers: keys.Set{Exact: true}, words: make(map[string]bool)}
				return read.judge(ctx)
			}})
		}
	}
	return tasks
}

// judge reads the keys first: usually there are none, and then no row is read.
func (r *noneReader) judge(ctx context.Context) (o Outcome, err error) {
	ref := r.ref
	if r.none, err = keys.ParseValues(ref.Declared.None); err != nil {
		return o, err
	}
	result := verdict.Result{Code: verdict.CodeReferenceNone, Table: ref.Table, Subject: ref.Subject(), Columns: ref.Columns}
	keys, there := int64(0), []string(nil)
	for _, db := range r.Facts.DBs {
		n := int64(0)
		for _, to := range ref.Targets(0) {
			if err := r.readKeys(ctx, db, to, &n); err != nil {
				return o, err
			}
		}
		if keys += n; n > 0 {
			there = append(there, db.Name+": "+printable.Number(n))
		}
	}
	if keys == 0 {
		return o, nil
	}
	r.numbers.Finish()
	for db, t := range r.Facts.Having(ref.Table) {
		before := r.rows.Rows
		if err := r.readRows(ctx, db, t); err != nil {
			return o, err
		}
		if n := r.rows.Rows - before; n > 0 {
			why := printable.Count(n, "row refers to such a key but would keep its value", "rows refer to such a key but would keep their values")
			result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: why})
		}
	}
	if r.rows.Rows == 0 {
		return o, nil
	}
	result.Rows = r.rows.Rows
	existing := printable.Count(keys, "key that exists, or will", "keys that exist, or will")
	referring := printable.Count(result.Rows, "row refers", "rows refer")
	result.Message = fmt.Sprintf("none includes values of %s (%s), but %s to one of these: %s", existing, catalog.Few(there), referring, catalog.Enumerated(r.examples))
	result.Samples, err = r.show(ctx)
	return Found(result), err
}
