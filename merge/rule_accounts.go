package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

// accountRule looks for accounts that would have more characters together than
// one may have. An account that is 0 or empty belongs to no player.
func accountRule() rule {
	return rule{
		codes: []string{CodeAccountOverflow, CodeAccountConflict},
		tasks: accountTasks,
	}
}

func accountTasks(f *facts) (tasks []task) {
	for _, a := range f.opts.Accounts {
		if !slices.Contains(f.tables, a.Table) || !f.wantsAny(a.Table, a.Column, CodeAccountOverflow, CodeAccountConflict) {
			continue
		}
		tasks = append(tasks, task{taskID{code: CodeAccountOverflow, columns: idOf(a.Table, a.Column)}, []string{a.Table}, func(ctx context.Context, r *reader) (outcome, error) {
			read, err := r.read(ctx, question{
				code: CodeAccountOverflow, table: a.Table, columns: []string{a.Column}, skipNull: true, across: true, most: int64(a.Max),
			})
			if err != nil {
				return outcome{}, err
			}
			return found(judgeAccounts(a, read), judgeAccountConflict(f, a, read)), nil
		}})
	}
	return tasks
}

// judgeAccountConflict asks whether an account that is in several databases is one.
func judgeAccountConflict(f *facts, a AccountColumn, read *reading) Result {
	result := Result{Code: CodeAccountConflict, Table: a.Table, Subject: a.Column, Columns: []string{a.Column}, Read: read.rowsRead(), Gaps: read.gaps}
	said := f.declared.role(a.Table, a.Column).kind
	switch shared := read.crowds.shared; {
	case said == roleShared:
		result.without("the same value is the same account in every database, as declared")
	case shared == 0:
		result.without("no account is in more than one database")
	default:
		result.Rows = shared
		result.Message = printable.Count(shared, "account is", "accounts are") + " in more than one database"
		result.Gaps = append(result.Gaps, Gap{Reason: "if each database numbers its accounts itself, two players would share one account"})
		result.Next = []string{"if one account database serves all worlds, declare in [check] shared = " + printable.TOMLList(qualified(a.Table, []string{a.Column}))}
	}
	return result
}

func judgeAccounts(a AccountColumn, read *reading) Result {
	result := Result{
		Code: CodeAccountOverflow, Table: a.Table, Subject: a.Column, Columns: []string{a.Column},
		Read: read.rowsRead(), Count: read.values, Rows: read.allRows(), Gaps: read.gaps, Samples: read.samples,
	}
	result.without(printable.Count(read.crowds.shared, "account is", "accounts are") + " in more than one database")
	switch {
	case result.Count > 0:
		result.Message += "; " + printable.Count(result.Count, "has", "have") + " more than " + printable.Number(int64(a.Max)) +
			" characters together, " + printable.Number(read.crowds.over) + " too many in all"
	case a.Max > 0 && result.Read > 0:
		result.Message += ", none with more than " + printable.Number(int64(a.Max)) + " characters together"
	}
	return result
}
