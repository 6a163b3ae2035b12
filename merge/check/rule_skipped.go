package check

import (
	"context"
	"maps"
	"slices"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// skippedRule reports the tables that cannot be read.
var skippedRule = Rule{
	Codes:   []string{verdict.CodeTableSkipped},
	Single:  true,
	Catalog: judgeSkipped,
}

// leftRule counts the rows that stay behind, as the operator declares.
var leftRule = Rule{Codes: []string{verdict.CodeRowsLeft}, Tasks: skipTasks}

// skipTasks count what stays behind because that is the policy of its table.
func skipTasks(f *Facts) (tasks []Task) {
	for _, table := range slices.Sorted(maps.Keys(f.Skip)) {
		if !f.Skip[table] {
			continue
		}
		tasks = append(tasks, Task{Code: verdict.CodeRowsLeft, Tables: nil, Run: func(ctx context.Context, _ *Reader) (Outcome, error) {
			result := verdict.Result{Code: verdict.CodeRowsLeft, Table: table}
			var parts []string
			for _, db := range f.DBs {
				if db.Apart[table] == nil || db == f.Model() && !f.Reset[table] { // whose rows come
					continue
				}
				n, err := Count(ctx, db, table)
				if err != nil {
					return Outcome{}, err
				}
				result.Read += n
				parts = append(parts, db.Name+": "+printable.Number(n))
			}
			result.Message = "rows that stay behind, as declared: " + catalog.Few(parts)
			if f.Reset[table] {
				result.Message = "the table is empty in the new database; " + result.Message
			}
			return Found(result), nil
		}})
	}
	return tasks
}

func judgeSkipped(f *Facts) (findings []finding) {
	skipped := make(map[string][]verdict.Gap)
	for _, db := range f.DBs {
		for _, s := range db.Skipped {
			skipped[s.Table] = append(skipped[s.Table], verdict.Gap{World: db.Name, Reason: s.Reason})
		}
	}
	for _, table := range slices.Sorted(maps.Keys(skipped)) {
		r := verdict.Result{Code: verdict.CodeTableSkipped, Table: table, Message: "was not read", Gaps: skipped[table]}
		if declared := declaredOf(f.Resolved, table); len(declared) > 0 && !slices.Contains(f.Tables, table) {
			r.Message += ", so its declarations are not checked: " + catalog.Few(declared)
		}
		if judgeSequence(f.Moving, f, &r) {
			findings = append(findings, finding{Result: r})
		}
	}
	return findings
}

// declaredOf names what the operator declares of a table.
func declaredOf(f *rules.Resolved, table string) (all []string) {
	for _, u := range f.Opts.Uniques {
		if u.Table == table {
			all = append(all, "unique "+catalog.ColumnList(u.Columns))
		}
	}
	for _, r := range f.References(table) {
		all = append(all, "reference "+r.Subject())
	}
	for _, id := range f.Opts.IDs {
		if id.Table == table {
			all = append(all, "id "+id.Column)
		}
	}
	for _, a := range f.Opts.Accounts {
		if a.Table == table {
			all = append(all, "account "+a.Column)
		}
	}
	return all
}
