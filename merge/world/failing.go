package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
)

var _ catalog.Tester = (*Source)(nil)

// Takes implements [catalog.Tester].
func (s *Source) Takes(ctx context.Context, table, column string) (conditions []catalog.Condition, err error) {
	err = s.ask(ctx, "column", func(schema *schema) error {
		c, err := schema.column(table, column)
		if err != nil {
			return err
		}
		add := func(name, condition string) {
			if condition != "" {
				conditions = append(conditions, catalog.Condition{Kind: catalog.ConditionValue, Name: name, Text: condition, Columns: []string{c.Name}})
			}
		}
		add(c.Type, s.dialect.takes(c))
		if !c.Nullable {
			add("NOT NULL", s.dialect.Quote(c.Name)+" IS NOT NULL")
		}
		return nil
	})
	return conditions, err
}

// tests are conditions that the rows of a table are tested against while they are read.
type tests struct {
	conditions []catalog.Condition
	rows       []int64 // that fail each of them
	read       bool    // all rows were
}

// TestBeside implements [catalog.Tester].
func (s *Source) TestBeside(table string, conditions []catalog.Condition) {
	if s.tests == nil {
		s.tests = make(map[string]*tests)
	}
	s.tests[table] = &tests{conditions: conditions, rows: make([]int64, len(conditions))}
}

// of returns how many rows fail a condition; known is false if they were not tested, or not with the values that they will have.
func (t *tests) of(c catalog.Condition, shifts map[string]*keys.Shift) (rows int64, known bool) {
	shifted := func(column string) bool { return shifts[column] != nil }
	if t == nil || !t.read || slices.ContainsFunc(c.Columns, shifted) || len(c.Columns) == 0 && len(shifts) > 0 {
		return 0, false
	}
	i := slices.IndexFunc(t.conditions, func(have catalog.Condition) bool { return have.Text == c.Text })
	if i < 0 {
		return 0, false
	}
	return t.rows[i], true
}

// Failing implements [catalog.Tester]. If the database cannot evaluate the conditions
// together, it reads the table once for each.
func (s *Source) Failing(ctx context.Context, name string, conditions []catalog.Condition, shifts map[string]*keys.Shift, samples int) (all []catalog.Failing, err error) {
	err = s.askOf(ctx, "conditions", name, func(t *table) error {
		all = make([]catalog.Failing, len(conditions))
		var untested []catalog.Condition
		var at []int
		for i, c := range conditions {
			var known bool
			if all[i].Rows, known = s.tests[name].of(c, shifts); !known {
				untested, at = append(untested, c), append(at, i)
			}
		}
		counted, warned, err := s.countFailing(ctx, t, shifts, untested, "")
		if err != nil && !s.refuses(ctx, err) {
			return err
		}
		apart := err != nil || len(warned) > 0
		err = nil
		for k, i := range at {
			if !apart {
				all[i].Rows = counted[k]
			} else if all[i], err = s.countAlone(ctx, t, shifts, conditions[i]); err != nil {
				return err
			}
		}
		for i := 0; i < len(all) && err == nil; i++ {
			if all[i].Rows > 0 && samples > 0 {
				all[i].Samples, err = s.firstFailing(ctx, t, shifts, conditions[i], samples)
			}
		}
		return err
	})
	return all, err
}

// refuses reports whether the answer is about the conditions: another error is no result.
func (s *Source) refuses(ctx context.Context, err error) bool {
	return ctx.Err() == nil && sqldb.Says(err, sqldb.NeverEvaluates)
}

// countAlone counts the rows that fail one condition. A row over which the server warns may be refused where it is strict, as
// the new database is: then the answer is unclear.
func (s *Source) countAlone(ctx context.Context, t *table, shifts map[string]*keys.Shift, c catalog.Condition) (found catalog.Failing, err error) {
	one := []catalog.Condition{c}
	counted, warned, err := s.countFailing(ctx, t, shifts, one, "")
	if err != nil && s.refuses(ctx, err) {
		return catalog.Failing{Unclear: "the database says: " + err.Error()}, nil
	}
	if err != nil {
		return found, err
	}
	found.Rows = counted[0]
	if len(warned) == 0 {
		return found, nil
	}
	_, always, err := s.countFailing(ctx, t, shifts, one, " WHERE 1 = 0") // whatever the rows are
	if i := slices.IndexFunc(warned, func(w string) bool { return !slices.Contains(always, w) }); i >= 0 {
		found.Unclear = "a strict server may refuse a row: the database says: " + warned[i]
	}
	return found, err
}

// countFailing counts for each of the conditions the rows that fail it, in one pass over those that where leaves. It returns
// what the server warned of, too.
func (s *Source) countFailing(ctx context.Context, t *table, shifts map[string]*keys.Shift, conditions []catalog.Condition, where string) (rows []int64, warned []string, err error) {
	if len(conditions) == 0 {
		return nil, nil, nil
	}
	rows = make([]int64, len(conditions))
	counts, dest := make([]string, len(conditions)), make([]any, len(conditions))
	for i, c := range conditions {
		counts[i], dest[i] = "COUNT("+failing(c)+")", &rows[i]
	}
	err = s.conn.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+s.shifted(t, shifts)+" AS "+s.dialect.Quote(t.name)+where).Scan(dest...)
	if err == nil {
		warned, err = s.dialect.warnings(ctx, s.conn)
	}
	return rows, warned, err
}

// shifted is a table, with the values that integers will have.
func (s *Source) shifted(t *table, shifts map[string]*keys.Shift) string {
	name := s.dialect.Quote(t.name)
	kept := Where(s.kept(t.name, "")...)
	if len(shifts) == 0 && kept == "" {
		return name
	}
	var columns []string
	for _, c := range t.columns {
		column := s.dialect.Quote(c.Name)
		if shift := shifts[c.Name]; shift != nil {
			column = s.moved(c, shift) + " AS " + column
		}
		columns = append(columns, column)
	}
	return "(SELECT " + strings.Join(columns, ", ") + " FROM " + name + kept + ")"
}

// moved is what becomes of a column, of its type: other values would be compared with it in another way.
func (s *Source) moved(c *column, shift *keys.Shift) string {
	name := s.dialect.Quote(c.Name)
	switch _, lite := s.dialect.(sqliteDialect); {
	case lite && c.kind == text:
		return "CAST(" + shift.SQL(name) + " AS TEXT)"
	case lite:
		return "CAST(" + shift.SQL(name) + " AS INTEGER)"
	case c.kind == text:
		return "CAST(" + shift.SQL("CAST("+name+" AS DECIMAL(20))") + " AS CHAR)"
	}
	return shift.SQL(name)
}

// failing is 1 of a row that fails a condition, and NULL of another one.
func failing(c catalog.Condition) string { return "CASE WHEN " + fails(c) + " THEN 1 END" }

// fails is the condition that a row fails another one: NULL passes.
func fails(c catalog.Condition) string { return "NOT (" + c.Text + ")" }

// firstFailing returns the first rows that fail a condition.
func (s *Source) firstFailing(ctx context.Context, t *table, shifts map[string]*keys.Shift, c catalog.Condition, n int) (all [][]catalog.Field, err error) {
	statement := s.rowOf(t, s.shifted(t, shifts)) + " WHERE " + fails(c)
	if len(t.primary) > 0 {
		statement += " ORDER BY " + strings.Join(slice.Map(t.primary, s.dialect.Quote), ", ")
	}
	rows, err := s.conn.QueryContext(ctx, fmt.Sprintf("%s LIMIT %d", statement, n))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		fields, err := shownRow(t, rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, fields)
	}
	return all, rows.Err()
}
