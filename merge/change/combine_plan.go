package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mapping"
	"mergesafe/merge/plan"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// planCombine notes of the tables of a plan that they are combined.
func planCombine(_ context.Context, p *Planning) error {
	for _, c := range p.Report.Combined {
		if t := p.Plan.Table(c.Table); t != nil && !t.Only {
			t.Combine = &plan.Combine{Combining: c.Combining}
		}
	}
	return nil
}

// measureCombine works out what becomes of the rows of tables that are combined, and refuses
// those of which the formulas have no result that the new database takes.
func measureCombine(ctx context.Context, p *Planning) error {
	for _, i := range p.Plan.Combines() {
		t := &p.Plan.Tables[i]
		if err := measureCombinedTable(ctx, p, t); err != nil {
			return fmt.Errorf("combining table %q: %w", t.Name, err)
		}
	}
	return nil
}

func measureCombinedTable(ctx context.Context, p *Planning, t *plan.Table) error {
	first := p.DBs[0]
	of := first.Table(t.Name)
	l := world.NewLayout(first.Dialect, of)
	var worlds []*world.Connection
	for _, s := range p.DBs {
		worlds = append(worlds, s.On)
	}
	m := &measuring{p: p, t: t, of: of, Combiner: newCombiner(p.Plan, t, mapping.NewMapping(p.Plan, p.Opts.Check.Codecs), worlds, l), refused: make(map[string]*world.RowSamples)}
	if err := m.begin(ctx); err != nil {
		return err
	}
	for i, s := range p.DBs {
		if s.Table(t.Name) == nil {
			continue
		}
		err := m.world(ctx, i)
		if why, is := errors.AsType[*CombineError](err); is {
			p.RefuseValues(t.Name, "%s", why.Error())
			return nil
		}
		if err != nil {
			return err
		}
	}
	m.end()
	return nil
}

// measuring works out what becomes of one table.
type measuring struct {
	*Combiner
	p  *Planning
	t  *plan.Table
	of *catalog.Table

	sums    []int      // the columns that are added up
	after   []*big.Int // their sums after the merge
	refused map[string]*world.RowSamples
}

// begin adds up what all worlds have.
func (m *measuring) begin(ctx context.Context) error {
	for i, f := range m.Formulas {
		if f.Op != rules.FormulaSum {
			continue
		}
		sum := plan.CombinedSum{Column: m.L.Columns[i], Worlds: []string{}}
		for _, s := range m.p.DBs {
			n := new(big.Int)
			if s.Table(m.t.Name) != nil {
				var err error
				if n, err = m.totalIn(ctx, s, i); err != nil {
					return err
				}
			}
			sum.Worlds = append(sum.Worlds, numericText(numericType(m.L.Types[i]), n))
		}
		m.sums, m.after = append(m.sums, i), append(m.after, new(big.Int))
		m.t.Combine.Sums = append(m.t.Combine.Sums, sum)
	}
	return nil
}

// totalIn adds up a column in one world, and refuses values that cannot be added exactly.
func (m *measuring) totalIn(ctx context.Context, s *world.World, column int) (*big.Int, error) {
	n, odd, err := totalOf(ctx, s.On, m.L, column)
	if odd > 0 {
		m.p.Refuse(plan.Refusal{Place: plan.PlaceValues, Source: s.Name(), Table: m.t.Name, Reason: fmt.Sprintf("column %s: %d values are not integers, so they cannot be added exactly", m.L.Columns[column], odd)})
	}
	return n, err
}

// world works out what the rows of one world bring.
func (m *measuring) world(ctx context.Context, w int) error {
	return world.EachPage(ctx, m.Worlds[w], m.L, func(page *world.Page) error {
		groups, err := m.Groups(ctx, w, page.Rows)
		if err != nil {
			return err
		}
		var tried [][]any
		for _, g := range groups {
			row, err := m.Result(g)
			if why, is := errors.AsType[*CombineError](err); is {
				m.refuse(why.Error(), g[0])
				continue
			}
			if err == nil {
				err = m.add(g, row)
			}
			if err != nil {
				return err
			}
			if len(g) > 1 {
				tried = append(tried, row)
			}
		}
		return cmp.Or(m.try(ctx, tried), ctx.Err())
	})
}

func (m *measuring) refuse(reason string, row []any) {
	if m.refused[reason] == nil {
		m.refused[reason] = new(world.RowSamples)
	}
	m.refused[reason].Add(m.L, row)
}

// add counts what becomes of a group.
func (m *measuring) add(g CombineGroup, row []any) error {
	c := m.t.Combine
	sum, err := world.SumOf([][]any{row})
	if err != nil {
		return err
	}
	c.Rows, c.After = c.Rows+1, c.After.Add(sum)
	if len(g) > 1 {
		c.Keys, c.Combined = c.Keys+1, c.Combined+int64(len(g)-1)
	}
	for k, i := range m.sums {
		if n, ok := numericType(m.L.Types[i]).Parse(row[i]); ok {
			m.after[k].Add(m.after[k], n)
		}
	}
	return nil
}

// end takes the sums into the plan, and what was refused.
func (m *measuring) end() {
	for _, reason := range slices.Sorted(maps.Keys(m.refused)) {
		found := m.refused[reason]
		m.p.RefuseValues(m.t.Name, "its rows cannot be combined: %s, for %d of its keys: %s", reason, found.Rows, found)
	}
	if len(m.refused) > 0 {
		return
	}
	for k, i := range m.sums {
		sum := &m.t.Combine.Sums[k]
		sum.After = numericText(numericType(m.L.Types[i]), m.after[k])
		if !sum.Conserved(sum.After) {
			m.p.RefuseValues(m.t.Name, "the sum of %s would be %s after the merge, which differs from the sum over all worlds: another process is writing to one of them", sum.Column, sum.After)
		}
	}
}

// try tries rows that were combined against what the new database wants of a row, and has it compute their generated
// columns: the check tried them as they were.
func (m *measuring) try(ctx context.Context, rows [][]any) error {
	on := m.p.DBs[0].On
	if g := world.NewGenerated(m.L, m.of); g != nil {
		bent, err := g.BentAmong(ctx, on, rows)
		if err != nil {
			return err
		}
		if bent != nil {
			bent.Row = "the result"
			m.refuse(bent.String()+": change the column in all worlds: "+bent.Alter(), rows[bent.At])
		}
	}
	for _, c := range m.of.Conditions {
		if c.Off || c.Kind != catalog.ConditionCheck || len(rows) == 0 {
			continue
		}
		name := ConditionName(c)
		if c.Unclear != "" {
			m.refuse(fmt.Sprintf("the result cannot be tested against %s: %s", name, c.Unclear), rows[0])
			continue
		}
		for _, row := range rows {
			var selected []string
			var args []any
			for _, column := range c.Columns {
				i := slices.Index(m.L.Columns, column)
				if i < 0 {
					m.refuse(fmt.Sprintf("the result cannot be tested against %s: the column %s is generated", name, column), row)
					break
				}
				selected, args = append(selected, m.given(column)+" AS "+m.L.Dialect.Quote(column)), append(args, row[i])
			}
			if len(selected) < len(c.Columns) {
				continue
			}
			fails, err := on.Number(ctx, "SELECT COUNT(*) FROM (SELECT "+strings.Join(append(selected, "1"), ", ")+") AS r WHERE NOT ("+c.Text+")", true, args...)
			switch {
			case sqldb.Says(err, sqldb.NeverEvaluates):
				m.refuse(fmt.Sprintf("the result cannot be tested against %s: %v", name, err), row)
			case err != nil:
				return err
			case fails > 0:
				m.refuse("the result breaks "+name, row)
			}
		}
	}
	return nil
}

// given is an argument as a value of a column.
func (m *measuring) given(name string) string {
	c := m.of.Column(name)
	switch t := numericType(m.L.Types[slices.Index(m.L.Columns, name)]); {
	case c.Kind == catalog.KindText && c.Collation != "":
		return Given(m.L.Dialect, c)
	case t.Decimal:
		return fmt.Sprintf("CAST(? AS DECIMAL(65, %d))", t.Scale)
	}
	return "?"
}
