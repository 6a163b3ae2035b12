package check

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// asking is the declared references of a table with rows to be told apart.
type asking string

// kindTask asks for the rows of a declared reference that match no key, if they are so many that it is worth it. The first such reference
// of a table returns the task that reads them for all. A reference that is not about all rows, or not to numbers, has none.
func kindTask(f *Facts, r *Reader, ref rules.Ref, dangling int64) []Task {
	about := dangling >= LeastMissing && len(ref.Columns) == 1 && ref.Space == "" && ref.When == nil && len(ref.Except) == 0
	if !about || len(f.DBs) < 2 {
		return nil
	}
	asked, known := r.Kept[asking(ref.Table)].([]rules.Ref)
	r.Kept[asking(ref.Table)] = append(asked, ref)
	if known {
		return nil
	}
	return []Task{{Code: verdict.CodeReferenceTwoKinds, Tables: []string{ref.Table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		return judgeAll(ctx, OpenReader{Reader: r, Code: verdict.CodeReferenceTwoKinds}, ref.Table)
	}}}
}

// judgeAll reads a table once for all of its references that were asked about.
func judgeAll(ctx context.Context, r OpenReader, table string) (o Outcome, err error) {
	var all []*Rows
	var questions []GroupQuestion
	refs, _ := r.Kept[asking(table)].([]rules.Ref)
	for _, ref := range refs {
		rows, err := Of(ctx, r, &ref, counted(r.Facts))
		if err != nil {
			return o, err
		}
		if rows != nil {
			all, questions = append(all, rows), append(questions, rows.Question(r.Facts, len(refs)))
		}
	}
	if err := Read(ctx, r.Reader, r.Code, table, questions); err != nil {
		return o, err
	}
	for _, rows := range all {
		if s := rows.Split(); s != nil {
			o.Add(Found(result(s, rows.ref)))
		}
	}
	return o, nil
}

// counted are the keys that each world counts by itself, as far as the rules tell: none that names rows itself.
func counted(f *Facts) (all []rules.ColumnName) {
	for _, table := range rules.KeyTables(f.Resolved) {
		_, model := rules.KeyModel(f.Resolved, table)
		key := model.Key()
		if len(key) == 1 && f.Unsaid(table, key[0]) && !slices.Contains(f.IDColumns(table), key[0]) {
			all = append(all, rules.ColumnName{Table: table, Column: key[0]})
		}
	}
	return all
}

// result says that a declared reference names two kinds of things.
func result(s *Split, ref *rules.Ref) verdict.Result {
	result := verdict.Result{Code: verdict.CodeReferenceTwoKinds, Table: ref.Table, Subject: ref.Subject(), Columns: ref.Columns, Message: s.Evidence, Rows: s.Covered}
	result.Gaps = []verdict.Gap{{Reason: "these rows would get new values, or keep them, as if they referred to such a key"}}
	declared := rules.DeclaredReference{To: []string{referenceTarget(ref)}, At: []string{rules.Place(ref.Table, ref.Columns[0])}, None: ref.Declared.None, When: s.When()}
	all, rest := s.References(declared)
	result.Next = []string{"instead of what is declared: " + verdict.ReferenceLine(declared)}
	for _, r := range all[1:] {
		result.Next = append(result.Next, verdict.ReferenceLine(r))
	}
	if len(rest) > 0 {
		result.Next = append(result.Next, fmt.Sprintf("for rows in which %s is %s: another [[check.reference]]; or, if they refer to nothing, others = \"plain\" in one of these; mergecheck -explain %s shows which keys the values match",
			s.By, catalog.Enumerated(rest), declared.At[0]))
	}
	return result
}
