package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// choose decides of which tables rows are copied, from which worlds and in which order, and refuses
// those that cannot be copied faithfully.
func choose(_ context.Context, p *Planner) error {
	first := p.DBs[0]
	if first.Table(record.KeysView) != nil && p.Plan.Rekey != nil {
		p.refuse(plan.Refusal{Place: plan.PlaceInto, Table: record.KeysView, Reason: "the table has the name of the view in which the new database shows the keys that moved: rename it in all worlds"})
	}
	p.giveEngine()
	only, empty := make(map[string]bool), make(map[string]bool)
	var chosen []*catalog.Table
	for i := range first.Known.Tables {
		t := &first.Known.Tables[i]
		why := p.stays(t)
		if why == "" && p.noneToCome(t) {
			why, empty[t.Name] = "no other world has a row in it", true
			if slices.ContainsFunc(p.DBs[1:], func(s *world.World) bool { return s.On.Withheld[t.Name] != "" }) {
				why = "no other world has a row to copy: all rows stay behind, as declared"
			}
		}
		if why != "" {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: why})
		}
		if slices.Contains(p.Report.Reset, t.Name) {
			continue
		}
		if only[t.Name] = why != ""; only[t.Name] || p.copyable(t) {
			chosen = append(chosen, t)
		}
	}
	for _, t := range inOrder(chosen) {
		of := p.table(t, only[t.Name])
		of.None = empty[t.Name]
		p.Plan.Tables = append(p.Plan.Tables, of)
	}
	p.leaveUnread()
	return nil
}

// giveEngine gives the tables whose engine has no transactions the one that the operator says.
func (p *Planner) giveEngine() {
	var engines []string
	n := int64(0)
	for _, t := range p.DBs[0].Known.Tables {
		if t.Outside != "" {
			n, engines = n+1, append(engines, t.Engine)
		}
	}
	if n == 0 {
		return
	}
	if p.Plan.New.Engine = p.opts.Check.Engine; p.Plan.New.Engine != "" {
		return
	}
	slices.Sort(engines)
	p.refuse(plan.Refusal{Place: plan.PlaceEngine, Source: p.Plan.Worlds[0].Name, Reason: fmt.Sprintf(
		"the engine of %s (%s) has no transactions, so an interrupted merge could not be resumed: write engine = %q below [merge] in your rules, and they get that engine in the new database",
		printable.Count(n, "table", "tables"), strings.Join(slices.Compact(engines), ", "), rules.InnoDB)})
}

// stays says why no rows of a table come but those of the first world; "" if others come.
func (p *Planner) stays(t *catalog.Table) (why string) {
	if tool := p.History(t.Name); tool != "" {
		return "it is the history of migrations that " + tool + " keeps: the first world's is copied"
	}
	if why, skipped := p.skip[t.Name]; skipped {
		return why
	}
	if p.Same[t.Name] {
		return "it is the same in every world, as the check found: only the first world's rows are copied"
	}
	return ""
}

// noneToCome reports whether no world but the first has a row of a table to come.
func (p *Planner) noneToCome(t *catalog.Table) bool {
	return !slices.ContainsFunc(p.DBs[1:], func(s *world.World) bool { return p.Rows[s.Name()][t.Name] > 0 })
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

func (p *Planner) table(t *catalog.Table, only bool) plan.Table {
	l := world.NewLayout(p.DBs[0].Dialect, t)
	out := plan.Table{Name: t.Name, Key: append([]string{}, t.Key()...), Columns: l.Columns, Worlds: make([]world.Content, len(p.Plan.Worlds)), Only: only}
	for _, c := range t.Columns {
		if c.Generated != "" {
			out.Generated = append(out.Generated, c.Name)
		}
	}
	own := t.AutoIncrement
	if own == nil {
		return out
	}
	// References of other worlds to rows that are not there get new values too, which no row of the game may have later.
	if moved := p.Plan.Rekey.Column(t.Name, own.Column); !only || moved != nil && moved.Key {
		var others []*catalog.AutoIncrement
		for _, s := range p.DBs[1:] {
			if other := s.Table(t.Name); other != nil && other.AutoIncrement != nil && !only {
				others = append(others, other.AutoIncrement)
			}
		}
		next, _ := p.Plan.Rekey.Counter(t.Name, own, others...)
		out.Counter = &plan.Counter{Column: own.Column, Before: own.Next, After: next}
	}
	return out
}
