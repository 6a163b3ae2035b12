package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// measureCombines works out what becomes of the rows of tables that are combined, and refuses
// those of which the formulas have no result that the target takes.
func (p *planner) measureCombines(ctx context.Context) error {
	for _, i := range p.plan.combines() {
		t := &p.plan.Tables[i]
		if !p.combinable(t) {
			continue
		}
		if err := p.measureCombine(ctx, t); err != nil {
			return fmt.Errorf("combining table %q: %w", t.Name, err)
		}
	}
	return nil
}

// combinable refuses a table that another statement changes in a way that combining it cannot
// follow.
func (p *planner) combinable(t *Table) bool {
	before := len(p.plan.Refusals)
	refuse := func(format string, args ...any) {
		p.refuse(Refusal{Table: t.Name, Reason: fmt.Sprintf(format, args...)})
	}
	if slices.ContainsFunc(p.plan.Renames, func(r Rename) bool { return r.Table == t.Name }) || slices.ContainsFunc(p.plan.Copies, func(c NameCopy) bool { return c.Table == t.Name }) {
		refuse("its rows are to be combined, and get new names, too: give it another policy than %q, or leave out the [[merge.name]]", merge.PolicyCombine)
	}
	if p.plan.Rekey == nil {
		return len(p.plan.Refusals) == before
	}
	combined := merge.Combined{Columns: t.Combine.Columns}
	for _, c := range p.plan.Rekey.Columns {
		if c.Table != t.Name {
			continue
		}
		op := combined.Formula(c.Column).Op
		switch {
		case slices.Contains(t.Key, c.Column) && slices.ContainsFunc(c.Cases, func(of merge.RekeyedCase) bool { return of.When != nil }):
			refuse("its rows are to be combined, and the column %s of its key gets new values in some rows only: give it another policy than %q", c.Column, merge.PolicyCombine)
		case t.Combine.When != nil && t.Combine.When.Column == c.Column:
			refuse("the column %s selects the rows to be combined (when), and gets new values", c.Column)
		case op == merge.FormulaSum || op == merge.FormulaMax || op == merge.FormulaMin || op == merge.FormulaAppend:
			refuse("the column %s holds keys, which get new values, and is to be combined by %q: want \"target\" or \"source\"", c.Column, combined.Formula(c.Column))
		}
	}
	return len(p.plan.Refusals) == before
}

func (p *planner) measureCombine(ctx context.Context, t *Table) error {
	target := p.dbs[0]
	of := target.table(t.Name)
	l := newLayout(target.dialect, of)
	var sources []*connection
	for _, s := range p.dbs[1:] {
		sources = append(sources, s.on)
	}
	m := &combineMeasure{p: p, t: t, of: of, combiner: newCombiner(p.plan, t, newChanges(p.plan, p.opts.Check.Codecs), sources, l), refused: make(map[string]*rowSamples)}
	if err := m.begin(ctx); err != nil {
		return err
	}
	for i, s := range p.dbs[1:] {
		if s.table(t.Name) == nil {
			continue
		}
		err := m.source(ctx, i)
		if why, is := errors.AsType[*combineError](err); is {
			p.refuse(Refusal{Table: t.Name, Reason: why.Error()})
			return nil
		}
		if err != nil {
			return err
		}
	}
	m.end()
	return nil
}

// combineMeasure works out what becomes of one table.
type combineMeasure struct {
	*combiner
	p  *planner
	t  *Table
	of *merge.Table

	sums    []int      // the columns that are added up
	after   []*big.Int // their sums after the merge
	refused map[string]*rowSamples
}

// begin adds up what all databases have.
func (m *combineMeasure) begin(ctx context.Context) error {
	for i, f := range m.formulas {
		if f.Op != merge.FormulaSum {
			continue
		}
		sum := CombinedSum{Column: m.l.columns[i], Sources: []string{}}
		n, err := m.totalIn(ctx, m.p.dbs[0], i)
		if err != nil {
			return err
		}
		sum.Target = typeOf(m.l.types[i]).text(n)
		m.sums, m.after = append(m.sums, i), append(m.after, n)
		for _, s := range m.p.dbs[1:] {
			n := new(big.Int)
			if s.table(m.t.Name) != nil {
				if n, err = m.totalIn(ctx, s, i); err != nil {
					return err
				}
			}
			sum.Sources = append(sum.Sources, typeOf(m.l.types[i]).text(n))
		}
		m.t.Combine.Sums = append(m.t.Combine.Sums, sum)
	}
	m.t.Combine.After = m.t.Target.Sum
	return nil
}

// totalIn adds up a column in one database, and refuses values that cannot be added exactly.
func (m *combineMeasure) totalIn(ctx context.Context, s *source, column int) (*big.Int, error) {
	n, odd, err := totalOf(ctx, s.on, m.l, column)
	if odd > 0 {
		m.p.refuse(Refusal{Source: s.Name(), Table: m.t.Name, Reason: fmt.Sprintf("column %s: %d values are not integers, so they cannot be added exactly", m.l.columns[column], odd)})
	}
	return n, err
}

// totalOf adds up a column over all rows that take part in the merge, in the database itself.
// odd are values of SQLite that are not integers.
func totalOf(ctx context.Context, on *connection, l *layout, column int) (sum *big.Int, odd int64, err error) {
	sum = new(big.Int)
	name, from := l.dialect.Quote(l.columns[column]), " FROM "+l.dialect.Quote(l.table)+where(on.comes(l.table))
	if l.dialect.mysql() {
		return sum, 0, on.rows(ctx, "SELECT CAST(SUM("+name+") AS CHAR)"+from, false, nil, func(row []any) (bool, error) {
			if row[0] == nil {
				return true, nil
			}
			t, ok := typeOf(l.types[column]), false
			if sum, ok = t.parseDigits(text(row[0])); !ok {
				return false, fmt.Errorf("the sum of %s in %q is %.40q", l.columns[column], on.Name, text(row[0]))
			}
			return true, nil
		})
	}
	// A sum beyond 64 bits is an error there: in halves.
	total := func(of string) string { return "COALESCE(SUM(" + of + "), 0)" }
	query := "SELECT " + total(name+" >> 32") + ", " + total(name+" & 4294967295") + ", " +
		total("typeof("+name+") NOT IN ('integer', 'null')") + from
	err = on.rows(ctx, query, false, nil, func(row []any) (_ bool, err error) {
		var parts [3]int64
		for i := range parts {
			if parts[i], err = intIn(row[i], "the sum of "+l.table+"."+l.columns[column]); err != nil {
				return false, err
			}
		}
		sum.Add(new(big.Int).Lsh(big.NewInt(parts[0]), 32), big.NewInt(parts[1]))
		odd = parts[2]
		return true, nil
	})
	return sum, odd, err
}

// text is a number as people read it.
func (t numeric) text(n *big.Int) string {
	if t.decimal {
		return string(t.value(n).([]byte))
	}
	return n.String()
}

// source works out what the rows of one source bring.
func (m *combineMeasure) source(ctx context.Context, source int) error {
	next, stop := pages(ctx, m.sources[source], m.l, nil, func() int { return 2000 }, all, false)
	defer stop()
	for {
		page, err := next()
		if err != nil {
			return err
		}
		groups, err := m.groups(ctx, source, page.rows, func(ctx context.Context, rows [][]any) ([][]any, error) {
			return lookUp(ctx, m.p.dbs[0].on, m.l, m.l.selectEqual, rows)
		})
		if err != nil {
			return err
		}
		var tried [][]any
		for _, g := range groups {
			row, err := m.result(g)
			if why, is := errors.AsType[*combineError](err); is {
				m.refuse(why.Error(), g.came[0])
				continue
			}
			if err == nil {
				err = m.add(g, row)
			}
			if err != nil {
				return err
			}
			if !g.alone() {
				tried = append(tried, row)
			}
		}
		if err := m.try(ctx, tried); err != nil {
			return err
		}
		if page.last {
			return ctx.Err()
		}
	}
}

func (m *combineMeasure) refuse(reason string, row []any) {
	if m.refused[reason] == nil {
		m.refused[reason] = new(rowSamples)
	}
	m.refused[reason].add(m.l, row)
}

// add counts what becomes of a group.
func (m *combineMeasure) add(g *group, row []any) error {
	c := m.t.Combine
	sum, err := sumOf([][]any{row})
	if err != nil {
		return err
	}
	c.After = c.After.Add(sum)
	if g.own == nil {
		c.Copied++
		c.Combined += int64(len(g.came) - 1)
	} else {
		was, err := sumOf([][]any{g.own})
		if err != nil {
			return err
		}
		c.After, c.Was, c.Result = c.After.Sub(was), c.Was.Add(was), c.Result.Add(sum)
		c.Changed++
		c.Combined += int64(len(g.came))
	}
	if !g.alone() {
		c.Keys++
	}
	for k, i := range m.sums {
		t := typeOf(m.l.types[i])
		if n, ok := t.parse(row[i]); ok {
			m.after[k].Add(m.after[k], n)
		}
		if g.own != nil {
			if n, ok := t.parse(g.own[i]); ok {
				m.after[k].Sub(m.after[k], n)
			}
		}
	}
	return nil
}

// end takes the sums into the plan, and what was refused.
func (m *combineMeasure) end() {
	for _, reason := range slices.Sorted(maps.Keys(m.refused)) {
		found := m.refused[reason]
		m.p.refuse(Refusal{Table: m.t.Name, Reason: fmt.Sprintf("its rows cannot be combined: %s, for %d of its keys: %s", reason, found.rows, found)})
	}
	if len(m.refused) > 0 {
		return
	}
	for k, i := range m.sums {
		sum := &m.t.Combine.Sums[k]
		sum.After = typeOf(m.l.types[i]).text(m.after[k])
		if !sum.conserved(sum.After) {
			m.p.refuse(Refusal{Table: m.t.Name, Reason: fmt.Sprintf("the sum of %s would be %s after the merge, and differs from the sum over all databases: another process writes to one of them", sum.Column, sum.After)})
		}
	}
}

// conserved reports whether a sum is that of all databases before.
func (s *CombinedSum) conserved(after string) bool {
	all := new(big.Rat)
	for _, text := range append([]string{s.Target}, s.Sources...) {
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			return false
		}
		all.Add(all, n)
	}
	n, ok := new(big.Rat).SetString(after)
	return ok && n.Cmp(all) == 0
}

// try tries rows that were combined against what the target wants of a row: the check tried
// them as they were.
func (m *combineMeasure) try(ctx context.Context, rows [][]any) error {
	on := m.p.dbs[0].on
	for _, c := range m.of.Conditions {
		if c.Off || c.Kind != merge.ConditionCheck || len(rows) == 0 {
			continue
		}
		name := conditionName(c)
		if c.Unclear != "" {
			m.refuse(fmt.Sprintf("the result cannot be tested against %s: %s", name, c.Unclear), rows[0])
			continue
		}
		for _, row := range rows {
			var selected []string
			var args []any
			for _, column := range c.Columns {
				i := slices.Index(m.l.columns, column)
				if i < 0 {
					m.refuse(fmt.Sprintf("the result cannot be tested against %s: the column %s is generated", name, column), row)
					break
				}
				selected, args = append(selected, m.given(column)+" AS "+m.l.dialect.Quote(column)), append(args, row[i])
			}
			if len(selected) < len(c.Columns) {
				continue
			}
			fails, err := on.number(ctx, "SELECT COUNT(*) FROM (SELECT "+strings.Join(append(selected, "1"), ", ")+") AS r WHERE NOT ("+c.Text+")", true, args...)
			switch {
			case sqldb.CannotEvaluate(err):
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
func (m *combineMeasure) given(name string) string {
	c := column(m.of, name)
	switch t := typeOf(m.l.types[slices.Index(m.l.columns, name)]); {
	case c.Kind == merge.KindText && c.Collation != "":
		return m.l.dialect.given(c)
	case t.decimal:
		return fmt.Sprintf("CAST(? AS DECIMAL(65, %d))", t.scale)
	}
	return "?"
}
