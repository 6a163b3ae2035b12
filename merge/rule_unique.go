package merge

import (
	"context"
	"slices"
)

// planUniques holds the values of every unique index of the target, and of
// every unique that the operator declared, against each other, over all sources
// and as the target's collation compares. Rows with a NULL take no part.
func (c *checker) planUniques() {
	for _, table := range c.tables {
		for _, u := range c.uniques(table) {
			if c.wants(CodeUniqueCollision, table, columnList(u.Columns)) {
				c.plan(task{CodeUniqueCollision + " " + keyName(table, u.Columns), []string{table}, func(ctx context.Context) error { return c.checkUnique(ctx, table, u) }})
			}
		}
	}
}

// unique is a unique index, or what the operator wants to be like one.
type unique struct {
	Unique
	declared bool
}

// uniques returns what is to be unique in a table besides its key, by columns.
func (c *checker) uniques(table string) (all []unique) {
	_, model := c.model(table)
	key := model.key()
	for _, u := range model.Uniques {
		if u.Unclear != "" || len(model.Primary) > 0 || !slices.Equal(u.Columns, key) {
			all = append(all, unique{Unique: u})
		}
	}
	for _, d := range c.opts.Uniques {
		same := func(u unique) bool { return u.Unclear == "" && slices.Equal(u.Columns, d.Columns) }
		if d.Table == table && !slices.Equal(d.Columns, key) && !slices.ContainsFunc(all, same) {
			all = append(all, unique{Unique{Name: d.Name, Columns: d.Columns}, true})
		}
	}
	slices.SortStableFunc(all, func(a, b unique) int { return slices.Compare(a.Columns, b.Columns) })
	return all
}

func (c *checker) checkUnique(ctx context.Context, table string, u unique) error {
	result := Result{Code: CodeUniqueCollision, Table: table, Subject: columnList(u.Columns)}
	if u.Unclear != "" {
		result.Gaps = []Gap{{Reason: "index " + u.Name + ": " + u.Unclear}}
		result.Message = "cannot be checked"
		c.add(result)
		return nil
	}
	r, err := c.read(ctx, question{code: CodeUniqueCollision, table: table, columns: u.Columns, skipNull: true})
	if err != nil {
		return err
	}
	result.Gaps = r.gaps
	if result.Samples, err = c.samples(ctx, r.found.kept, table, u.Columns); err != nil {
		return err
	}
	for _, s := range r.streams {
		result.Read += s.read
	}
	r.found.describe(&result, "value", !u.declared)
	if u.declared && u.Name != "" {
		result.Message = u.Name + ": " + result.Message
	}
	c.disjoint[keyName(table, u.Columns)] = result.Count == 0 && len(result.Gaps) == 0
	if result.Alike = c.alike[table] && result.Count > 0; result.Alike {
		c.addWith("leave the table out if it is the game's own data; otherwise "+documented(result.Code).Action, result)
	} else {
		c.add(result)
	}
	return nil
}
