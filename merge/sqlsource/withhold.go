package sqlsource

import (
	"context"
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
)

var _ declare.Withholder = (*Source)(nil)

// Withhold implements [declare.Withholder].
func (s *Source) Withhold(rows []catalog.Withheld) {
	s.withheld = make(map[string][]catalog.Withheld)
	for _, r := range rows {
		s.withheld[r.Of()] = append(s.withheld[r.Of()], r)
	}
}

// out is the condition for the rows of a table that are withheld; "" if none is. alias is
// that of the table, with a dot, or nothing.
func (s *Source) out(table, alias string) string {
	var any []string
	for i := range s.withheld[table] {
		any = append(any, s.withheld[table][i].SQL(func(column string) string { return alias + s.dialect.Quote(column) }))
	}
	return strings.Join(any, " OR ")
}

// kept are the conditions for those that are not.
func (s *Source) kept(table, alias string) []string {
	if out := s.out(table, alias); out != "" {
		return []string{"NOT (" + out + ")"}
	}
	return nil
}

// where is a WHERE with conditions, of which there may be none.
func where(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// Referring implements [declare.Withholder].
func (s *Source) Referring(ctx context.Context, ref *declare.Severed) (n int64, err error) {
	err = s.ask(ctx, "count", func(schema *schema) error {
		t := schema.tables[ref.Table]
		if t == nil {
			return noTable(ref.Table)
		}
		return s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.dialect.Quote(t.name)+" WHERE "+ref.SQL(s.dialect.Quote)).Scan(&n)
	})
	return n, err
}

// Orphans implements [declare.Withholder].
func (s *Source) Orphans(ctx context.Context, table string, ref *catalog.Reference) (n int64, err error) {
	err = s.ask(ctx, "count", func(schema *schema) error {
		t, to := schema.tables[table], schema.tables[ref.ToTable]
		if t == nil || to == nil {
			return noTable(table)
		}
		out := s.out(to.name, "p.")
		if out == "" {
			return nil
		}
		quote := s.dialect.Quote
		conditions := []string{"(" + out + ")"}
		for i, column := range ref.Columns {
			conditions = append(conditions, "p."+quote(ref.ToColumns[i])+" = r."+quote(column))
		}
		conditions = append(s.kept(t.name, "r."), "EXISTS (SELECT 1 FROM "+quote(to.name)+" AS p"+where(conditions)+")")
		return s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+quote(t.name)+" AS r"+where(conditions)).Scan(&n)
	})
	return n, err
}
