package references

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
	"mergesafe/merge/verdict"
)

const noneAmbiguous = "no reference names a key that another database has too"

// considerAmbiguous says how to find the rows that refer to a value which their
// own database has and another has too: whatever becomes of the two rows in the
// merge, these must be made to follow the right one.
//
// If no value of the referred key is in two databases there can be none, and
// nothing need be read. strays are the rows that find the value only in another
// database; they are the business of reference-rebind.
func considerAmbiguous(f *read.Facts, table string, ref declare.Ref, strays *read.StrayReading) rule.Outcome {
	if unambiguous(f, ref) {
		result := ambiguousResult(table, ref)
		for _, db := range f.DBs {
			result.Read += db.Rows[table]
		}
		result.Message = noneAmbiguous
		return rule.Found(result)
	}
	rebound := make(map[*declare.Database]int64)
	for _, s := range strays.Worlds {
		rebound[s.DB] = s.ReboundRows()
	}
	// The rows of every source are compared with the keys of all others.
	tables := append([]string{table}, slices.Repeat([]string{ref.ToTable}, len(f.DBs)-1)...)
	return rule.Outcome{Tasks: []rule.Task{{Code: verdict.CodeReferenceAmbiguous, Tables: tables, Run: func(ctx context.Context, r *read.Reader) (rule.Outcome, error) {
		read, err := r.Follow(read.Followed{Ref: ref, Table: table, All: true, Code: verdict.CodeReferenceAmbiguous, ToCode: verdict.CodeReferenceAmbiguous}).Ambiguous(ctx, rebound)
		if err != nil {
			return rule.Outcome{}, err
		}
		result := judgeAmbiguous(table, ref, read)
		if result.Count > 0 && declare.Follows(f.Resolved, ref) {
			result.Message = printable.Count(result.Count, "row names", "rows name") + " a row by a name that another database has too, and will get its new name by [[merge.name]]"
			result.Count, result.Rows, result.Samples = 0, 0, nil
		}
		for _, n := range f.NameReferences() {
			if result.Count > 0 && n.Why != "" && n.Table == table && n.Column == ref.Columns[0] {
				result.Message += "; they cannot follow the new names of [[merge.name]]: " + n.Why + "; declared plain, the column keeps its names"
			}
		}
		return rule.Found(result), nil
	}}}}
}

func ambiguousResult(table string, ref declare.Ref) verdict.Result {
	return verdict.Result{Code: verdict.CodeReferenceAmbiguous, Table: table, Subject: ref.Subject(), Columns: ref.Columns}
}

func judgeAmbiguous(table string, ref declare.Ref, read *read.AmbiguousReading) verdict.Result {
	result := ambiguousResult(table, ref)
	result.Samples = read.Samples
	var details []string
	for _, s := range read.Worlds {
		if len(s.Gaps) == 0 {
			result.Read += s.DB.Rows[table]
		}
		result.Gaps = append(result.Gaps, s.Gaps...)
		if s.Rows > 0 {
			result.Count += s.Rows
			details = append(details, s.DB.Name+": "+printable.Number(s.Rows))
		}
	}
	result.Rows = result.Count
	result.Without(noneAmbiguous)
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row refers", "rows refer") + " to a key that another database has too: " + catalog.Few(details)
	}
	return result
}

// unambiguous reports whether no value that a reference leads to is in two
// databases, as was found before. That holds for what refers to it only if
// all databases compare it alike.
func unambiguous(f *read.Facts, ref declare.Ref) bool {
	if f.Same[ref.ToTable] || f.Combined[ref.ToTable] != nil {
		return true
	}
	_, model := f.ModelOf(ref.ToTable)
	for _, t := range f.Having(ref.ToTable) {
		for _, name := range ref.ToColumns {
			if t.Column(name) == nil || model.Column(name) == nil || t.Column(name).Collation != model.Column(name).Collation {
				return false
			}
		}
	}
	return f.Disjoint[declare.IDOf(ref.ToTable, ref.ToColumns...)]
}
