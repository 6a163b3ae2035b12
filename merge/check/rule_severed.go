package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// severedRule counts the rows that refer to rows which stay behind, where it is said what
// becomes of them.
var severedRule = Rule{Codes: []string{verdict.CodeReferenceSevered}, Tasks: severedTasks}

func severedTasks(f *Facts) (tasks []Task) {
	for _, s := range f.Severed {
		tasks = append(tasks, Task{Code: verdict.CodeReferenceSevered, Tables: nil, Run: func(ctx context.Context, _ *Reader) (Outcome, error) { return judgeSevered(ctx, f, s) }})
	}
	return tasks
}

func judgeSevered(ctx context.Context, f *Facts, s *rules.SeveredReference) (o Outcome, err error) {
	result := verdict.Result{Code: verdict.CodeReferenceSevered, Table: s.Table, Subject: s.Ref.Subject(), Columns: s.Ref.Columns}
	now := s.Severed
	var parts, orphans []string
	if now.Counts = []int64{}; !s.Stays {
		for _, db := range f.DBs {
			n, left := int64(0), []string(nil)
			if db != f.Model() && db.Tables[s.Table] != nil {
				result.Read += db.Rows[s.Table]
				if n, err = referring(ctx, db, s.Table, s, nil); err != nil {
					return o, err
				}
			}
			if now.Counts = append(now.Counts, n); n > 0 {
				parts = append(parts, db.Name+": "+printable.Number(n))
				if s.Gone != rules.GoneNone {
					if left, err = orphaned(ctx, f, db, s, &result); err != nil {
						return o, err
					}
				}
			}
			orphans = append(orphans, left...)
		}
	}
	own, err := judgeReset(ctx, f, s)
	if err != nil {
		return o, err
	}
	if o = Found(own...); s.Stays {
		return o, nil
	}
	becomes := "are copied with the reference cleared (NULL), as declared"
	switch {
	case s.Gone == rules.GoneDrop:
		becomes = "stay behind too, as declared"
	case s.Becomes != nil:
		becomes = fmt.Sprintf("are copied with the reference cleared (%s), as declared", *s.Becomes)
	}
	result.Message = fmt.Sprintf("no row refers to %s, whose rows stay behind", s.To)
	if len(parts) > 0 {
		result.Message = fmt.Sprintf("rows that refer to %s, whose rows stay behind, %s: %s", s.To, becomes, catalog.Few(parts))
	}
	if result.Rows = result.Count; len(orphans) > 0 {
		result.Message += "; rows that reference them would match no row after the merge: " + catalog.Few(orphans)
	}
	odd, err := judgeOdd(ctx, f, s)
	o.Add(Found(append(odd, result)...))
	o.Severed = []rules.Severed{now}
	return o, err
}

// judgeOdd reports values that may mean nobody, though nothing says so: their rows would
// stay behind, or lose what may have a meaning.
func judgeOdd(ctx context.Context, f *Facts, s *rules.SeveredReference) ([]verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeKeyNobody, Table: s.Table, Subject: s.Column, Columns: []string{s.Column}}
	suspects := []struct{ others, why string }{{">0", "0 or less"}}
	if most, known := mostOf(f.Resolved, rules.ColumnName{Table: s.Table, Column: s.Column}); known && most.Bits <= math.MaxInt64 {
		suspects = append(suspects, struct{ others, why string }{"<" + most.String(), "the largest value of the column"})
	}
	for _, suspect := range suspects {
		odd := *s
		odd.None = slices.Concat(s.None, s.Ref.Declared.Dangling, []string{suspect.others})
		for _, db := range rules.OthersOf(f.Resolved) {
			if db.Tables[s.Table] == nil {
				continue
			}
			n, err := referring(ctx, db, s.Table, &odd, nil)
			if err != nil {
				return nil, err
			}
			if n > 0 {
				result.Gaps = append(result.Gaps, verdict.Gap{World: db.Name, Reason: fmt.Sprintf("%s with a value that is %s", printable.Count(n, "row", "rows"), suspect.why)})
			}
		}
	}
	if len(result.Gaps) == 0 {
		return nil, nil
	}
	result.Message = fmt.Sprintf("some values may mean no row instead of a row of %s that stays behind", s.To)
	result.Next = []string{fmt.Sprintf("[[check.reference]] at = [%s], to = %s, none = [...] for values that mean no row; or dangling = [...] for values whose rows are gone",
		printable.TOML(rules.Place(s.Table, s.Column)), printable.TOML(referenceTarget(s.Ref)))}
	return []verdict.Result{result}, nil
}

// orphaned counts the rows that refer to those which stay behind by a reference.
func orphaned(ctx context.Context, f *Facts, db *rules.Database, by *rules.SeveredReference, result *verdict.Result) (all []string, err error) {
	for table, ref := range referringTo(f, db, by.Table) {
		n, err := referring(ctx, db, table, by, &ref)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			result.Count += n
			all = append(all, fmt.Sprintf("%s of %s in %s (%s)", printable.Count(n, "row", "rows"), table, db.Name, strings.Join(ref.Columns, ", ")))
		}
	}
	return all, nil
}

// judgeReset reports rows of the first world that refer to rows of a table which is empty in the new database: what
// becomes of them is for the operator to do.
func judgeReset(ctx context.Context, f *Facts, s *rules.SeveredReference) ([]verdict.Result, error) {
	result := verdict.Result{Code: verdict.CodeReferenceSevered, Table: s.Table, Subject: "own " + s.Ref.Subject(), Columns: s.Ref.Columns}
	if !f.Reset[s.To] || f.Model().Tables[s.Table] == nil && f.Model().Apart[s.Table] == nil {
		return nil, nil
	}
	if s.Gap != "" {
		result.Message, result.Gaps = "rows refer to rows that are not copied", []verdict.Gap{{World: f.Model().Name, Reason: s.Gap}}
		return []verdict.Result{result}, nil
	}
	n, err := referring(ctx, f.Model(), s.Table, s, nil)
	if err != nil {
		return nil, err
	}
	result.Without("no row of " + f.Model().Name + " refers to " + s.To + ", which is empty in the new database")
	if n > 0 {
		result.Count, result.Rows = n, n
		result.Message = fmt.Sprintf("%s of %s to %s, which is empty in the new database", printable.Count(n, "row refers", "rows refer"), f.Model().Name, s.To)
		where := " WHERE " + s.SQL(catalog.SQLName)
		if s.Gone == rules.GoneNone {
			nobody := "NULL"
			if s.Becomes != nil {
				nobody = *s.Becomes
			}
			result.Next = []string{"in " + f.Model().Name + ", before the next plan: UPDATE " + catalog.SQLName(s.Table) + " SET " + catalog.SQLName(s.Column) + " = " + nobody + where}
		} else {
			result.Next = []string{"in " + f.Model().Name + ", before the next plan, delete them or clear the reference: SELECT * FROM " + catalog.SQLName(s.Table) + where}
		}
	}
	return []verdict.Result{result}, nil
}

// referringTo gives the references of a database that lead to a table, each to one key.
func referringTo(f *Facts, db *rules.Database, to string) func(yield func(table string, ref catalog.Reference) bool) {
	return func(yield func(table string, ref catalog.Reference) bool) {
		for _, table := range f.Tables {
			if db.Tables[table] == nil {
				continue
			}
			refs := f.References(table)
			for _, r := range f.Declared.Severally(table) {
				for _, at := range r.Targets(0) {
					refs = append(refs, rules.Ref{Reference: catalog.Reference{Columns: r.Columns, ToTable: at.Table, ToColumns: []string{at.Column}}})
				}
			}
			for _, r := range slices.DeleteFunc(refs, func(r rules.Ref) bool { return r.ToTable != to }) {
				if !yield(table, r.Reference) {
					return
				}
			}
		}
	}
}
