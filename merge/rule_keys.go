package merge

import (
	"context"
	"slices"

	"mergesafe/internal/printable"
)

// planKeys reads the key of every table of every source, once, and applies all
// rules that need no more than that: colliding keys, IDs that are invalid, from
// the future, of an unlisted server, or above its mark, and counters.
func (c *checker) planKeys() {
	for _, table := range c.tables {
		codes := []string{CodeKeyCollision, CodeServerUnlisted, CodeIDAboveMark, CodeIDInvalid, CodeIDFuture, CodeAutoIncrement}
		if c.wantsAny(table, "", codes...) {
			c.plan(task{CodeKeyCollision + " " + table, []string{table}, func(ctx context.Context) error { return c.checkKey(ctx, table) }})
		}
	}
}

func (c *checker) checkKey(ctx context.Context, table string) error {
	_, model := c.model(table)
	key := model.key()
	result := Result{Code: CodeKeyCollision, Table: table, Subject: columnList(key)}
	if key == nil {
		result.Subject = ""
		result.Gaps = []Gap{{Reason: model.keyless()}}
		result.Message = "cannot be checked"
		c.add(result)
		return c.checkIDs(ctx, table)
	}

	r, err := c.read(ctx, question{code: CodeKeyCollision, table: table, columns: key, ids: true})
	if err != nil {
		return err
	}
	result.Gaps = slices.Clone(r.gaps)
	if result.Samples, err = c.samples(ctx, r.found.kept, table, key); err != nil {
		return err
	}
	for _, s := range r.streams {
		s.db.ranges[table] = s.keyRange()
		result.Read += s.read
		if s.nulls > 0 {
			result.Gaps = append(result.Gaps, Gap{s.db.name, printable.Count(s.nulls, "row has", "rows have") + " NULL in the key"})
		}
		if n := s.db.rows[table]; n != s.read {
			result.Gaps = append(result.Gaps, Gap{s.db.name, printable.Count(n, "row was", "rows were") + " counted and then " + printable.Number(s.read) +
				" read: the table changed in between"})
		}
	}
	r.found.describe(&result, "key", true)
	c.disjoint[keyName(table, key)] = result.Count == 0 && len(result.Gaps) == 0
	switch {
	case result.Count == 0:
		c.add(result)
	case c.looksAlike(&result, r):
		c.alike[table], result.Alike = true, true
		result.Message += ": the same in every database, and the rows shown are alike"
		c.addWith("if this is the game's own data, which every world has, leave the table out; otherwise "+c.keyAction(table), result)
	default:
		c.addWith(c.keyAction(table), result)
	}
	c.checkCounter(table, r)
	return c.addIDs(ctx, table, r.gaps, r.scans)
}

// looksAlike reports whether every source has the same keys, and the rows that
// are shown do not differ. Equal rows that count up, or refer to others, mean
// different things in different worlds all the same.
func (c *checker) looksAlike(result *Result, r *reading) bool {
	if c.counter(result.Table) != nil || len(c.references(result.Table)) > 0 {
		return false
	}
	for i, s := range r.streams {
		if s.read != 0 && (s.read != result.Count || r.found.rows[i] != result.Count) {
			return false
		}
	}
	for _, s := range result.Samples {
		for _, row := range s.Rows[1:] {
			if !slices.Equal(row.Fields, s.Rows[0].Fields) {
				return false
			}
		}
	}
	return len(result.Samples) > 0
}

// keyAction says what to do about keys that collide, from what is known of why
// they do.
func (c *checker) keyAction(table string) string {
	for _, code := range []string{CodeServerConflict, CodeWorldCloned, CodeWorldMerged} {
		if slices.ContainsFunc(c.results, func(r Result) bool { return r.Code == code && r.Count > 0 }) {
			return "see to " + code + " first: it is why keys collide"
		}
	}
	if c.counter(table) != nil {
		return "give the keys of all databases but one an offset; " + CodeAutoIncrement + " says which"
	}
	return documented(CodeKeyCollision).Action
}

// keyName tells keys apart in a map.
func keyName(table string, columns []string) string {
	return sqlName(table) + "." + columnList(columns)
}
