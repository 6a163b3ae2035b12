package sqlsource

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"mergesafe/internal/slice"
	"mergesafe/merge/catalog"
)

// A batch has at most batchRows rows, and is closed early once it holds
// batchBytes, so that memory does not depend on how long the values are.
const (
	batchRows  = 4096
	batchBytes = 256 << 10

	// ahead is how many batches there are: the one that is looked at, and the
	// one that is read meanwhile.
	ahead = 2
)

// Scan implements [catalog.Source]. Besides errors of the database it gives a
// [*catalog.UnsupportedError] if it has no sorting form for a column.
//
// A scan that is not read to its end still has to take the rest of the rows
// off the connection, unless ctx ends.
func (s *Source) Scan(ctx context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	return func(yield func(*catalog.Batch, error) bool) {
		if err := s.scan(ctx, scan, func(b *catalog.Batch) bool { return yield(b, nil) }); err != nil {
			yield(nil, s.scanError(ctx, scan, err))
		}
	}
}

// scan reads ahead: while the consumer works on one batch, the next one is
// read, so that the database, the driver and the consumer share the cores.
func (s *Source) scan(ctx context.Context, scan catalog.Scan, yield func(*catalog.Batch) bool) error {
	schema, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer s.leave()
	q, err := s.plan(ctx, schema, scan, scan.Most == 0)
	if err != nil {
		return err
	}
	var (
		read = make(chan *buffer)        // full
		free = make(chan *buffer, ahead) // to be filled
		quit = make(chan struct{})       // nobody wants more
		done = make(chan error, 1)       // all is read, or none will be
	)
	for range ahead {
		free <- q.buffer()
	}
	go func() {
		defer close(read)
		done <- s.read(ctx, q, read, free, quit)
	}()
	for b := range read {
		if !yield(q.batch(b)) {
			close(quit)
			<-done
			return nil
		}
		b.reset()
		free <- b
	}
	if err := <-done; err != nil {
		return err
	}
	return s.dialect.unchanged()
}

// query is a statement and where its columns go.
type query struct {
	statement    string
	backwards    string   // the same from the end
	indexed      bool     // the order is that of the columns themselves
	prepared     bool     // the statement is to be prepared; see dialect.prepares
	columns      []vector // empty ones
	sift         []sift   // what leaves rows out as they are read
	order, carry []int    // indexes in columns
}

// sift reports of a row whether it is left out.
type sift func(row []driver.Value) bool

// plan writes the statement of a scan; of rows that are sifted only if it is to be read to its end.
func (s *Source) plan(ctx context.Context, schema *schema, scan catalog.Scan, sifts bool) (*query, error) {
	t := schema.tables[scan.Table]
	if t == nil {
		return nil, noTable(scan.Table)
	}
	var (
		q          = &query{indexed: true, prepared: true}
		readings   []reading
		conditions []string
		selected   []string
		orderBy    []string
		quote      = s.dialect.Quote
		selectOnce = func(expr string) int {
			if i := slices.Index(selected, expr); i >= 0 {
				return i
			}
			selected = append(selected, expr)
			return len(selected) - 1
		}
		read = func(c *column, r reading) int {
			v := vector{column: c.Name, from: selectOnce(r.expr), encode: r.encode, plain: r.plain, digits: c.kind == integer && s.dialect.prepares(c)}
			q.prepared = q.prepared && s.dialect.prepares(c)
			if r.instead != "" {
				v.instead, v.encodeInstead = selectOnce(r.instead), r.encodeInstead
			}
			readings = append(readings, r)
			q.columns = append(q.columns, v)
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
		collation := cmp.Or(o.Collation, c.Collation)
		r, err := s.dialect.sorted(ctx, s.conn, c, collation)
		if err != nil {
			return nil, err
		}
		if o.Shift != nil {
			if c.kind != integer || c.bits {
				return nil, &catalog.UnsupportedError{Column: c.Name, Reason: "only integers can be put in the order of their new values"}
			}
			r.encode, r.plain = encodeShifted(o.Shift), false
		}
		i := read(c, r)
		q.order = append(q.order, i)
		q.indexed = q.indexed && strings.HasPrefix(cmp.Or(r.order, r.expr), "r."+quote(c.Name)) && strings.EqualFold(collation, c.Collation)
		if r.order == "" {
			r.order = fmt.Sprint(q.columns[i].from + 1)
		}
		orderBy = append(orderBy, r.order)
		if scan.SkipNull {
			notNull(c)
		}
	}
	key := schema.primary(scan.Table)
	unique := q.indexed && schema.unique(t, scan)
	for _, name := range scan.Carry {
		c := t.byName[name]
		if c == nil {
			return nil, noColumn(t, name)
		}
		r := s.dialect.carried(c)
		same := func(have reading) bool { return have.plain && r.plain && have.expr == r.expr }
		if i := slices.IndexFunc(readings, same); i >= 0 {
			q.carry = append(q.carry, i)
			continue
		}
		i := read(c, r)
		q.columns[i].asNumbers = c.kind == integer && slices.Contains(scan.Numbers, name)
		q.carry = append(q.carry, i)
		// Rows that are equal come in one order every time, so that reports do.
		// It is that of their primary key, by which indexes order them anyway.
		// Sorting by what else is carried would keep an index from being used, and
		// so does more than the columns of a unique one in MariaDB.
		if unique || len(key) > 0 && !slices.Contains(key, name) {
			continue
		}
		sorted := slices.ContainsFunc(scan.Order, func(o catalog.Order) bool { return o.Column == name })
		if c.kind == text || c.kind != other && !sorted {
			orderBy = append(orderBy, "r."+quote(name))
		}
	}
	if scan.Only != nil {
		conditions = append(conditions, scan.Only.SQL(func(column string) string { return "r." + quote(column) }))
	} else {
		conditions = append(conditions, not(s.out(t.name, "r.", sifts))...)
	}
	if sifts && scan.Only == nil {
		for _, rows := range s.sifted(t.name) {
			columns, is := rows.Sift()
			at := make([]int, len(columns))
			for i, name := range columns {
				c := t.byName[name]
				if c == nil {
					return nil, noColumn(t, name)
				}
				at[i] = selectOnce(s.dialect.carried(c).expr)
			}
			q.sift = append(q.sift, func(row []driver.Value) bool { return is(func(i int) any { return row[at[i]] }) })
		}
	}
	join := ""
	if scan.Dangling != nil {
		var unmatched string
		var err error
		if join, unmatched, err = s.dangling(schema, t, scan.Dangling, notNull); err != nil {
			return nil, err
		}
		conditions = append(conditions, unmatched)
	}
	if len(selected) == 0 {
		return nil, errors.New("a scan of no columns")
	}
	q.statement = "SELECT " + strings.Join(selected, ", ") + " FROM " + quote(t.name) + " AS r" + join + where(conditions)
	q.backwards = q.statement
	switch {
	case scan.Unsorted && len(key) > 0:
		// As they are stored, so that what is found first is the same every time.
		orderBy = slice.Map(key, func(name string) string { return "r." + quote(name) })
		q.statement += " ORDER BY " + strings.Join(orderBy, ", ")
	case scan.Unsorted, len(scan.Order) == 0:
	case len(orderBy) > 0:
		q.statement += " ORDER BY " + strings.Join(orderBy, ", ")
		q.backwards += " ORDER BY " + strings.Join(orderBy, " DESC, ") + " DESC"
	}
	if scan.Most > 0 {
		q.statement += fmt.Sprintf(" LIMIT %d", scan.Most)
	}
	return q, nil
}

// dangling finds the rows whose reference leads nowhere: see
// [sqldb.Dialect.Unmatched].
func (s *Source) dangling(schema *schema, t *table, ref *catalog.Reference, notNull func(*column)) (join, unmatched string, err error) {
	to := schema.tables[ref.ToTable]
	if to == nil {
		return "", "", &catalog.UnsupportedError{
			Column: strings.Join(ref.Columns, ", "),
			Reason: fmt.Sprintf("it refers to table %q, which is not read here", ref.ToTable),
		}
	}
	if len(ref.Columns) == 0 || len(ref.Columns) != len(ref.ToColumns) {
		return "", "", fmt.Errorf("reference %q pairs %d columns with %d", ref.Name, len(ref.Columns), len(ref.ToColumns))
	}
	columns, toColumns := make([]string, len(ref.Columns)), make([]string, len(ref.Columns))
	for i, name := range ref.Columns {
		from, there := t.byName[name], to.byName[ref.ToColumns[i]]
		if from == nil {
			return "", "", noColumn(t, name)
		}
		if there == nil {
			return "", "", noColumn(to, ref.ToColumns[i])
		}
		notNull(from)
		columns[i], toColumns[i] = from.Name, there.Name
	}
	join, unmatched = s.dialect.Unmatched("r", columns, to.name, "p", toColumns)
	return " " + strings.Join(append([]string{join}, not(s.out(to.name, "p.", true))...), " AND "), unmatched, nil
}

// buffer makes room for one batch.
func (q *query) buffer() *buffer { return &buffer{columns: slices.Clone(q.columns), sift: q.sift} }

// batch hands out what was read into a buffer.
func (q *query) batch(b *buffer) *catalog.Batch {
	out := &b.batch
	out.Len, out.Order, out.Carry = b.rows, out.Order[:0], out.Carry[:0]
	finished := make([]catalog.Vector, len(b.columns))
	for i := range b.columns {
		finished[i] = b.columns[i].finish()
	}
	for _, i := range q.order {
		out.Order = append(out.Order, finished[i])
	}
	for _, i := range q.carry {
		out.Carry = append(out.Carry, finished[i])
	}
	return out
}
