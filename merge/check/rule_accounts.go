package check

import (
	"context"
	"slices"

	"mergesafe/internal/printable"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// accountRule looks for accounts that would have more characters together than
// one may have. An account that is 0 or empty belongs to no player.
var accountRule = Rule{
	Codes: []string{verdict.CodeAccountOverflow, verdict.CodeAccountConflict},
	Tasks: accountTasks,
}

func accountTasks(f *Facts) (tasks []Task) {
	for _, a := range f.Opts.Accounts {
		if !slices.Contains(f.Tables, a.Table) {
			continue
		}
		tasks = append(tasks, Task{Code: verdict.CodeAccountOverflow, Tables: []string{a.Table}, Run: func(ctx context.Context, r *Reader) (Outcome, error) {
			read, err := r.Read(ctx, Question{
				Code: verdict.CodeAccountOverflow, Table: a.Table, Columns: []string{a.Column}, SkipNull: true, Across: true, Most: int64(a.Max),
			})
			if err != nil {
				return Outcome{}, err
			}
			return Found(judgeAccounts(a, read), judgeAccountConflict(f, a, read)), nil
		}})
	}
	return tasks
}

// judgeAccountConflict asks whether an account that is in several databases is one.
func judgeAccountConflict(f *Facts, a rules.AccountColumn, read *Reading) verdict.Result {
	result := verdict.Result{Code: verdict.CodeAccountConflict, Table: a.Table, Subject: a.Column, Columns: []string{a.Column}, Read: read.RowsRead(), Gaps: read.Gaps}
	said := f.Declared.Role(a.Table, a.Column).Kind
	switch shared := read.Crowds.Shared; {
	case said == rules.RoleShared:
		result.Without("the same value is the same account in every database, as declared")
	case shared == 0:
		result.Without("no account is in more than one database")
	default:
		result.Rows = shared
		result.Message = printable.Count(shared, "account is", "accounts are") + " in more than one database"
		result.Gaps = append(result.Gaps, verdict.Gap{Reason: "if each database numbers its accounts itself, two players would share one account"})
		result.Next = []string{"if one account database serves all worlds, declare in [check] shared = " + printable.TOMLList(rules.Qualified(a.Table, []string{a.Column}))}
	}
	return result
}

func judgeAccounts(a rules.AccountColumn, read *Reading) verdict.Result {
	result := verdict.Result{
		Code: verdict.CodeAccountOverflow, Table: a.Table, Subject: a.Column, Columns: []string{a.Column},
		Read: read.RowsRead(), Count: read.Values, Rows: read.AllRows(), Gaps: read.Gaps, Samples: read.Samples,
	}
	result.Without(printable.Count(read.Crowds.Shared, "account is", "accounts are") + " in more than one database")
	switch {
	case result.Count > 0:
		result.Message += "; " + printable.Count(result.Count, "has", "have") + " more than " + printable.Number(int64(a.Max)) +
			" characters together, " + printable.Number(read.Crowds.Over) + " too many in total"
	case a.Max > 0 && result.Read > 0:
		result.Message += ", none with more than " + printable.Number(int64(a.Max)) + " characters together"
	}
	return result
}
