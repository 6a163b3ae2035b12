package kinds

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/check/kinds/groups"
	"mergesafe/merge/check/kinds/tell"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/check/undeclared"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

// asking is the declared references of a table with rows to be told apart.
type asking string

// Task asks for the rows of a declared reference that match no key, if they are so many that it is worth it. The first such reference
// of a table returns the task that reads them for all. A reference that is not about all rows, or not to numbers, has none.
func Task(f *read.Facts, r *read.Reader, table string, ref declare.Ref, dangling int64) []rule.Task {
	about := dangling >= tell.LeastMissing && len(ref.Columns) == 1 && ref.Space == "" && ref.When == nil && len(ref.Except) == 0
	if !about || len(f.DBs) < 2 {
		return nil
	}
	ref.Table = table // a foreign key does not know
	asked, known := r.Kept[asking(table)].([]declare.Ref)
	r.Kept[asking(table)] = append(asked, ref)
	if known {
		return nil
	}
	return []rule.Task{{Code: verdict.CodeReferenceTwoKinds, Tables: []string{table}, Run: func(ctx context.Context, r *read.Reader) (rule.Outcome, error) {
		return judgeAll(ctx, undeclared.OpenReader{Reader: r, Code: verdict.CodeReferenceTwoKinds}, table)
	}}}
}

// judgeAll reads a table once for all of its references that were asked about.
func judgeAll(ctx context.Context, r undeclared.OpenReader, table string) (o rule.Outcome, err error) {
	var all []*Rows
	var questions []groups.Question
	refs, _ := r.Kept[asking(table)].([]declare.Ref)
	for _, ref := range refs {
		rows, err := Of(ctx, r, &ref, counted(r.Facts))
		if err != nil {
			return o, err
		}
		if rows != nil {
			all, questions = append(all, rows), append(questions, rows.Question(r.Facts, len(refs)))
		}
	}
	if err := groups.Read(ctx, r.Reader, r.Code, table, questions); err != nil {
		return o, err
	}
	for _, rows := range all {
		if s := rows.Split(); s != nil {
			o.Add(rule.Found(result(s, table, rows.ref)))
		}
	}
	return o, nil
}

// counted are the keys that each world counts by itself, as far as the rules tell: none that names rows itself.
func counted(f *read.Facts) (all []declare.ColumnName) {
	for _, table := range declare.KeyTables(f.Resolved) {
		_, model := declare.KeyModel(f.Resolved, table)
		key := model.Key()
		if len(key) == 1 && f.Declared.Role(table, key[0]).Kind == declare.RoleOpen && !declare.ForeignKey(f.Resolved, table, key[0]) && !slices.Contains(f.IDColumns(table), key[0]) {
			all = append(all, declare.ColumnName{Table: table, Column: key[0]})
		}
	}
	return all
}

// result says that a declared reference names two kinds of things.
func result(s *tell.Split, table string, ref *declare.Ref) verdict.Result {
	result := verdict.Result{Code: verdict.CodeReferenceTwoKinds, Table: table, Subject: ref.Subject(), Columns: ref.Columns, Message: s.Evidence, Rows: s.Covered}
	result.Gaps = []verdict.Gap{{Reason: "these rows would get new values, or keep them, as if they named such a key"}}
	result.Next = []string{fmt.Sprintf("in the [[check.reference]]: %s, and say what the other rows are: a reference of their own, or others = \"plain\"", verdict.WhenTOML(s.When()))}
	return result
}
