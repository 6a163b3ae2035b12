package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"mergesafe/internal/printable"
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
	m := &measuring{p: p, combiner: newCombiner(p.Plan, t, mapping.NewMapping(p.Plan, p.Opts.Check.Codecs), worlds, l), refused: make(map[string]*world.RowSamples)}
	on := &world.Connection{Database: first.On.Database}
	defer on.Close()
	m.trial = world.NewTrial(on, l, of, m.changing())
	if err := m.begin(ctx); err != nil {
		return err
	}
	for i, s := range p.DBs {
		if s.Table(t.Name) == nil {
			continue
		}
		err := m.world(ctx, i)
		if why, is := errors.AsType[*combineError](err); is {
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
	*combiner
	p     *Planning
	trial *world.Trial

	sums    []int      // the columns that are added up
	odd     bool       // some of their values were refused: then the sums are not compared
	after   []*big.Int // their sums after the merge
	refused map[string]*world.RowSamples
}

// changing are the columns in which a result may have another value than the rows, but for new keys.
func (m *measuring) changing() (columns []string) {
	for i, f := range m.Formulas {
		if f.Op != rules.FormulaSame {
			columns = append(columns, m.L.Columns[i])
		}
	}
	for _, w := range m.Worlds {
		columns = append(columns, m.changes.Changing(w.Name, m.L)...)
	}
	return columns
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
			if s.Table(m.table.Name) != nil {
				var err error
				if n, err = m.totalIn(ctx, s, i); err != nil {
					return err
				}
			}
			sum.Worlds = append(sum.Worlds, numericText(numericType(m.L.Types[i]), n))
		}
		m.sums, m.after = append(m.sums, i), append(m.after, new(big.Int))
		m.table.Combine.Sums = append(m.table.Combine.Sums, sum)
	}
	return nil
}

// totalIn adds up a column in one world, and refuses values that cannot be added exactly.
func (m *measuring) totalIn(ctx context.Context, s *world.World, column int) (*big.Int, error) {
	n, odd, err := totalOf(ctx, s.On, m.L, column)
	if odd > 0 {
		m.odd = true
		m.p.RefuseIn(s.Name(), m.table.Name, "column %s: %s, which cannot be added exactly", m.L.Columns[column], printable.Count(odd, "value is not an integer", "values are not integers"))
	}
	return n, err
}

// world works out what the rows of one world bring.
func (m *measuring) world(ctx context.Context, w int) error {
	changed := m.changes.Of(m.Worlds[w].Name, m.L) != nil
	return world.EachPage(ctx, m.Worlds[w], m.L, func(page *world.Page) error {
		groups, err := m.Groups(ctx, w, page.Rows)
		if err != nil {
			return err
		}
		var tried [][]any
		for _, g := range groups {
			row, err := m.Result(g)
			if why, is := errors.AsType[*combineError](err); is {
				m.refuse(why.Error(), g[0])
				continue
			}
			if err == nil {
				err = m.add(g, row)
			}
			if err != nil {
				return err
			}
			if len(g) > 1 || changed {
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
func (m *measuring) add(g combineGroup, row []any) error {
	c := m.table.Combine
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
		m.p.RefuseValues(m.table.Name, "its rows cannot be combined: %s, for %d of its keys: %s", reason, found.Rows, found)
	}
	if len(m.refused) > 0 {
		return
	}
	for k, i := range m.sums {
		sum := &m.table.Combine.Sums[k]
		sum.After = numericText(numericType(m.L.Types[i]), m.after[k])
		if !m.odd && !sum.Conserved(sum.After) {
			m.p.RefuseValues(m.table.Name, "the sum of %s would be %s after the merge, which differs from the sum over all worlds: another process is writing to one of them", sum.Column, sum.After)
		}
	}
}

// try tries results against all that the new table wants of a row: the check tried the rows as they were.
func (m *measuring) try(ctx context.Context, rows [][]any) error {
	if m.trial == nil || len(rows) == 0 || !m.trial.Wants(nil, rows[0]) {
		return nil
	}
	bent, err := m.trial.Among(ctx, rows)
	if bent == nil || err != nil {
		return err
	}
	bent.Row = "the result"
	m.refuse(bent.String()+": "+bent.Remedy(), rows[max(bent.At, 0)])
	return nil
}
