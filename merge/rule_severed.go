package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// CodeReferenceSevered is the code about rows that refer to what stays behind.
const CodeReferenceSevered = "reference-severed"

// severedRule counts the rows that refer to rows which stay behind, where it is said what
// becomes of them.
func severedRule() rule {
	return rule{codes: []Code{{
		Code:       CodeReferenceSevered,
		Meaning:    "rows refer to rows that stay behind only because these refer into a table whose rows stay behind",
		Counts:     "referring rows",
		Action:     `let the rows between come, and refer to nobody (rows = "none"), or remove the referring rows`,
		Unverified: "check the reference by other means",
	}}, tasks: severedTasks}
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

func judgeSevered(ctx context.Context, f *facts, r *reader, s *severed) (outcome, error) {
	result := Result{Code: CodeReferenceSevered, Table: s.Table, Subject: s.ref.subject(), Columns: s.ref.Columns}
	now := s.Severed
	now.Counts = nil
	var parts, orphans []string
	for _, db := range sourcesOf(f) {
		n, err := int64(0), error(nil)
		if db.tables[s.Table] != nil {
			result.Read += db.rows[s.Table]
			if n, err = r.referring(ctx, db, s.Table, s, nil); err != nil {
				return outcome{}, err
			}
		}
		if now.Counts = append(now.Counts, n); n > 0 {
			parts = append(parts, db.name+": "+printable.Number(n))
		}
		if s.Rows == RowsNone || n == 0 {
			continue
		}
		for table, ref := range referringTo(f, db, s.Table) {
			n, err := r.referring(ctx, db, table, s, &ref)
			if err != nil {
				return outcome{}, err
			}
			if n > 0 {
				result.Count += n
				orphans = append(orphans, fmt.Sprintf("%s of %s in %s (%s)", printable.Count(n, "row", "rows"), table, db.name, strings.Join(ref.Columns, ", ")))
			}
		}
	}
	becomes := "come and refer to nobody (NULL), as declared"
	switch {
	case s.Rows == RowsDrop:
		becomes = "stay behind too, as declared"
	case s.Becomes != nil:
		becomes = fmt.Sprintf("come and refer to nobody (%s), as declared", *s.Becomes)
	}
	result.Message = fmt.Sprintf("no row refers to %s, whose rows stay behind", s.To)
	if len(parts) > 0 {
		result.Message = fmt.Sprintf("rows that refer to %s, whose rows stay behind, %s: %s", s.To, becomes, few(parts))
	}
	if result.Rows = result.Count; len(orphans) > 0 {
		result.Message += "; they leave others without what these refer to: " + few(orphans)
	}
	o := found(result)
	o.severed = []Severed{now}
	return o, nil
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
