package check

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

const noneAmbiguous = "no reference names a key that also exists in another database"

// considerAmbiguous says how to find the rows that refer to a value which their
// own database has and another has too: whatever becomes of the two rows in the
// merge, these must be made to follow the right one.
//
// If no value of the referred key is in two databases there can be none, and
// nothing need be read. strays are the rows that find the value only in another
// database; they are the business of reference-rebind.
func considerAmbiguous(f *Facts, ref rules.Ref, strays *strayReading) Outcome {
	if unambiguous(f, ref) {
		result := ambiguousResult(ref)
		for _, db := range f.DBs {
			result.Read += db.Rows[ref.Table]
		}
		result.Message = noneAmbiguous
		return Found(result)
	}
	rebound := make(map[*rules.Database]int64)
	for _, s := range strays.Worlds {
		rebound[s.DB] = s.reboundRows()
	}
	// The rows of every source are compared with the keys of all others.
	tables := append([]string{ref.Table}, slices.Repeat([]string{ref.ToTable}, len(f.DBs)-1)...)
	return Outcome{Tasks: []Task{{Code: verdict.CodeReferenceAmbiguous, Tables: tables, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
		read, err := follower{r, ref, true, verdict.CodeReferenceAmbiguous, verdict.CodeReferenceAmbiguous}.ambiguous(ctx, rebound)
		if err != nil {
			return Outcome{}, err
		}
		result := judgeAmbiguous(ref, read)
		if result.Count > 0 && rules.Follows(f.Resolved, ref) {
			result.Message = printable.Count(result.Count, "row names", "rows name") + " a row by a name that also exists in another database; [[merge.name]] will change it to the new name"
			result.Count, result.Rows, result.Samples = 0, 0, nil
		}
		for _, n := range f.NameReferences() {
			if result.Count > 0 && n.Why != "" && n.Table == ref.Table && n.Column == ref.Columns[0] {
				result.Message += "; they cannot follow the new names of [[merge.name]]: " + n.Why + "; if it is declared plain, the column keeps its names"
			}
		}
		return Found(result), nil
	}}}}
}

func ambiguousResult(ref rules.Ref) verdict.Result {
	return verdict.Result{Code: verdict.CodeReferenceAmbiguous, Table: ref.Table, Subject: ref.Subject(), Columns: ref.Columns}
}

func judgeAmbiguous(ref rules.Ref, read *ambiguousReading) verdict.Result {
	result := ambiguousResult(ref)
	result.Samples = read.Samples
	var details []string
	for _, s := range read.Worlds {
		if len(s.Gaps) == 0 {
			result.Read += s.DB.Rows[ref.Table]
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
		result.Message = printable.Count(result.Count, "row refers", "rows refer") + " to a key that also exists in another database: " + catalog.Few(details)
	}
	return result
}

// unambiguous reports whether no value that a reference leads to is in two
// databases, as was found before. That holds for what refers to it only if
// all databases compare it alike.
func unambiguous(f *Facts, ref rules.Ref) bool {
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
	return f.Disjoint[rules.IDOf(ref.ToTable, ref.ToColumns...)]
}
