package merge

import (
	"context"
	"slices"
)

// checkKeys reads the primary key of every table of every source, once, and
// applies all rules that need no more than that: colliding keys, and IDs that
// are invalid, from the future, of an unlisted server, or above its mark.
func (c *checker) checkKeys(ctx context.Context) error {
	for _, db := range c.dbs {
		db.tallies = newTallies(db)
	}
	for _, table := range c.tables {
		if err := c.checkKey(ctx, table); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkKey(ctx context.Context, table string) error {
	_, model := c.model(table)
	key := model.Primary
	result := Result{Code: CodeKeyCollision, Table: table, Subject: columnList(key)}
	if len(key) == 0 {
		result.Subject = ""
		result.Gaps = []Gap{{Reason: "the table has no primary key"}}
		result.Message = "cannot be checked"
		c.add(result)
		return nil
	}

	var (
		streams []*stream
		scans   []*idScan
		found   collisions
	)
	gaps, err := c.retry(func(excluded exclusions) (gaps []Gap, err error) {
		streams, gaps = c.keyStreams(CodeKeyCollision, table, key, excluded)
		scans = c.judgeIDs(table, streams)
		found = collisions{samples: c.opts.Samples}
		return gaps, found.count(ctx, streams)
	})
	if err != nil {
		return err
	}

	result.Gaps = slices.Clone(gaps)
	if result.Samples, err = c.samples(ctx, found.kept, table, key); err != nil {
		return err
	}
	for _, s := range streams {
		s.db.rows[table] = s.read
		result.Read += s.read
		if s.nulls > 0 {
			result.Gaps = append(result.Gaps, Gap{s.db.name, some(s.nulls, "row has", "rows have") + " NULL in the key"})
		}
	}
	found.describe(&result, "key")
	if result.Count > 0 && len(scans) > 0 {
		result.Next = []string{"no two servers make the same ID: look at " + CodeServerConflict + " and " + CodeWorldCloned + " first"}
	}
	c.add(result)
	return c.addIDs(ctx, table, gaps, scans)
}
