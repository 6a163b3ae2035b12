package world

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

var _ rules.Withholder = (*Source)(nil)

// Withhold implements [rules.Withholder].
func (s *Source) Withhold(rows []catalog.Withheld) {
	s.withheld = make(map[string][]catalog.Withheld)
	for _, r := range rows {
		s.withheld[r.Of()] = append(s.withheld[r.Of()], r)
		delete(s.tests, r.Of()) // all rows were tested
	}
}

// out is the condition for the rows of a table that are withheld; "" if none is. alias is
// that of the table, with a dot, or nothing. but leaves out the rows of [rules.Stays]: of what refers to these it
// is said what becomes of it.
func (s *Source) out(table, alias string, but bool) string {
	var any []string
	for _, rows := range s.withheld[table] {
		if _, stays := rows.(*rules.Stays); !stays || !but {
			any = append(any, rows.SQL(func(column string) string { return alias + s.dialect.Quote(column) }))
		}
	}
	return strings.Join(any, " OR ")
}

// sifted are those of them that a scan leaves out as it reads.
func (s *Source) sifted(table string) (all []catalog.Sifted) {
	for _, rows := range s.withheld[table] {
		if sifted, is := rows.(catalog.Sifted); is {
			all = append(all, sifted)
		}
	}
	return all
}

// kept are the conditions for those that are not.
func (s *Source) kept(table, alias string) []string { return not(s.out(table, alias, false)) }

func not(out string) []string {
	if out != "" {
		return []string{"NOT (" + out + ")"}
	}
	return nil
}

// Referring implements [rules.Withholder].
func (s *Source) Referring(ctx context.Context, ref *rules.Severed) (n int64, err error) {
	err = s.askOf(ctx, "count", ref.Table, func(t *table) error {
		return s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+s.dialect.Quote(t.name)+" WHERE "+ref.SQL(s.dialect.Quote)).Scan(&n)
	})
	return n, err
}

// Orphans implements [rules.Withholder].
func (s *Source) Orphans(ctx context.Context, table string, ref *catalog.Reference) (n int64, err error) {
	err = s.ask(ctx, "count", func(schema *schema) error {
		t, to := schema.tables[table], schema.tables[ref.ToTable]
		if t == nil || to == nil {
			return noTable(table)
		}
		out := s.out(to.name, "p.", true)
		if out == "" {
			return nil
		}
		quote := s.dialect.Quote
		conditions := []string{"(" + out + ")"}
		for i, column := range ref.Columns {
			conditions = append(conditions, "p."+quote(ref.ToColumns[i])+" = r."+quote(column))
		}
		conditions = append(s.kept(t.name, "r."), "EXISTS (SELECT 1 FROM "+quote(to.name)+" AS p"+Where(conditions...)+")")
		return s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+quote(t.name)+" AS r"+Where(conditions...)).Scan(&n)
	})
	return n, err
}

var _ rules.Selector = (*Source)(nil)

// selecting calls f with the end of a statement about the rows of a table that are not withheld and for which a condition
// holds.
func (s *Source) selecting(ctx context.Context, name, condition string, f func(from string) error) error {
	return s.askOf(ctx, "condition", name, func(t *table) error {
		return f(" FROM " + s.dialect.Quote(t.name) + Where(append(s.kept(t.name, ""), "("+condition+")")...))
	})
}

// Select implements [rules.Selector].
func (s *Source) Select(ctx context.Context, table string, key rules.RowKey, condition string, take func(keys.Key)) error {
	return s.selecting(ctx, table, condition, func(from string) error {
		return s.eachKey(ctx, "SELECT "+s.columns(key)+from, table, key, take)
	})
}

func (s *Source) columns(key rules.RowKey) string {
	return strings.Join(slice.Map(key.Columns, s.dialect.Quote), ", ")
}

// eachKey calls take with the keys that a query selects, and more has what it selects behind each.
func (s *Source) eachKey(ctx context.Context, query, table string, key rules.RowKey, take func(keys.Key), more ...any) error {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, into := make([]sql.RawBytes, len(key.Columns)), []any(nil)
	for i := range values {
		into = append(into, &values[i])
	}
	into = append(into, more...)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		k, ok := key.Kinds.Key(func(i int) []byte { return values[i] })
		if !ok {
			return fmt.Errorf("%s has the key %.40q in %s: want values that are not NULL, and integers where the columns have them", table, values, strings.Join(key.Columns, ", "))
		}
		take(k)
	}
	return rows.Err()
}

// CountWhere implements [rules.Selector].
func (s *Source) CountWhere(ctx context.Context, table, condition string) (n int64, err error) {
	err = s.selecting(ctx, table, condition, func(from string) error {
		return s.conn.QueryRowContext(ctx, "SELECT COUNT(*)"+from).Scan(&n)
	})
	return n, err
}

// Heaviest implements [rules.Selector].
func (s *Source) Heaviest(ctx context.Context, table string, key rules.RowKey, condition string, most int) (all []rules.Heavy, err error) {
	err = s.selecting(ctx, table, condition, func(from string) error {
		var n int64
		query := fmt.Sprintf("SELECT %s, COUNT(*)%s GROUP BY %[1]s ORDER BY COUNT(*) DESC, %[1]s LIMIT %[3]d", s.columns(key), from, most)
		return s.eachKey(ctx, query, table, key, func(k keys.Key) { all = append(all, rules.Heavy{Value: k.String(), Rows: n}) }, &n)
	})
	return all, err
}
