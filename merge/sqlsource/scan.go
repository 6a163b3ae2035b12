package sqlsource

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mergesafe/merge"
)

// A batch has at most batchRows rows, and is closed early once it holds
// batchBytes, so that memory does not depend on how long the values are.
const (
	batchRows  = 4096
	batchBytes = 256 << 10
)

// Scan implements [merge.Source]. Besides errors of the database it gives a
// [*merge.UnsupportedError] where it has no sorting form for a column.
//
// A scan that is not read to its end still has to take the rest of the rows
// off the connection, unless ctx ends.
func (s *Source) Scan(ctx context.Context, scan merge.Scan) iter.Seq2[*merge.Batch, error] {
	return func(yield func(*merge.Batch, error) bool) {
		if err := s.scan(ctx, scan, func(b *merge.Batch) bool { return yield(b, nil) }); err != nil {
			yield(nil, s.scanError(ctx, scan, err))
		}
	}
}

func (s *Source) scan(ctx context.Context, scan merge.Scan, yield func(*merge.Batch) bool) error {
	schema, err := s.schema(ctx)
	if err != nil {
		return err
	}
	if err := s.lock(); err != nil {
		return err
	}
	defer s.unlock()
	q, err := s.plan(ctx, schema, scan)
	if err != nil {
		return err
	}
	rows, err := s.conn.QueryContext(ctx, q.statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	dest := make([]any, len(q.vectors))
	for i := range q.vectors {
		dest[i] = &q.vectors[i]
	}
	for more := true; more; {
		if err := ctx.Err(); err != nil { // the driver may have rows left that it has received already
			return err
		}
		n, size := 0, 0
		for n < batchRows && size < batchBytes {
			if more = rows.Next(); !more {
				break
			}
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			if n++; n%64 == 0 {
				size = q.size()
			}
		}
		if n > 0 && !yield(q.batch(n)) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return s.dialect.unchanged()
}

// query is a statement and where its columns go.
type query struct {
	statement    string
	vectors      []vector
	order, carry []int // indexes in vectors
	result       merge.Batch
}

// plan writes the statement of a scan.
func (s *Source) plan(ctx context.Context, schema *schema, scan merge.Scan) (*query, error) {
	t := schema.tables[scan.Table]
	if t == nil {
		return nil, noTable(scan.Table)
	}
	var (
		q          = new(query)
		readings   []reading
		conditions []string
		selected   []string
		orderBy    []string
		quote      = s.dialect.quote
		read       = func(c *column, r reading) int {
			readings = append(readings, r)
			selected = append(selected, r.expr)
			q.vectors = append(q.vectors, vector{column: c.Name, encode: r.encode})
			return len(readings) - 1
		}
		notNull = func(c *column) {
			if c.Nullable {
				conditions = append(conditions, "r."+quote(c.Name)+" IS NOT NULL")
			}
		}
	)
	for _, o := range scan.Order {
		c := t.byName[o.Column]
		if c == nil {
			return nil, noColumn(t, o.Column)
		}
		collation := o.Collation
		if collation == "" {
			collation = c.Collation
		}
		r, err := s.dialect.sorted(ctx, s.conn, c, collation)
		if err != nil {
			return nil, err
		}
		if r.order == "" {
			r.order = fmt.Sprint(len(readings) + 1)
		}
		q.order = append(q.order, read(c, r))
		orderBy = append(orderBy, r.order)
		if scan.SkipNull {
			notNull(c)
		}
	}
next:
	for _, name := range scan.Carry {
		c := t.byName[name]
		if c == nil {
			return nil, noColumn(t, name)
		}
		r := s.dialect.carried(c)
		for i, have := range readings {
			if have.plain && r.plain && have.expr == r.expr {
				q.carry = append(q.carry, i)
				continue next
			}
		}
		q.carry = append(q.carry, read(c, r))
		// Rows that are equal come in one order every time, so that reports do.
		// It is that of their primary key, by which indexes order them anyway.
		sorted := slices.ContainsFunc(scan.Order, func(o merge.Order) bool { return o.Column == name })
		if c.kind == text || c.kind != other && !sorted {
			orderBy = append(orderBy, "r."+quote(name))
		}
	}
	if scan.Dangling != nil {
		c, err := s.dangling(schema, t, scan.Dangling, notNull)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	if len(selected) == 0 {
		return nil, errors.New("a scan of no columns")
	}
	var b strings.Builder
	b.WriteString("SELECT " + strings.Join(selected, ", ") + " FROM " + quote(t.name) + " AS r")
	if len(conditions) > 0 {
		b.WriteString(" WHERE " + strings.Join(conditions, " AND "))
	}
	if len(orderBy) > 0 {
		b.WriteString(" ORDER BY " + strings.Join(orderBy, ", "))
	}
	q.statement = b.String()
	return q, nil
}

// dangling is the condition that a reference leads nowhere.
func (s *Source) dangling(schema *schema, t *table, ref *merge.Reference, notNull func(*column)) (string, error) {
	quote := s.dialect.quote
	to := schema.tables[ref.ToTable]
	if to == nil {
		return "", &merge.UnsupportedError{
			Column: strings.Join(ref.Columns, ", "),
			Reason: fmt.Sprintf("it refers to table %q, which is not read here", ref.ToTable),
		}
	}
	if len(ref.Columns) == 0 || len(ref.Columns) != len(ref.ToColumns) {
		return "", fmt.Errorf("reference %q pairs %d columns with %d", ref.Name, len(ref.Columns), len(ref.ToColumns))
	}
	pairs := make([]string, len(ref.Columns))
	for i, name := range ref.Columns {
		from, there := t.byName[name], to.byName[ref.ToColumns[i]]
		if from == nil {
			return "", noColumn(t, name)
		}
		if there == nil {
			return "", noColumn(to, ref.ToColumns[i])
		}
		notNull(from)
		// What is referred to comes first: in SQLite it brings the collation.
		pairs[i] = "p." + quote(there.Name) + " = r." + quote(from.Name)
	}
	return "NOT EXISTS (SELECT 1 FROM " + quote(to.name) + " AS p WHERE " + strings.Join(pairs, " AND ") + ")", nil
}

func (q *query) size() (n int) {
	for i := range q.vectors {
		n += len(q.vectors[i].Data)
	}
	return n
}

// batch hands out what was gathered, and starts anew.
func (q *query) batch(n int) *merge.Batch {
	b := &q.result
	b.Len, b.Order, b.Carry = n, b.Order[:0], b.Carry[:0]
	for _, i := range q.order {
		b.Order = append(b.Order, q.vectors[i].finish())
	}
	for _, i := range q.carry {
		b.Carry = append(b.Carry, q.vectors[i].finish())
	}
	for i := range q.vectors {
		q.vectors[i].reset()
	}
	return b
}
