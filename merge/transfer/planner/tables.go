package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/catalog"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
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
		p.refuse(plan.Refusal{Source: target.Name(), Reason: "the account cannot see " + hidden.String()})
	}
	var chosen []*catalog.Table
	for i := range target.Known.Tables {
		t := &target.Known.Tables[i]
		if p.excluded(t.Name) {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: "excluded by the operator"})
			continue
		}
		if tool := p.history(t.Name); tool != "" {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: "it is the history of migrations that " + tool + " keeps: the target's stays"})
			continue
		}
		if why, skipped := p.skip[t.Name]; skipped {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: why})
			continue
		}
		if p.same[t.Name] {
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: "it is the same in every database, as the check found: the target's stays"})
			continue
		}
		rows := int64(0)
		for _, s := range p.DBs[1:] {
			rows += p.Rows[s.Name()][t.Name]
		}
		if rows == 0 && !p.renamedAlong(t.Name) {
			why := "no source has a row in it"
			if p.Plan.Withheld(p.DBs[0].Dialect)[t.Name] != "" {
				why = "no source has a row to copy: all stay behind, as declared"
			}
			p.Plan.Left = append(p.Plan.Left, plan.Left{Table: t.Name, Reason: why})
		} else if p.copyable(t) {
			chosen = append(chosen, t)
		}
	}
	if err := p.refuseOutside(ctx, chosen); err != nil {
		return err
	}
	for _, t := range chosen {
		for _, r := range t.References {
			if _, skipped := p.skip[r.ToTable]; (skipped || p.excluded(r.ToTable)) && !p.Plan.Severs(t.Name, r.ToTable) {
				p.refuse(plan.Refusal{Table: t.Name, Reason: fmt.Sprintf("it refers to rows of %q, which is not copied: leave out both or neither", r.ToTable)})
			}
		}
	}
	for _, t := range inOrder(chosen) {
		p.Plan.Tables = append(p.Plan.Tables, p.table(t))
	}
	p.leaveUnread()
	return nil
}

// history names the tool whose history of migrations a table is in every database
// that has it, as the check sees it; "" if it is none.
func (p *Planner) history(table string) (tool string) {
	for _, s := range p.DBs {
		if t := s.Table(table); t != nil {
			if tool = t.History(); tool == "" {
				return ""
			}
		}
	}
	return tool
}

// refuseOutside refuses tables of the target whose engine has no transactions, and
// lists the statements that give them one that has.
func (p *Planner) refuseOutside(ctx context.Context, chosen []*catalog.Table) error {
	var engines []string
	n := 0
	for _, t := range chosen {
		if t.Outside == "" {
			continue
		}
		n++
		if !slices.Contains(engines, t.Engine) {
			engines = append(engines, t.Engine)
		}
		statement, err := p.toInnoDB(ctx, t)
		if err != nil {
			return err
		}
		p.Plan.Prepare = append(p.Plan.Prepare, statement)
	}
	if n > 0 {
		p.refuse(plan.Refusal{Source: p.Plan.Target.Name, Reason: fmt.Sprintf(
			"the engine of %s (%s) has no transactions, so a merge that is interrupted could not be resumed or undone: run the ALTER TABLE statements of this plan, then plan again",
			printable.Count(int64(n), "table", "tables"), strings.Join(engines, ", "))})
	}
	return nil
}

// toInnoDB is the statement that gives a table an engine with transactions. Options of the old
// engine that InnoDB refuses, or takes for something else, go.
func (p *Planner) toInnoDB(ctx context.Context, t *catalog.Table) (string, error) {
	d, made := p.DBs[0].Dialect, ""
	err := p.DBs[0].On.Rows(ctx, "SHOW CREATE TABLE "+d.Quote(t.Name), false, nil, func(row []any) (bool, error) {
		made = rowio.Text(row[1])
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("table %q of %q: %w", t.Name, p.Plan.Target.Name, err)
	}
	statement := "ALTER TABLE " + d.Quote(t.Name) + " ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0"
	leads := func(column string) bool { // a key
		return slices.ContainsFunc(strings.Split(made, "\n"), func(line string) bool {
			return strings.Contains(line, "KEY ") && strings.Contains(line, " ("+d.Quote(column))
		})
	}
	if c := t.AutoIncrement; c != nil && !leads(c.Column) {
		statement += ", ADD KEY (" + d.Quote(c.Column) + ")"
		p.refuse(plan.Refusal{Source: p.Plan.Target.Name, Table: t.Name, Reason: fmt.Sprintf(
			"its column %s counts anew for each value of the columns before it in the key, as only %s does: "+
				"after the ALTER TABLE of this plan it counts through the whole table; "+
				"if the game needs the numbers as they are now, leave the table out of the merge", c.Column, t.Engine)})
	}
	if p.Plan.Engine == "mariadb" && strings.Contains(made, " DIRECTORY='") {
		// InnoDB takes no other directory for indexes, and no ALTER TABLE takes the option off.
		statement = "SET STATEMENT innodb_strict_mode=OFF FOR " + statement
	}
	return statement + ";", nil
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

// copyable reports whether the rows of a table can be copied, and refuses it if
// not.
func (p *Planner) copyable(t *catalog.Table) bool {
	before := len(p.Plan.Refusals)
	refuse := func(format string, args ...any) {
		p.refuse(plan.Refusal{Table: t.Name, Reason: fmt.Sprintf(format, args...)})
	}
	if t.Key() == nil {
		p.multiset(t)
	}
	for _, c := range t.Columns {
		if c.Generated != "" && slices.Contains(t.Key(), c.Name) {
			refuse("the column %q of its key is generated by the database", c.Name)
		}
	}
	readable := true
	for _, s := range p.DBs[1:] {
		other := s.Table(t.Name)
		if other == nil {
			continue // package merge has said so
		}
		for _, c := range t.Columns {
			// A value that one database generates and the other stores may be
			// generated differently tomorrow.
			i := slices.IndexFunc(other.Columns, func(o catalog.Column) bool { return strings.EqualFold(o.Name, c.Name) })
			switch {
			case i < 0 && c.Generated == "":
				readable = false
				if !slices.ContainsFunc(p.Plan.Refusals, func(r plan.Refusal) bool { return r.Table == t.Name && r.Code == verdict.CodeSchemaColumn }) {
					refuse("the column %q is not in %q", c.Name, s.Name())
				}
			case i >= 0 && other.Columns[i].Generated != c.Generated:
				refuse("the column %q is generated by the database in %q or in the target, and not in the same way in both", c.Name, s.Name())
			}
		}
	}
	return readable && len(p.Plan.Refusals) == before
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
	if c := p.combined[t.Name]; c != nil {
		out.Combine = &plan.Combine{Columns: c.Columns, When: c.When, Matched: c.Matched}
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
				p.refuse(plan.Refusal{Table: t.Name, Reason: fmt.Sprintf("its column %s would continue at %d, and ends at %d, so the game could make no more rows: "+
					"give it a larger type in all databases, or raise max of its space", out.Counter.Column, next, most)})
			}
		}
	}
	return out
}
