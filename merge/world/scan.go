package world

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
	q.begin()
	go func() {
		defer close(read)
		err := s.read(ctx, q, read, free, quit)
		if err != nil && q.tests != nil && s.refuses(ctx, err) {
			err = s.readUntested(ctx, schema, scan, q, read, free, quit)
		}
		done <- err
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
	err = <-done
	if err == nil && q.tests != nil {
		var warned []string
		if warned, err = s.dialect.warnings(ctx, s.conn); len(warned) > 0 { // perhaps of a condition: see [Source.countAlone]
			delete(s.tests, scan.Table)
		}
	}
	if err == nil {
		err = s.dialect.unchanged()
	}
	if err == nil {
		q.end(s, scan.Table)
	}
	return err
}

// query is a statement and where its columns go.
type query struct {
	statement    string
	backwards    string   // the same from the end
	indexed      bool     // the order is that of the columns themselves
	prepared     bool     // the statement is to be prepared; see dialect.prepares
	columns      []vector // empty ones
	sift         []sift   // what leaves rows out as they are read
	aside        *Aside   // who takes the rows, too; nil: nobody
	asideAt      int      // where its columns begin in a row of the driver
	tests        *tests   // what the rows are tested against; nil: nothing
	testsAt      int      // where their results begin
	handed       int      // rows that were handed over
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
	w := &writer{s: s, t: t, scan: scan, q: &query{indexed: true, prepared: true}}
	if err := w.order(ctx); err != nil {
		return nil, err
	}
	if err := w.carry(w.q.indexed && t.unique(scan)); err != nil {
		return nil, err
	}
	if scan.Only != nil {
		w.conditions = append(w.conditions, scan.Only.SQL(func(column string) string { return "r." + s.dialect.Quote(column) }))
	} else if err := w.leaveOut(sifts); err != nil {
		return nil, err
	}
	join := ""
	if scan.Dangling != nil {
		var unmatched string
		var err error
		if join, unmatched, err = s.dangling(schema, t, scan.Dangling, w.notNull); err != nil {
			return nil, err
		}
		w.conditions = append(w.conditions, unmatched)
	}
	if len(w.selected) == 0 {
		return nil, errors.New("a scan of no columns")
	}
	if sifts { // it is read to its end
		w.beside()
	}
	w.q.statement = "SELECT " + strings.Join(w.selected, ", ") + " FROM " + s.dialect.Quote(t.name) + " AS r" + join + Where(w.conditions...)
	w.sort()
	return w.q, nil
}

// writer has the parts of the statement of a scan.
type writer struct {
	s    *Source
	t    *table
	scan catalog.Scan
	q    *query

	selected   []string  // expressions, each once
	readings   []reading // as the columns of q
	conditions []string
	orderBy    []string
}

// order reads the columns by which the rows are sorted.
func (w *writer) order(ctx context.Context) error {
	dialect := w.s.dialect
	for _, o := range w.scan.Order {
		c := w.t.byName[o.Column]
		if c == nil {
			return noColumn(w.t, o.Column)
		}
		collation := cmp.Or(o.Collation, c.Collation)
		r, err := dialect.sorted(ctx, w.s.conn, c, collation)
		if err != nil {
			return err
		}
		if o.Shift != nil {
			if c.kind != integer || c.bits {
				return &catalog.UnsupportedError{Column: c.Name, Reason: "only integers can be put in the order of their new values"}
			}
			r.encode, r.plain = encodeShifted(o.Shift), false
		}
		i := w.read(c, r)
		w.q.order = append(w.q.order, i)
		w.q.indexed = w.q.indexed && strings.HasPrefix(cmp.Or(r.order, r.expr), "r."+dialect.Quote(c.Name)) && strings.EqualFold(collation, c.Collation)
		if r.order == "" && r.expr == w.stored(c.Name) {
			r.order = r.expr
		} else if r.order == "" {
			r.order = fmt.Sprint(w.q.columns[i].from + 1)
		}
		w.orderBy = append(w.orderBy, r.order)
		if w.scan.SkipNull {
			w.notNull(c)
		}
	}
	return nil
}

// carry reads the columns that come along. unique says that no two rows are equal in the order.
func (w *writer) carry(unique bool) error {
	for _, name := range w.scan.Carry {
		c := w.t.byName[name]
		if c == nil {
			return noColumn(w.t, name)
		}
		r := w.s.dialect.carried(c)
		same := func(have reading) bool { return have.plain && r.plain && have.expr == r.expr }
		if i := slices.IndexFunc(w.readings, same); i >= 0 {
			w.q.carry = append(w.q.carry, i)
			continue
		}
		i := w.read(c, r)
		w.q.columns[i].asNumbers = c.kind == integer && slices.Contains(w.scan.Numbers, name)
		w.q.carry = append(w.q.carry, i)
		// Rows that are equal come in one order every time, so that reports do.
		// It is that of their primary key, by which indexes order them anyway.
		// Sorting by what else is carried would keep an index from being used, and
		// so does more than the columns of a unique one in MariaDB.
		if unique || len(w.t.primary) > 0 && !slices.Contains(w.t.primary, name) {
			continue
		}
		sorted := slices.ContainsFunc(w.scan.Order, func(o catalog.Order) bool { return o.Column == name })
		if c.kind == text || c.kind != other && !sorted {
			w.orderBy = append(w.orderBy, "r."+w.s.dialect.Quote(name))
		}
	}
	return nil
}

// leaveOut leaves out the rows that are withheld: by conditions, and by sifting what is read.
func (w *writer) leaveOut(sifts bool) error {
	w.conditions = append(w.conditions, not(w.s.out(w.t.name, "r.", sifts))...)
	if !sifts {
		return nil
	}
	for _, rows := range w.s.sifted(w.t.name) {
		columns, is := rows.Sift()
		at := make([]int, len(columns))
		for i, name := range columns {
			c := w.t.byName[name]
			if c == nil {
				return noColumn(w.t, name)
			}
			at[i] = w.selectOnce(w.s.dialect.carried(c).expr)
		}
		w.q.sift = append(w.q.sift, func(row []driver.Value) bool { return is(func(i int) any { return row[at[i]] }) })
	}
	return nil
}

// sort ends the statement with its order, and with its limit.
func (w *writer) sort() {
	q, key := w.q, w.t.primary
	q.backwards = q.statement
	switch {
	case w.scan.Unsorted && len(key) > 0:
		// As they are stored, so that what is found first is the same every time.
		q.statement += " ORDER BY " + strings.Join(slice.Map(key, w.stored), ", ")
	case w.scan.Unsorted, len(w.scan.Order) == 0:
	case len(w.orderBy) > 0:
		q.statement += " ORDER BY " + strings.Join(w.orderBy, ", ")
		q.backwards += " ORDER BY " + strings.Join(w.orderBy, " DESC, ") + " DESC"
	}
	if w.scan.Most > 0 {
		q.statement += fmt.Sprintf(" LIMIT %d", w.scan.Most)
	}
}

// stored is a column as it is stored.
func (w *writer) stored(name string) string { return "r." + w.s.dialect.Quote(name) }

// read selects a column, and returns its index in the columns of the query.
func (w *writer) read(c *column, r reading) int {
	prepares := w.s.dialect.prepares(c)
	v := vector{column: c.Name, from: w.selectOnce(r.expr), encode: r.encode, plain: r.plain, digits: c.kind == integer && prepares}
	w.q.prepared = w.q.prepared && prepares
	if r.instead != "" {
		v.instead, v.encodeInstead = w.selectOnce(r.instead), r.encodeInstead
	}
	w.readings = append(w.readings, r)
	w.q.columns = append(w.q.columns, v)
	return len(w.readings) - 1
}

func (w *writer) selectOnce(expr string) int {
	if i := slices.Index(w.selected, expr); i >= 0 {
		return i
	}
	w.selected = append(w.selected, expr)
	return len(w.selected) - 1
}

func (w *writer) notNull(c *column) {
	if c.Nullable {
		w.conditions = append(w.conditions, "r."+w.s.dialect.Quote(c.Name)+" IS NOT NULL")
	}
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
