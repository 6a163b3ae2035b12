package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

const noneAmbiguous = "no reference names a key that another database has too"

// considerAmbiguous says how to find the rows that refer to a value which their
// own database has and another has too: whatever becomes of the two rows in the
// merge, these must be made to follow the right one.
//
// If no value of the referred key is in two databases there can be none, and
// nothing need be read. strays are the rows that find the value only in another
// database; they are the business of reference-rebind.
func considerAmbiguous(f *facts, table string, ref reference, strays *strayReading) outcome {
	if !f.wants(CodeReferenceAmbiguous, table, ref.subject()) {
		return outcome{}
	}
	if unambiguous(f, ref) {
		result := ambiguousResult(table, ref)
		for _, db := range f.dbs {
			result.Read += db.rows[table]
		}
		result.Message = noneAmbiguous
		return found(result)
	}
	rebound := make(map[*database]int64)
	for _, s := range strays.sources {
		rebound[s.db] = s.reboundRows()
	}
	// The rows of every source are compared with the keys of all others.
	tables := append([]string{table}, slices.Repeat([]string{ref.ToTable}, len(f.dbs)-1)...)
	return outcome{tasks: []task{{referenceID(CodeReferenceAmbiguous, table, ref), tables, func(ctx context.Context, r *reader) (outcome, error) {
		read, err := r.follow(followed{ref, table, true, CodeReferenceAmbiguous, CodeReferenceAmbiguous}).ambiguous(ctx, rebound)
		if err != nil {
			return outcome{}, err
		}
		result := judgeAmbiguous(table, ref, read)
		if result.Count > 0 && follows(f.resolved, ref) {
			result.Message = printable.Count(result.Count, "row names", "rows name") + " a row by a name that another database has too, and will get its new name by [[merge.name]]"
			result.Count, result.Rows, result.Samples = 0, 0, nil
		}
		return found(result), nil
	}}}}
}

func ambiguousResult(table string, ref reference) Result {
	return Result{Code: CodeReferenceAmbiguous, Table: table, Subject: ref.subject(), Columns: ref.Columns}
}

func judgeAmbiguous(table string, ref reference, read *ambiguousReading) Result {
	result := ambiguousResult(table, ref)
	result.Samples = read.samples
	var details []string
	for _, s := range read.sources {
		if len(s.gaps) == 0 {
			result.Read += s.db.rows[table]
		}
		result.Gaps = append(result.Gaps, s.gaps...)
		if s.rows > 0 {
			result.Count += s.rows
			details = append(details, s.db.name+": "+printable.Number(s.rows))
		}
	}
	result.Rows = result.Count
	result.without(noneAmbiguous)
	if result.Count > 0 {
		result.Message = printable.Count(result.Count, "row refers", "rows refer") + " to a key that another database has too: " + few(details)
	}
	return result
}

// unambiguous reports whether no value that a reference leads to is in two
// databases, as was found before. That holds for what refers to it only if
// all databases compare it alike.
func unambiguous(f *facts, ref reference) bool {
	if f.same[ref.ToTable] || f.combined[ref.ToTable] != nil {
		return true
	}
	_, model := f.model(ref.ToTable)
	for _, t := range f.having(ref.ToTable) {
		for _, name := range ref.ToColumns {
			if t.column(name) == nil || model.column(name) == nil || t.column(name).Collation != model.column(name).Collation {
				return false
			}
		}
	}
	return f.disjoint[idOf(ref.ToTable, ref.ToColumns...)]
}
