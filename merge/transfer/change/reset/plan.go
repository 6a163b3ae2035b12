package reset

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/change/reset/restore"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
)

// choose decides how the tables are emptied that are declared so, and refuses those of
// which that cannot be undone, or leaves rows that refer to nothing.
func choose(ctx context.Context, p *step.Planning) error {
	target := p.DBs[0]
	outside, err := referrers(ctx, p)
	if err != nil {
		return err
	}
	var chosen []*catalog.Table
	for _, name := range p.Report.Reset {
		refuse := func(of plan.Place, format string, args ...any) {
			p.Refuse(plan.Refusal{Place: of, Table: name, Reason: fmt.Sprintf(format, args...)})
		}
		t := target.Table(name)
		if t == nil {
			if i := slices.IndexFunc(target.Known.Skipped, func(s catalog.Skipped) bool { return s.Table == name }); i >= 0 {
				refuse(plan.PlaceRights, "it cannot be emptied, because it is not read: %s", target.Known.Skipped[i].Reason)
			}
			continue // there is nothing to empty
		}
		for _, other := range outside[name] {
			refuse(plan.PlaceEngine, "the table %s refers to it and is not read here: drop its foreign key, or give the table another policy than %q", other, declare.PolicyReset)
		}
		chosen = append(chosen, t)
		p.Plan.Resets = append(p.Plan.Resets, plan.Reset{Table: name, Moved: movesRows(target, t)})
	}
	if len(chosen) > 0 && restore.HidesTriggers(target) {
		p.Refuse(plan.Refusal{Place: plan.PlaceRights, Source: target.Name(), Reason: "a table is to be emptied, and the account cannot see whether that would run a trigger: plan with an account that can see triggers"})
	}
	return p.RefuseOutside(ctx, chosen)
}

// referrers are the tables with a foreign key to a table of the target that its catalogue
// does not have: those of other databases, and those that are not read.
func referrers(ctx context.Context, p *step.Planning) (map[string][]string, error) {
	target, found := p.DBs[0], make(map[string][]string)
	if len(p.Report.Reset) == 0 || !target.Dialect.MySQL() {
		return found, nil
	}
	const query = `SELECT DISTINCT REFERENCED_TABLE_NAME, TABLE_NAME, TABLE_SCHEMA, TABLE_SCHEMA = DATABASE() FROM information_schema.KEY_COLUMN_USAGE
		WHERE REFERENCED_TABLE_SCHEMA = DATABASE() ORDER BY TABLE_SCHEMA, TABLE_NAME`
	err := target.On.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		to, from, here := rowio.Text(row[0]), rowio.Text(row[1]), rowio.Text(row[3]) == "1"
		if !here || target.Table(from) == nil {
			found[to] = append(found[to], target.Dialect.Quote(rowio.Text(row[2]))+"."+target.Dialect.Quote(from))
		}
		return true, nil
	})
	return found, err
}

// movesRows reports whether the rows of a table have to be moved, because it cannot be
// renamed.
func movesRows(s *rowio.Source, t *catalog.Table) bool {
	toIt := func(other catalog.Table) bool {
		return slices.ContainsFunc(other.References, func(r catalog.Reference) bool { return r.ToTable == t.Name })
	}
	check := func(c catalog.Condition) bool { return c.Kind == catalog.ConditionCheck }
	return !s.Dialect.MySQL() || len(t.References)+len(t.Triggers) > 0 || slices.ContainsFunc(s.Known.Tables, toIt) ||
		s.Known.Engine == "mysql" && slices.ContainsFunc(t.Conditions, check) // their names are unique in a database
}

// measure sums up the rows that are taken out.
func measure(ctx context.Context, p *step.Planning) error {
	target := p.DBs[0]
	for i := range p.Plan.Resets {
		s := &p.Plan.Resets[i]
		c, err := rowio.ContentsOfMultiset(ctx, target.On, job.ResetLayout(target.Dialect, target.Table(s.Table)), nil, func(int) error { return ctx.Err() })
		if err != nil {
			return err
		}
		s.Rows, s.Sum = c.Rows, c.Sum
	}
	return nil
}
