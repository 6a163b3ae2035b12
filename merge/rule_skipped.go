package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mergesafe/internal/printable"
)

// skippedRule reports the tables that are not read: because it is not possible,
// or because the operator wants it so.
func skippedRule() rule {
	return rule{
		codes:   []string{CodeTableSkipped, CodeTableExcluded},
		catalog: judgeSkipped,
		tasks:   skipTasks,
	}
}

// skipTasks count what stays behind because that is the policy of its table.
func skipTasks(f *facts) (tasks []task) {
	for _, table := range slices.Sorted(maps.Keys(f.skip)) {
		if !f.skip[table] || !f.wants(CodeTableExcluded, table, "") {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeTableExcluded, columns: idOf(table)}, nil, func(ctx context.Context, r *reader) (outcome, error) {
			result := Result{Code: CodeTableExcluded, Table: table}
			var parts []string
			for _, db := range sourcesOf(f.resolved) {
				if db.apart[table] == nil {
					continue
				}
				n, err := r.count(ctx, db, table)
				if err != nil {
					return outcome{}, err
				}
				result.Read += n
				parts = append(parts, db.name+": "+printable.Number(n))
			}
			result.Message = "rows of the sources that stay behind, as declared: " + few(parts)
			if f.reset[table] && f.target.apart[table] != nil {
				n, err := r.count(ctx, f.target, table)
				if err != nil {
					return outcome{}, err
				}
				result.Read += n
				result.Message += fmt.Sprintf("; the table is emptied: %s of %s %s removed", printable.Count(n, "row", "rows"), f.target.name, map[bool]string{true: "is", false: "are"}[n == 1])
			}
			return found(result), nil
		}})
	}
	return append(tasks, leftTasks(f)...)
}

func judgeSkipped(f *facts) (findings []finding) {
	skipped, excluded := make(map[string][]Gap), make(map[string][]Gap)
	for _, db := range f.dbs {
		for _, s := range db.skipped {
			skipped[s.Table] = append(skipped[s.Table], Gap{db.name, s.Reason})
		}
		for _, table := range db.excluded {
			if f.skip[table] {
				continue
			}
			excluded[table] = append(excluded[table], Gap{db.name, excludedReason})
		}
	}
	for _, table := range slices.Sorted(maps.Keys(skipped)) {
		r := Result{Code: CodeTableSkipped, Table: table, Message: "was not read", Gaps: skipped[table]}
		if declared := f.declaredOf(table); len(declared) > 0 && !slices.Contains(f.tables, table) {
			r.Message += ", so its declarations are not checked: " + few(declared)
		}
		if f.moving.judgeSequence(f, &r) {
			findings = append(findings, finding{Result: r})
		}
	}
	for _, table := range slices.Sorted(maps.Keys(excluded)) {
		findings = append(findings, finding{Result: Result{Code: CodeTableExcluded, Table: table, Message: "was not read", Gaps: excluded[table]}})
	}
	return findings
}

// declared names what the operator declares of a table.
func (f *resolved) declaredOf(table string) (all []string) {
	for _, u := range f.opts.Uniques {
		if u.Table == table {
			all = append(all, "unique "+columnList(u.Columns))
		}
	}
	for _, r := range f.references(table) {
		all = append(all, "reference "+r.subject())
	}
	for _, id := range f.opts.IDs {
		if id.Table == table {
			all = append(all, "id "+id.Column)
		}
	}
	for _, a := range f.opts.Accounts {
		if a.Table == table {
			all = append(all, "account "+a.Column)
		}
	}
	return all
}
