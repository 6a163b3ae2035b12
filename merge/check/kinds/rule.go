package kinds

import (
	"context"
	"fmt"

	"mergesafe/internal/printable"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/check/undeclared"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// Task looks at the rows of a declared reference that match no key; nil if it is not about all rows, or not about numbers that are whole cells.
// A rule asks for it if there are such rows.
func Task(f *read.Facts, table string, ref declare.Ref) []rule.Task {
	about := len(ref.Columns) == 1 && ref.Space == "" && ref.Cells == nil && ref.When == nil && len(ref.Except) == 0
	if !about || len(f.DBs) < 2 || !f.Wants(verdict.CodeReferenceTwoKinds, table, ref.Subject()) {
		return nil
	}
	id := declare.IDOf(table, ref.Columns...)
	id.Columns += ref.Identity()
	return []rule.Task{{ID: rule.TaskID{Code: verdict.CodeReferenceTwoKinds, Columns: id}, Tables: []string{table}, Run: func(ctx context.Context, r *read.Reader) (rule.Outcome, error) {
		s, err := Find(ctx, undeclared.OpenReader{Reader: r, Code: verdict.CodeReferenceTwoKinds}, &ref)
		if s == nil || err != nil {
			return rule.Outcome{}, err
		}
		result := verdict.Result{Code: verdict.CodeReferenceTwoKinds, Table: table, Subject: ref.Subject(), Columns: ref.Columns, Message: s.Evidence, Rows: s.covered}
		result.Gaps = []verdict.Gap{{Reason: "these rows would get new values, or keep them, as if they named such a key"}}
		result.Next = []string{fmt.Sprintf("in the [[check.reference]]: when = { column = %s, is = %s }, and say what the other rows are: a reference of their own, or others = \"plain\"",
			printable.TOML(s.By), verdict.TomlValues(s.Is))}
		return rule.Found(result), nil
	}}}
}
