package merge

import (
	"context"
	"slices"
)

// checkUniques holds the values of every unique index of the target against
// each other, over all sources and as the target's collation compares. Rows
// with a NULL in the index take no part in it.
func (c *checker) checkUniques(ctx context.Context) error {
	for _, table := range c.tables {
		_, model := c.model(table)
		uniques := slices.Clone(model.Uniques)
		slices.SortStableFunc(uniques, func(a, b Unique) int { return slices.Compare(a.Columns, b.Columns) })
		for _, u := range uniques {
			if err := c.checkUnique(ctx, table, u); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) checkUnique(ctx context.Context, table string, u Unique) error {
	result := Result{Code: CodeUniqueCollision, Table: table, Subject: columnList(u.Columns)}
	if u.Unclear != "" {
		result.Gaps = []Gap{{Reason: "index " + u.Name + ": " + u.Unclear}}
		result.Message = "cannot be checked"
		c.add(result)
		return nil
	}
	var (
		streams []*stream
		found   collisions
	)
	gaps, err := c.retry(func(excluded exclusions) (gaps []Gap, err error) {
		streams, gaps = c.keyStreams(CodeUniqueCollision, table, u.Columns, excluded)
		for _, s := range streams {
			s.scan.SkipNull = true
		}
		found = collisions{samples: c.opts.Samples}
		return gaps, found.count(ctx, streams)
	})
	if err != nil {
		return err
	}
	result.Gaps = gaps
	if result.Samples, err = c.samples(ctx, found.kept, table, u.Columns); err != nil {
		return err
	}
	for _, s := range streams {
		result.Read += s.read
	}
	found.describe(&result, "value")
	c.add(result)
	return nil
}
