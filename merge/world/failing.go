package world

import (
	"context"
	"fmt"
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

// Failing implements [catalog.Tester]. If the database cannot evaluate the conditions
// together, it reads the table once for each.
func (s *Source) Failing(ctx context.Context, name string, conditions []catalog.Condition, shifts map[string]*keys.Shift, samples int) (all []catalog.Failing, err error) {
	err = s.askOf(ctx, "conditions", name, func(t *table) error {
		all = make([]catalog.Failing, len(conditions))
		err := s.countFailing(ctx, t, shifts, conditions, all)
		if err != nil && len(conditions) > 1 && s.refuses(ctx, err) {
			for i := range conditions {
				if err = s.countFailing(ctx, t, shifts, conditions[i:i+1], all[i:i+1]); err != nil && !s.refuses(ctx, err) {
					return err
				}
				all[i].Unclear = said(err)
			}
			err = nil
		}
		if err != nil && s.refuses(ctx, err) {
			all[0].Unclear, err = said(err), nil
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

func said(err error) string {
	if err == nil {
		return ""
	}
	return "the database says: " + err.Error()
}

// countFailing counts for each of the conditions the rows that fail it, in one pass.
func (s *Source) countFailing(ctx context.Context, t *table, shifts map[string]*keys.Shift, conditions []catalog.Condition, into []catalog.Failing) error {
	counts, dest := make([]string, len(conditions)), make([]any, len(conditions))
	for i, c := range conditions {
		counts[i], dest[i] = "COUNT(CASE WHEN "+fails(c)+" THEN 1 END)", &into[i].Rows
	}
	if len(counts) == 0 {
		return nil
	}
	return s.conn.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+s.shifted(t, shifts)+" AS "+s.dialect.Quote(t.name)).Scan(dest...)
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
