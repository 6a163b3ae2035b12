package combine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/merge/declare"
	"mergesafe/merge/transfer/change"
	"mergesafe/merge/transfer/change/origin"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// Combiner finds the rows of one table that are to be combined, in all databases.
type Combiner struct {
	plan     *plan.Plan
	Of       *plan.Combine
	changes  *change.Changes
	Sources  []*rowio.Connection
	L        *rowio.Layout
	Formulas []declare.Formula // by column of the layout
	When     int               // the column of the condition, or -1
}

// combinerOf is that of a run.
func combinerOf(r *job.Run, table int) *Combiner {
	t := &r.Plan.Tables[table]
	return newCombiner(r.Plan, t, r.Changes, r.Sources, r.Layouts[t.Name])
}

func newCombiner(p *plan.Plan, t *plan.Table, changes *change.Changes, sources []*rowio.Connection, l *rowio.Layout) *Combiner {
	c := &Combiner{plan: p, Of: t.Combine, changes: changes, Sources: sources, L: l, When: -1}
	for _, name := range l.Columns {
		c.Formulas = append(c.Formulas, t.Combine.Formula(name))
	}
	if t.Combine.When != nil {
		c.When = slices.Index(l.Columns, t.Combine.When.Column)
	}
	return c
}

// Groups returns the rows that come with those of a source, and that no earlier source brings.
// own finds the rows of the target with their keys. It changes the rows on their way.
func (c *Combiner) Groups(ctx context.Context, source int, rows [][]any, own func(ctx context.Context, rows [][]any) ([][]any, error)) ([]*Group, error) {
	if err := c.changes.Of(c.Sources[source].Name, c.L).Rows(rows); err != nil {
		return nil, err
	}
	for i := range source {
		there, err := c.OfSource(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		var rest [][]any
		for k, row := range rows {
			if there[k] == nil {
				rest = append(rest, row)
			}
		}
		rows = rest
	}
	owns, err := own(ctx, rows)
	if err != nil {
		return nil, err
	}
	all := make([]*Group, len(rows))
	for k, row := range rows {
		all[k] = &Group{Own: owns[k], Came: [][]any{row}}
	}
	for i := source + 1; i < len(c.Sources); i++ {
		there, err := c.OfSource(ctx, i, rows)
		if err != nil {
			return nil, err
		}
		for k := range rows {
			if there[k] != nil {
				all[k].Came = append(all[k].Came, there[k])
			}
		}
	}
	return all, nil
}

// OfSource returns the rows of a source that come with the keys of these, as they come; nil
// for one that it does not have.
func (c *Combiner) OfSource(ctx context.Context, source int, rows [][]any) ([][]any, error) {
	src, there := c.Sources[source], make([][]any, len(rows))
	keys := make([][]any, len(rows))
	for i, row := range rows {
		keys[i] = c.L.KeyOf(row)
	}
	olds, at, err := origin.Before(c.changes, c.plan, source, c.L.KeysOnly(), keys)
	if err != nil || len(olds) == 0 {
		return there, err
	}
	wanted := make([][]any, len(olds))
	for i, old := range olds {
		wanted[i] = make([]any, len(c.L.Columns))
		for k, column := range c.L.Key {
			wanted[i][column] = old[k]
		}
	}
	query := func(n int) string {
		return c.L.SelectFrom() + rowio.Where("("+c.L.Equal(n)+")", src.Comes(c.L.Table))
	}
	found, err := lookUp(ctx, src, c.L, query, wanted)
	if err != nil {
		return nil, err
	}
	way := c.changes.Of(src.Name, c.L)
	for i, row := range found {
		if row == nil {
			continue
		}
		if _, err := way.Row(row); err != nil {
			return nil, err
		}
		if slices.EqualFunc(c.L.KeyOf(row), keys[at[i]], rowio.Same) {
			there[at[i]] = row
		}
	}
	return there, nil
}

// lookUp returns the rows with the keys of these; nil for one that is not there. query is for
// so many keys. A row of which the database says that it has such a key, and that writes it in
// another way, is an error: to which of two it would belong is not to be guessed.
func lookUp(ctx context.Context, on *rowio.Connection, l *rowio.Layout, query func(n int) string, rows [][]any) ([][]any, error) {
	found, most := make([][]any, len(rows)), l.Dialect.Most(len(l.Key))
	for begin := 0; begin < len(rows); begin += most {
		some := rows[begin:min(begin+most, len(rows))]
		places, err := l.Places(some)
		if err != nil {
			return nil, err
		}
		err = on.Rows(ctx, query(len(some)), len(some) == most, l.BoundOf(some), func(row []any) (bool, error) {
			row = slices.Clone(row)
			l.Tidy(row)
			i, ok, err := places.Of(row)
			if err == nil && !ok {
				err = &CombineError{"", fmt.Sprintf("the key of row %s of %q is written differently in another database, although the two compare as equal: write both in the same way", l.KeyText(row), on.Name)}
			}
			if err == nil {
				found[begin+i] = row
			}
			return true, err
		})
		if err != nil {
			return nil, fmt.Errorf("reading table %q of %q: %w", l.Table, on.Name, err)
		}
	}
	return found, nil
}

// WriteOver is the statement that gives a row of the target its new values, and what its
// arguments are before the key; "" if no row changes. A column that stays is named, too: else
// the database would set some by itself (ON UPDATE).
func (c *Combiner) WriteOver() (query string, args func(row []any) []any) {
	var set []string
	var columns []int
	for i, name := range c.L.Columns {
		quoted := c.L.Dialect.Quote(name)
		switch op := c.Formulas[i].Op; {
		case slices.Contains(c.L.Key, i):
		case op == declare.FormulaSame || op == declare.FormulaTarget:
			set = append(set, quoted+" = "+quoted)
		default:
			set, columns = append(set, quoted+" = ?"), append(columns, i)
		}
	}
	if len(columns) == 0 {
		return "", nil
	}
	return "UPDATE " + c.L.Dialect.Quote(c.L.Table) + " SET " + strings.Join(set, ", ") + " WHERE " + c.L.Equal(1), func(row []any) []any {
		values := make([]any, 0, len(columns)+len(c.L.Key))
		for _, i := range columns {
			values = append(values, row[i])
		}
		return values
	}
}

// Writes reports whether rows of the target are changed, and not only kept to be compared.
func (c *Combiner) Writes() bool {
	query, _ := c.WriteOver()
	return query != ""
}
