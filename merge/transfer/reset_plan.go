package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge"
)

// resets decides how the tables are emptied that are declared so, and refuses those of
// which that cannot be undone, or leaves rows that refer to nothing.
func (p *planner) resets(ctx context.Context) error {
	target := p.dbs[0]
	outside, err := p.referrers(ctx)
	if err != nil {
		return err
	}
	var chosen []*merge.Table
	for _, name := range p.emptied {
		refuse := func(format string, args ...any) {
			p.refuse(Refusal{Table: name, Reason: fmt.Sprintf(format, args...)})
		}
		if p.excluded(name) {
			refuse("it is excluded, and declared to be emptied (policy %q): remove one of the two", merge.PolicyReset)
			continue
		}
		t := target.table(name)
		if t == nil {
			if i := slices.IndexFunc(target.catalog.Skipped, func(s merge.Skipped) bool { return s.Table == name }); i >= 0 {
				refuse("it cannot be emptied, because it is not read: %s", target.catalog.Skipped[i].Reason)
			}
			continue // there is nothing to empty
		}
		if tool := p.history(name); tool != "" {
			refuse("it is the history of migrations that %s keeps, so it must not be emptied: give it another policy than %q", tool, merge.PolicyReset)
		}
		for _, other := range target.catalog.Tables {
			foreign := slices.ContainsFunc(other.References, func(r merge.Reference) bool { return r.ToTable == name })
			n, counted := p.rows[target.Name()][other.Name]
			if foreign && !slices.Contains(p.emptied, other.Name) && (n > 0 || !counted) && p.plan.table(other.Name) == nil && !p.plan.severs(other.Name, name) {
				refuse("rows of %q reference its rows, which are removed: empty both or neither", other.Name)
			}
		}
		for _, other := range outside[name] {
			refuse("the table %s refers to it and is not read here: drop its foreign key, or give the table another policy than %q", other, merge.PolicyReset)
		}
		for _, reason := range resetTriggers(t, false) {
			refuse("%s", reason)
		}
		chosen = append(chosen, t)
		p.plan.Resets = append(p.plan.Resets, Reset{Table: name, Moved: target.movesRows(t)})
	}
	if len(chosen) > 0 && hidesTriggers(target) {
		p.refuse(Refusal{Source: target.Name(), Reason: "a table is to be emptied, and the account cannot see whether that would run a trigger: plan with an account that can see triggers"})
	}
	return p.refuseOutside(ctx, chosen)
}

// referrers are the tables with a foreign key to a table of the target that its catalogue
// does not have: those of other databases, and those that are not read.
func (p *planner) referrers(ctx context.Context) (map[string][]string, error) {
	target, found := p.dbs[0], make(map[string][]string)
	if len(p.emptied) == 0 || !target.dialect.mysql() {
		return found, nil
	}
	const query = `SELECT DISTINCT REFERENCED_TABLE_NAME, TABLE_NAME, TABLE_SCHEMA, TABLE_SCHEMA = DATABASE() FROM information_schema.KEY_COLUMN_USAGE
		WHERE REFERENCED_TABLE_SCHEMA = DATABASE() ORDER BY TABLE_SCHEMA, TABLE_NAME`
	err := target.on.rows(ctx, query, false, nil, func(row []any) (bool, error) {
		to, from, here := text(row[0]), text(row[1]), text(row[3]) == "1"
		if !here || target.table(from) == nil {
			found[to] = append(found[to], target.dialect.Quote(text(row[2]))+"."+target.dialect.Quote(from))
		}
		return true, nil
	})
	return found, err
}

// movesRows reports whether the rows of a table have to be moved, because it cannot be
// renamed.
func (s *source) movesRows(t *merge.Table) bool {
	toIt := func(other merge.Table) bool {
		return slices.ContainsFunc(other.References, func(r merge.Reference) bool { return r.ToTable == t.Name })
	}
	check := func(c merge.Condition) bool { return c.Kind == merge.ConditionCheck }
	return !s.dialect.mysql() || len(t.References)+len(t.Triggers) > 0 || slices.ContainsFunc(s.catalog.Tables, toIt) ||
		s.catalog.Engine == "mysql" && slices.ContainsFunc(t.Conditions, check) // their names are unique in a database
}

// resetTriggers returns the triggers that keep a table from being emptied, or its rows from
// being put back, and why. A table that is renamed would take all of them along.
func resetTriggers(t *merge.Table, renamed bool) (reasons []string) {
	for _, r := range t.Triggers {
		if renamed || r.On(merge.OnDelete) || r.On(merge.OnInsert) {
			reasons = append(reasons, fmt.Sprintf("the trigger %q (%s) would run for rows that are removed, or put back by an undo, or would be lost: drop it for the time of both, "+
				"or give the table the policy %q and empty it by hand", r.Name, r.Event, merge.PolicySkip))
		}
	}
	return reasons
}

func hidesTriggers(s *source) bool {
	return slices.ContainsFunc(s.catalog.Hidden, func(h merge.Hidden) bool { return h.What == merge.HiddenTriggers })
}

// measureResets sums up the rows that are taken out.
func (p *planner) measureResets(ctx context.Context) error {
	target := p.dbs[0]
	for i := range p.plan.Resets {
		s := &p.plan.Resets[i]
		c, err := contentsOfMultiset(ctx, target.on, resetLayout(target.dialect, target.table(s.Table)), nil, func(int) error { return ctx.Err() })
		if err != nil {
			return err
		}
		s.Rows, s.Sum = c.Rows, c.Sum
	}
	return nil
}
