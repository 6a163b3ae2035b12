package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
)

// choose decides which tables are copied, in which order, and refuses those that
// cannot be copied faithfully.
func (p *planner) choose(ctx context.Context) error {
	target := p.dbs[0]
	for _, hidden := range target.catalog.Hidden {
		if hidden.What == merge.HiddenTriggers {
			continue // the check says so, and the operator may have looked
		}
		p.refuse(Refusal{Source: target.Name(), Reason: "the account cannot see " + hidden.String()})
	}
	var chosen []*merge.Table
	for i := range target.catalog.Tables {
		t := &target.catalog.Tables[i]
		if p.excluded(t.Name) {
			p.plan.Left = append(p.plan.Left, Left{t.Name, "excluded by the operator"})
			continue
		}
		if tool := p.history(t.Name); tool != "" {
			p.plan.Left = append(p.plan.Left, Left{t.Name, "it is the history of migrations that " + tool + " keeps: the target's stays"})
			continue
		}
		if why, skipped := p.skip[t.Name]; skipped {
			p.plan.Left = append(p.plan.Left, Left{t.Name, why})
			continue
		}
		if p.same[t.Name] {
			p.plan.Left = append(p.plan.Left, Left{t.Name, "it is the same in every database, as the check found: the target's stays"})
			continue
		}
		rows := int64(0)
		for _, s := range p.dbs[1:] {
			rows += p.rows[s.Name()][t.Name]
		}
		if rows == 0 && !p.renamedAlong(t.Name) {
			why := "no source has a row in it"
			if p.plan.withheld(p.dbs[0].dialect)[t.Name] != "" {
				why = "no source has a row to copy: all stay behind, as declared"
			}
			p.plan.Left = append(p.plan.Left, Left{t.Name, why})
		} else if p.copyable(t) {
			chosen = append(chosen, t)
		}
	}
	if err := p.refuseOutside(ctx, chosen); err != nil {
		return err
	}
	for _, t := range chosen {
		for _, r := range t.References {
			if _, skipped := p.skip[r.ToTable]; (skipped || p.excluded(r.ToTable)) && !p.plan.severs(t.Name, r.ToTable) {
				p.refuse(Refusal{Table: t.Name, Reason: fmt.Sprintf("it refers to rows of %q, which is not copied: leave out both or neither", r.ToTable)})
			}
		}
	}
	for _, t := range inOrder(chosen) {
		p.plan.Tables = append(p.plan.Tables, p.table(t))
	}
	p.leaveUnread()
	return nil
}

// history names the tool whose history of migrations a table is in every database
// that has it, as the check sees it; "" if it is none.
func (p *planner) history(table string) (tool string) {
	for _, s := range p.dbs {
		if t := s.table(table); t != nil {
			if tool = t.History(); tool == "" {
				return ""
			}
		}
	}
	return tool
}

// refuseOutside refuses tables of the target whose engine has no transactions, and
// lists the statements that give them one that has.
func (p *planner) refuseOutside(ctx context.Context, chosen []*merge.Table) error {
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
		p.plan.Prepare = append(p.plan.Prepare, statement)
	}
	if n > 0 {
		p.refuse(Refusal{Source: p.plan.Target.Name, Reason: fmt.Sprintf(
			"the engine of %s (%s) has no transactions, so a merge that is interrupted could not be resumed or undone: run the ALTER TABLE statements of this plan, then plan again",
			printable.Count(int64(n), "table", "tables"), strings.Join(engines, ", "))})
	}
	return nil
}

// toInnoDB is the statement that gives a table an engine with transactions. Options of the old
// engine that InnoDB refuses, or takes for something else, go.
func (p *planner) toInnoDB(ctx context.Context, t *merge.Table) (string, error) {
	d, made := p.dbs[0].dialect, ""
	err := p.dbs[0].on.rows(ctx, "SHOW CREATE TABLE "+d.Quote(t.Name), false, nil, func(row []any) (bool, error) {
		made = text(row[1])
		return true, nil
	})
	if err != nil {
		return "", fmt.Errorf("table %q of %q: %w", t.Name, p.plan.Target.Name, err)
	}
	statement := "ALTER TABLE " + d.Quote(t.Name) + " ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0"
	leads := func(column string) bool { // a key
		return slices.ContainsFunc(strings.Split(made, "\n"), func(line string) bool {
			return strings.Contains(line, "KEY ") && strings.Contains(line, " ("+d.Quote(column))
		})
	}
	if c := t.AutoIncrement; c != nil && !leads(c.Column) {
		statement += ", ADD KEY (" + d.Quote(c.Column) + ")"
		p.refuse(Refusal{Source: p.plan.Target.Name, Table: t.Name, Reason: fmt.Sprintf(
			"its column %s counts anew for each value of the columns before it in the key, as only %s does: "+
				"after the ALTER TABLE of this plan it counts through the whole table; "+
				"if the game needs the numbers as they are now, leave the table out of the merge", c.Column, t.Engine)})
	}
	if p.plan.Engine == "mariadb" && strings.Contains(made, " DIRECTORY='") {
		// InnoDB takes no other directory for indexes, and no ALTER TABLE takes the option off.
		statement = "SET STATEMENT innodb_strict_mode=OFF FOR " + statement
	}
	return statement + ";", nil
}

// leaveUnread lists the tables that were not read in at least one database: if the
// operator allows that, the plan has to show that these rows are not copied.
func (p *planner) leaveUnread() {
	why := make(map[string][]string)
	for _, s := range p.dbs {
		for _, skipped := range s.catalog.Skipped {
			why[skipped.Table] = append(why[skipped.Table], s.Name()+": "+skipped.Reason)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(why)) {
		p.plan.Left = append(p.plan.Left, Left{table, "it is not read: " + strings.Join(why[table], "; ")})
	}
}

// copyable reports whether the rows of a table can be copied, and refuses it if
// not.
func (p *planner) copyable(t *merge.Table) bool {
	before := len(p.plan.Refusals)
	refuse := func(format string, args ...any) {
		p.refuse(Refusal{Table: t.Name, Reason: fmt.Sprintf(format, args...)})
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
	for _, s := range p.dbs[1:] {
		other := s.table(t.Name)
		if other == nil {
			continue // package merge has said so
		}
		for _, c := range t.Columns {
			// A value that one database generates and the other stores may be
			// generated differently tomorrow.
			i := slices.IndexFunc(other.Columns, func(o merge.Column) bool { return strings.EqualFold(o.Name, c.Name) })
			switch {
			case i < 0 && c.Generated == "":
				readable = false
				if !slices.ContainsFunc(p.plan.Refusals, func(r Refusal) bool { return r.Table == t.Name && r.Code == merge.CodeSchemaColumn }) {
					refuse("the column %q is not in %q", c.Name, s.Name())
				}
			case i >= 0 && other.Columns[i].Generated != c.Generated:
				refuse("the column %q is generated by the database in %q or in the target, and not in the same way in both", c.Name, s.Name())
			}
		}
	}
	return readable && len(p.plan.Refusals) == before
}

// inOrder sorts tables so that a table comes after those that it references, as far
// as they do not reference each other, and otherwise by name.
func inOrder(tables []*merge.Table) (sorted []*merge.Table) {
	rest := slices.Clone(tables)
	slices.SortFunc(rest, func(a, b *merge.Table) int { return strings.Compare(a.Name, b.Name) })
	for len(rest) > 0 {
		ready := slices.IndexFunc(rest, func(t *merge.Table) bool {
			return !slices.ContainsFunc(t.References, func(r merge.Reference) bool {
				return r.ToTable != t.Name && slices.ContainsFunc(rest, func(other *merge.Table) bool { return other.Name == r.ToTable })
			})
		})
		ready = max(ready, 0)
		sorted = append(sorted, rest[ready])
		rest = slices.Delete(rest, ready, ready+1)
	}
	return sorted
}

func (p *planner) table(t *merge.Table) Table {
	l := newLayout(p.dbs[0].dialect, t)
	out := Table{Name: t.Name, Key: append([]string{}, t.Key()...), Columns: l.columns, Sources: make([]Content, len(p.plan.Sources))}
	for _, c := range t.Columns {
		if c.Generated != "" {
			out.Generated = append(out.Generated, c.Name)
		}
	}
	if c := p.combined[t.Name]; c != nil {
		out.Combine = &Combine{Columns: c.Columns, When: c.When, Matched: c.Matched}
	}
	if t.AutoIncrement != nil {
		out.Counter = &Counter{Column: t.AutoIncrement.Column, Before: t.AutoIncrement.Next, After: t.AutoIncrement.Next}
		for _, s := range p.dbs[1:] {
			if other := s.table(t.Name); other != nil && other.AutoIncrement != nil {
				out.Counter.After = max(out.Counter.After, other.AutoIncrement.Next)
			}
		}
		if p.plan.Rekey != nil {
			next, most := p.plan.Rekey.Counter(t.Name, out.Counter.Column, t.AutoIncrement.Max)
			if most == 0 || next <= most {
				out.Counter.After = max(out.Counter.After, next)
			} else if p.plan.Rekey.Moves() && out.Counter.After < most { // else a world had come to the end before
				p.refuse(Refusal{Table: t.Name, Reason: fmt.Sprintf("its column %s would continue at %d, and ends at %d, so the game could make no more rows: "+
					"give it a larger type in all databases, or raise max of its space", out.Counter.Column, next, most)})
			}
		}
	}
	return out
}
