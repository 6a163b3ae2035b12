package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

// planAccounts looks for accounts that would have more characters together
// than one may have.
func (c *checker) planAccounts() {
	for _, a := range c.opts.Accounts {
		if slices.Contains(c.tables, a.Table) && c.wants(CodeAccountOverflow, a.Table, a.Column) {
			c.plan(task{CodeAccountOverflow + " " + keyName(a.Table, []string{a.Column}), []string{a.Table}, func(ctx context.Context) error { return c.checkAccounts(ctx, a) }})
		}
	}
}

// accountCount counts accounts. An account that is 0 or empty is nobody's, and
// does not get here.
type accountCount struct {
	max    int64 // characters that one may have; 0: any number
	shared int64 // accounts that are in several sources
	over   int64 // characters that are too many
}

// wanted takes an account into account, and tells whether it has too many
// characters since it is in several sources.
func (a *accountCount) wanted(rows []int64) bool {
	sources, all := 0, int64(0)
	for _, n := range rows {
		all += n
		if n > 0 {
			sources++
		}
	}
	if sources < 2 {
		return false
	}
	a.shared++
	if a.max == 0 || all <= a.max {
		return false
	}
	a.over += all - a.max
	return true
}

func (c *checker) checkAccounts(ctx context.Context, a AccountColumn) error {
	result := Result{Code: CodeAccountOverflow, Table: a.Table, Subject: a.Column}
	r, err := c.read(ctx, question{code: CodeAccountOverflow, table: a.Table, columns: []string{a.Column}, skipNull: true, account: &a})
	if err != nil {
		return err
	}
	result.Gaps = slices.Clip(r.gaps)
	if result.Samples, err = c.samples(ctx, r.found.kept, a.Table, []string{a.Column}); err != nil {
		return err
	}
	for _, s := range r.streams {
		result.Read += s.read
	}
	result.Count, result.Rows = r.found.values, r.found.allRows()
	result.Message = printable.Count(r.shared.shared, "account is", "accounts are") + " in more than one database"
	switch {
	case result.Count > 0:
		result.Message += "; " + printable.Count(result.Count, "has", "have") + " more than " + printable.Number(int64(a.Max)) +
			" characters together, " + printable.Number(r.shared.over) + " too many in all"
	case a.Max > 0:
		result.Message += ", none with more than " + printable.Number(int64(a.Max)) + " characters together"
	}
	c.add(result)
	return nil
}
