package merge

import (
	"context"
	"slices"
)

// planAccounts looks for accounts that would have more characters together
// than one may have.
func (c *checker) planAccounts() {
	for _, a := range c.opts.Accounts {
		if c.wants(CodeAccountOverflow, a.Table, a.Column) {
			c.plan(task{[]string{a.Table}, func(ctx context.Context) error { return c.checkAccounts(ctx, a) }})
		}
	}
}

// checkAccounts counts the accounts that are in several sources, and among
// them those that a merge would take over the limit. An account that is 0 or
// empty is nobody's.
func (c *checker) checkAccounts(ctx context.Context, a AccountColumn) error {
	result := Result{Code: CodeAccountOverflow, Table: a.Table, Subject: a.Column}
	var (
		streams      []*stream
		found        collisions
		shared, over int64
	)
	gaps, err := c.retry(func(excluded exclusions) (gaps []Gap, err error) {
		streams, gaps = c.keyStreams(CodeAccountOverflow, a.Table, []string{a.Column}, excluded)
		for _, s := range streams {
			s.scan.SkipNull = true
		}
		shared, over = 0, 0
		found = collisions{samples: c.opts.Samples, wanted: func(rows []int64) bool {
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
			shared++
			if a.Max == 0 || all <= int64(a.Max) {
				return false
			}
			over += all - int64(a.Max)
			return true
		}}
		carried := make([]int, len(streams))
		for i, s := range streams {
			carried[i] = s.carry(a.Column)
		}
		found.ignore = func(p position) bool { return isZero(p.stream.carriedAt(carried[p.stream.index], p.row)) }
		return gaps, found.count(ctx, streams)
	})
	if err != nil {
		return err
	}
	result.Gaps = slices.Clip(gaps)
	if result.Samples, err = c.samples(ctx, found.kept, a.Table, []string{a.Column}); err != nil {
		return err
	}
	for _, s := range streams {
		result.Read += s.read
	}
	result.Count, result.Rows = found.values, found.allRows()
	result.Message = some(shared, "account is", "accounts are") + " in more than one database"
	switch {
	case result.Count > 0:
		result.Message += "; " + some(result.Count, "has", "have") + " more than " + number(int64(a.Max)) +
			" characters together, " + number(over) + " too many in all"
	case a.Max > 0:
		result.Message += ", none with more than " + number(int64(a.Max)) + " characters together"
	}
	c.add(result)
	return nil
}
