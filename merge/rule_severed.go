package merge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// severedRule counts the rows that refer to rows which stay behind, where it is said what
// becomes of them.
func severedRule() rule {
	return rule{codes: []string{CodeReferenceSevered}, tasks: severedTasks}
}

func severedTasks(f *facts) (tasks []task) {
	for _, s := range f.severed {
		if !f.wants(CodeReferenceSevered, s.Table, s.ref.subject()) {
			continue
		}
		id := referenceID(CodeReferenceSevered, s.Table, *s.ref)
		id.columns.columns += s.ref.identity()
		tasks = append(tasks, task{id, nil, func(ctx context.Context, r *reader) (outcome, error) { return judgeSevered(ctx, f, r, s) }})
	}
	return tasks
}

func judgeSevered(ctx context.Context, f *facts, r *reader, s *severed) (o outcome, err error) {
	result := Result{Code: CodeReferenceSevered, Table: s.Table, Subject: s.ref.subject(), Columns: s.ref.Columns}
	now := s.Severed
	var parts, orphans []string
	if now.Counts = []int64{}; !s.stays {
		for _, db := range sourcesOf(f.resolved) {
			n, left := int64(0), []string(nil)
			if db.tables[s.Table] != nil {
				result.Read += db.rows[s.Table]
				if n, err = r.referring(ctx, db, s.Table, s, nil); err != nil {
					return o, err
				}
			}
			if now.Counts = append(now.Counts, n); n > 0 {
				parts = append(parts, db.name+": "+printable.Number(n))
				if left, err = orphaned(ctx, f, r, db, s, &result); err != nil {
					return o, err
				}
			}
			orphans = append(orphans, left...)
		}
	}
	own, err := judgeTakenOut(ctx, f, r, s)
	if err != nil {
		return o, err
	}
	if o = found(own...); s.stays {
		return o, nil
	}
	becomes := "are copied with the reference cleared (NULL), as declared"
	switch {
	case s.Rows == RowsDrop:
		becomes = "stay behind too, as declared"
	case s.Becomes != nil:
		becomes = fmt.Sprintf("are copied with the reference cleared (%s), as declared", *s.Becomes)
	}
	result.Message = fmt.Sprintf("no row refers to %s, whose rows stay behind", s.To)
	if len(parts) > 0 {
		result.Message = fmt.Sprintf("rows that refer to %s, whose rows stay behind, %s: %s", s.To, becomes, few(parts))
	}
	if result.Rows = result.Count; len(orphans) > 0 {
		result.Message += "; rows that reference them lose their target: " + few(orphans)
	}
	odd, err := judgeOdd(ctx, f, r, s)
	o.add(found(append(odd, result)...))
	o.severed = []Severed{now}
	return o, err
}

// judgeOdd reports values that may mean nobody, though nothing says so: their rows would
// stay behind, or lose what may have a meaning.
func judgeOdd(ctx context.Context, f *facts, r *reader, s *severed) ([]Result, error) {
	result := Result{Code: CodeKeyNobody, Table: s.Table, Subject: s.Column, Columns: []string{s.Column}}
	suspects := []struct{ others, why string }{{">0", "0 or less"}}
	if most, known := mostOf(f.resolved, columnName{s.Table, s.Column}); known && most.Bits <= math.MaxInt64 {
		suspects = append(suspects, struct{ others, why string }{"<" + most.String(), "the largest value of the column"})
	}
	for _, suspect := range suspects {
		odd := *s
		odd.None = slices.Concat(s.None, s.ref.declared.Dangling, []string{suspect.others})
		for _, db := range sourcesOf(f.resolved) {
			if db.tables[s.Table] == nil {
				continue
			}
			n, err := r.referring(ctx, db, s.Table, &odd, nil)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				result.Gaps = append(result.Gaps, Gap{db.name, fmt.Sprintf("%s with a value that is %s", printable.Count(n, "row", "rows"), suspect.why)})
			}
		}
	}
	if len(result.Gaps) == 0 {
		return nil, nil
	}
	result.Message = fmt.Sprintf("may mean no row, instead of a row of %s, which stays behind", s.To)
	result.Next = []string{fmt.Sprintf("[[check.reference]] at = [%s], to = %s, none = [...] for values that mean no row; or dangling = [...] for values whose rows are gone",
		printable.TOML(place(s.Table, s.Column)), printable.TOML(referenceTarget(s.ref)))}
	return []Result{result}, nil
}

// orphaned counts the rows that refer to those which stay behind only because of what they
// refer to.
func orphaned(ctx context.Context, f *facts, r *reader, db *database, s *severed, result *Result) (all []string, err error) {
	if s.Rows == RowsNone {
		return nil, nil
	}
	for table, ref := range referringTo(f, db, s.Table) {
		n, err := r.referring(ctx, db, table, s, &ref)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			result.Count += n
			all = append(all, fmt.Sprintf("%s of %s in %s (%s)", printable.Count(n, "row", "rows"), table, db.name, strings.Join(ref.Columns, ", ")))
		}
	}
	return all, nil
}

// judgeTakenOut reports rows of the target that refer to rows which are taken out: what
// becomes of them is for the operator to do.
func judgeTakenOut(ctx context.Context, f *facts, r *reader, s *severed) ([]Result, error) {
	result := Result{Code: CodeReferenceSevered, Table: s.Table, Subject: "own " + s.ref.subject(), Columns: s.ref.Columns}
	if !f.reset[s.To] || f.target.tables[s.Table] == nil && f.target.apart[s.Table] == nil {
		return nil, nil
	}
	if s.gap != "" {
		result.Message, result.Gaps = "rows of the target reference rows that are removed", []Gap{{f.target.name, s.gap}}
		return []Result{result}, nil
	}
	n, err := r.referring(ctx, f.target, s.Table, s, nil)
	if err != nil {
		return nil, err
	}
	result.without("no row of " + f.target.name + " refers to rows of " + s.To + ", which are removed")
	if n > 0 {
		result.Count, result.Rows = n, n
		result.Message = fmt.Sprintf("%s of %s to rows of %s, which are removed", printable.Count(n, "row refers", "rows refer"), f.target.name, s.To)
		where := " WHERE " + s.SQL(sqlName)
		if s.Rows == RowsNone {
			nobody := "NULL"
			if s.Becomes != nil {
				nobody = *s.Becomes
			}
			result.Next = []string{"in " + f.target.name + ", before the next plan: UPDATE " + sqlName(s.Table) + " SET " + sqlName(s.Column) + " = " + nobody + where}
		} else {
			result.Next = []string{"in " + f.target.name + ", before the next plan, delete them or clear the reference: SELECT * FROM " + sqlName(s.Table) + where}
		}
	}
	return []Result{result}, nil
}

// referringTo gives the references of a database that lead to a table, each to one key.
func referringTo(f *facts, db *database, to string) func(yield func(table string, ref Reference) bool) {
	return func(yield func(table string, ref Reference) bool) {
		for _, table := range f.tables {
			if db.tables[table] == nil {
				continue
			}
			refs := f.references(table)
			for _, r := range f.declared.severally(table) {
				for _, at := range append([]columnName{{r.ToTable, r.ToColumns[0]}}, r.or...) {
					refs = append(refs, reference{Reference: Reference{Columns: r.Columns, ToTable: at.table, ToColumns: []string{at.column}}})
				}
			}
			for _, r := range slices.DeleteFunc(refs, func(r reference) bool { return r.ToTable != to }) {
				if !yield(table, r.Reference) {
					return
				}
			}
		}
	}
}
