package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/change/all"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// choose decides which tables are copied, in which order, and refuses those that
// cannot be copied faithfully.
func choose(ctx context.Context, p *Planner) error {
	target := p.DBs[0]
	for _, hidden := range target.Known.Hidden {
		if hidden.What == catalog.HiddenTriggers {
			continue // the check says so, and the operator may have looked
		}
		p.refuse(plan.Refusal{Place: plan.PlaceRights, Source: target.Name(), Reason: "the account cannot see " + hidden.String()})
	}
	touched := step.Touched(all.Changes(), p.Planning)
	var chosen []*catalog.Table
	for i := range target.Known.Tables {
		t := &target.Known.Tables[i]
		if p.excluded(t.Name) {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: "excluded by the operator"})
			continue
		}
		if tool := p.History(t.Name); tool != "" {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: "it is the history of migrations that " + tool + " keeps: the target's stays"})
			continue
		}
		if why, skipped := p.skip[t.Name]; skipped {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: why})
			continue
		}
		if p.Same[t.Name] {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: "it is the same in every database, as the check found: the target's stays"})
			continue
		}
		rows := int64(0)
		for _, s := range p.DBs[1:] {
			rows += p.Rows[s.Name()][t.Name]
		}
		if rows == 0 && !touched(t.Name) {
			why := "no source has a row in it"
			if slices.ContainsFunc(p.DBs[1:], func(s *rowio.Source) bool { return s.On.Withheld[t.Name] != "" }) {
				why = "no source has a row to copy: all stay behind, as declared"
			}
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: why})
		} else if p.copyable(t) {
			chosen = append(chosen, t)
		}
	}
	if err := p.RefuseOutside(ctx, chosen); err != nil {
		return err
	}
	for _, t := range inOrder(chosen) {
		p.Plan.Tables = append(p.Plan.Tables, p.table(t))
	}
	p.leaveUnread()
	return nil
}

// leaveUnread lists the tables that were not read in at least one database: if the
// operator allows that, the plan has to show that these rows are not copied.
func (p *Planner) leaveUnread() {
	why := make(map[string][]string)
	for _, s := range p.DBs {
		for _, skipped := range s.Known.Skipped {
			why[skipped.Table] = append(why[skipped.Table], s.Name()+": "+skipped.Reason)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(why)) {
		p.Plan.Left = append(p.Plan.Left, plan.Left{Table: table, Reason: "it is not read: " + strings.Join(why[table], "; ")})
	}
}

// copyable reports whether the rows of a table can be copied, as the check says too.
func (p *Planner) copyable(t *catalog.Table) bool {
	before := len(p.Plan.Refusals)
	if t.Key() == nil {
		p.refuseLarge(t)
	}
	for _, s := range p.DBs[1:] {
		for _, c := range t.Columns {
			named := func(o catalog.Column) bool { return strings.EqualFold(o.Name, c.Name) }
			if other := s.Table(t.Name); other != nil && c.Generated == "" && !slices.ContainsFunc(other.Columns, named) {
				return false // which the check reports
			}
		}
	}
	uncopyable := func(r plan.Refusal) bool { return r.Table == t.Name && r.Code == verdict.CodeTableUncopyable }
	return len(p.Plan.Refusals) == before && !slices.ContainsFunc(p.Plan.Refusals, uncopyable)
}

// inOrder sorts tables so that a table comes after those that it references, as far
// as they do not reference each other, and otherwise by name.
func inOrder(tables []*catalog.Table) (sorted []*catalog.Table) {
	rest := slices.Clone(tables)
	slices.SortFunc(rest, func(a, b *catalog.Table) int { return strings.Compare(a.Name, b.Name) })
	for len(rest) > 0 {
		ready := slices.IndexFunc(rest, func(t *catalog.Table) bool {
			return !slices.ContainsFunc(t.References, func(r catalog.Reference) bool {
				return r.ToTable != t.Name && slices.ContainsFunc(rest, func(other *catalog.Table) bool { return other.Name == r.ToTable })
			})
		})
		ready = max(ready, 0)
		sorted = append(sorted, rest[ready])
		rest = slices.Delete(rest, ready, ready+1)
	}
	return sorted
}

func (p *Planner) table(t *catalog.Table) plan.Table {
	l := rowio.NewLayout(p.DBs[0].Dialect, t)
	out := plan.Table{Name: t.Name, Key: append([]string{}, t.Key()...), Columns: l.Columns, Sources: make([]rowio.Content, len(p.Plan.Sources))}
	for _, c := range t.Columns {
		if c.Generated != "" {
			out.Generated = append(out.Generated, c.Name)
		}
	}
	if t.AutoIncrement != nil {
		out.Counter = &plan.Counter{Column: t.AutoIncrement.Column, Before: t.AutoIncrement.Next, After: t.AutoIncrement.Next}
		for _, s := range p.DBs[1:] {
			if other := s.Table(t.Name); other != nil && other.AutoIncrement != nil {
				out.Counter.After = max(out.Counter.After, other.AutoIncrement.Next)
			}
		}
		if p.Plan.Rekey != nil {
			next, most := p.Plan.Rekey.Counter(t.Name, out.Counter.Column, t.AutoIncrement.Max)
			if most == 0 || next <= most {
				out.Counter.After = max(out.Counter.After, next)
			} else if p.Plan.Rekey.Moves() && out.Counter.After < most { // else a world had come to the end before
				p.refuse(plan.Refusal{Place: plan.PlaceRoom, Table: t.Name, Reason: fmt.Sprintf("its column %s would continue at %d, and ends at %d, so the game could make no more rows: "+
					"give it a larger type in all databases, or raise max of its space", out.Counter.Column, next, most)})
			}
		}
	}
	return out
}
