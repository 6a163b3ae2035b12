package merge

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/printable"
)

// planReferences looks for rows that refer to something that their own
// database does not have, and among these for the ones that would find it in
// another database and so come to mean something else.
func (c *checker) planReferences() {
	for _, table := range c.tables {
		for _, ref := range c.references(table) {
			if c.wantsAny(table, ref.subject(), CodeReferenceRebind, CodeReferenceAmbiguous, CodeReferenceDangle) {
				c.plan(task{CodeReferenceDangle + " " + table + " " + ref.subject(), []string{table}, func(ctx context.Context) error { return c.checkReference(ctx, table, ref) }})
			}
		}
	}
}

// reference is a foreign key, or what the operator wants to be like one.
type reference struct {
	Reference
	zeroIsNone bool
}

func (r reference) subject() string {
	return columnList(r.Columns) + " → " + r.ToTable + "." + columnList(r.ToColumns)
}

// references returns the references of a table that any of the databases or
// the operator declares, each once: what one of them relies on must hold in
// all.
func (c *checker) references(table string) (all []reference) {
	for _, d := range c.opts.References {
		if d.Table == table {
			all = append(all, reference{Reference{Columns: d.Columns, ToTable: d.ToTable, ToColumns: d.ToColumns}, d.ZeroIsNone})
		}
	}
	for _, db := range c.dbs {
		if t := db.tables[table]; t != nil {
			for _, r := range t.References {
				all = append(all, reference{Reference: r})
			}
		}
	}
	compare := func(a, b reference) int {
		return cmp.Or(
			slices.Compare(a.Columns, b.Columns),
			strings.Compare(a.ToTable, b.ToTable),
			slices.Compare(a.ToColumns, b.ToColumns),
		)
	}
	slices.SortStableFunc(all, compare)
	return slices.CompactFunc(all, func(a, b reference) bool { return compare(a, b) == 0 })
}

func (c *checker) checkReference(ctx context.Context, table string, ref reference) error {
	subject := ref.subject()
	dangle := Result{Code: CodeReferenceDangle, Table: table, Subject: subject}
	rebind := Result{Code: CodeReferenceRebind, Table: table, Subject: subject}
	var dangling, rebinding []run
	var danglingIn, rebindingIn []string
	stray := make(map[*database]int64)
	for _, db := range c.dbs {
		if db.tables[table] == nil {
			continue // has no rows; schema-table reports it
		}
		found, err := c.strays(ctx, db, table, ref)
		if err != nil {
			return err
		}
		dangle.Read += db.rows[table]
		rebind.Read += db.rows[table]
		dangle.Gaps = append(dangle.Gaps, found.gaps...)
		rebind.Gaps = append(rebind.Gaps, found.gaps...)
		rebind.Gaps = append(rebind.Gaps, found.rebindGaps...)
		if n := found.dangling.rows; n > 0 {
			dangle.Count += n
			dangling = append(dangling, found.dangling.kept...)
			danglingIn = append(danglingIn, db.name+": "+printable.Number(n))
			dangle.Next = append(dangle.Next, "in "+db.name+": "+danglingQuery(table, ref.Reference))
		}
		if found.rebind.values > 0 {
			stray[db] = found.rebind.rows[0]
			rebind.Count += stray[db]
			rebind.Rows += found.rebind.allRows()
			rebinding = append(rebinding, found.rebind.kept...)
			rebindingIn = append(rebindingIn, db.name+": "+printable.Number(stray[db]))
		}
	}
	dangle.Rows = dangle.Count
	dangle.Message = "every reference leads somewhere"
	if dangle.Count > 0 {
		dangle.Message = printable.Count(dangle.Count, "row refers", "rows refer") + " to nothing: " + few(danglingIn)
	}
	rebind.Message = "no reference would find another database's row"
	if rebind.Count > 0 {
		rebind.Message = printable.Count(rebind.Count, "row", "rows") + " would refer to another database's row: " + few(rebindingIn)
	}
	var err error
	if dangle.Samples, err = c.samples(ctx, dangling, table, ref.Columns); err != nil {
		return err
	}
	if rebind.Samples, err = c.samples(ctx, rebinding, table, ref.Columns); err != nil {
		return err
	}
	c.add(dangle)
	c.add(rebind)
	c.planAmbiguous(table, ref, stray)
	return nil
}

// strays are the rows of one source with a reference that leads nowhere.
type strays struct {
	dangling   faults
	rebind     *collisions // stream 0 has the referring rows
	gaps       []Gap
	rebindGaps []Gap
}

// elsewhere returns what counts the rows of stream 0 with a value that another
// stream has too.
func (c *checker) elsewhere() *collisions {
	return &collisions{samples: c.opts.Samples, wanted: func(rows []int64) bool {
		return rows[0] > 0 && slices.Max(rows[1:]) > 0
	}}
}

func (c *checker) strays(ctx context.Context, db *database, table string, ref reference) (*strays, error) {
	if c.matrix != nil {
		return c.matrix.strays(ctx, c, db, table, ref)
	}
	found, _, err := c.straysNow(ctx, db, table, ref, nil)
	return found, err
}

// straysNow is strays, and also returns the sources that could not take part
// although they were to. views, if not nil, may add views for the streams.
func (c *checker) straysNow(ctx context.Context, db *database, table string, ref reference, views func([]*stream) []view) (*strays, exclusions, error) {
	var found *strays
	var without exclusions
	_, err := c.retry(func(excluded exclusions) ([]Gap, error) {
		without = excluded
		found = &strays{rebind: c.elsewhere()}
		reason := excluded[db]
		if reason == "" {
			reason = db.cannotRefer(table, ref.Reference)
		}
		if reason != "" {
			found.gaps = []Gap{{db.name, reason}}
			return nil, nil
		}
		referring := c.referring(db, table, ref.Reference)
		none := ref.none(referring)
		referring.visit = append(referring.visit, func(b *Batch) {
			for row := range b.Len {
				if !none(row) {
					found.dangling.add(referring, row)
				}
			}
		})
		found.rebind.ignore = func(p position) bool { return p.stream == referring && none(p.row) }
		if err := referring.open(ctx); err != nil || referring.done {
			referring.close()
			return nil, err
		}
		streams, gaps := c.referred(db, table, ref.Reference, excluded)
		found.rebindGaps = gaps
		if len(streams) == 0 {
			// Read the rest all the same: it is to be counted.
			found.rebind.wanted = func([]int64) bool { return false }
		}
		all := append([]*stream{referring}, streams...)
		if views != nil {
			found.rebind.views = views(all)
		}
		return nil, found.rebind.count(ctx, all)
	})
	return found, without, err
}

// cannotRefer says why the database cannot follow the reference, or returns "".
func (db *database) cannotRefer(table string, ref Reference) string {
	to := db.tables[ref.ToTable]
	if to == nil {
		if slices.Contains(db.excluded, ref.ToTable) {
			return "refers to " + ref.ToTable + ", which is " + excludedReason
		}
		return "has no table " + ref.ToTable
	}
	for i, name := range ref.Columns {
		if db.tables[table].column(name) == nil {
			return "has no column " + name
		}
		if to.column(ref.ToColumns[i]) == nil {
			return "has no column " + ref.ToTable + "." + ref.ToColumns[i]
		}
	}
	return ""
}

// referring prepares to read the rows of a source whose reference leads
// nowhere, in the order of what they refer to.
func (c *checker) referring(db *database, table string, ref Reference) *stream {
	t := db.tables[table]
	_, model := c.model(ref.ToTable)
	orders := make([]Order, len(ref.Columns))
	for i, name := range ref.Columns {
		orders[i].Column = name
		if to := model.column(ref.ToColumns[i]); to != nil && t.column(name).Collation != "" {
			orders[i].Collation = to.Collation
		}
	}
	carry := t.rowKey(ref.Columns)
	return &stream{
		checker: c, db: db, code: CodeReferenceDangle, names: len(carry),
		scan: Scan{Table: table, Order: orders, Carry: slices.Clip(carry), SkipNull: true, Dangling: &ref},
	}
}

// none returns what tells of a row of the referring stream that it refers to
// nothing although it is not NULL. It makes the stream bring along what it
// takes.
func (r reference) none(s *stream) func(row int) bool {
	if !r.zeroIsNone {
		return func(int) bool { return false }
	}
	i := s.carry(r.Columns[0])
	return func(row int) bool { return isZero(s.carriedAt(i, row)) }
}

// isZero reports whether a value, as the database sent it, is 0, empty, or
// nothing but zero bytes.
func isZero(v []byte) bool {
	return string(v) == "0" || len(bytes.Trim(v, "\x00")) == 0
}

// referred prepares to read what the other sources have to refer to.
func (c *checker) referred(db *database, table string, ref Reference, excluded exclusions) (streams []*stream, gaps []Gap) {
	all, gaps := c.keyStreams(CodeReferenceRebind, ref.ToTable, ref.ToColumns, excluded)
	for _, s := range all {
		if s.db == db {
			continue
		}
		if reason := incomparable(db.tables[table], ref.Columns, s.db, s.db.tables[ref.ToTable], ref.ToColumns); reason != "" {
			gaps = append(gaps, Gap{db.name, reason})
			continue
		}
		streams = append(streams, s)
	}
	return streams, gaps
}

// danglingQuery selects the rows of which a reference leads nowhere.
func danglingQuery(table string, ref Reference) string {
	var set, match []string
	for i, name := range ref.Columns {
		set = append(set, "c."+sqlName(name)+" IS NOT NULL")
		match = append(match, "p."+sqlName(ref.ToColumns[i])+" = c."+sqlName(name))
	}
	return fmt.Sprintf("SELECT * FROM %s c WHERE %s AND NOT EXISTS (SELECT 1 FROM %s p WHERE %s)",
		sqlName(table), strings.Join(set, " AND "), sqlName(ref.ToTable), strings.Join(match, " AND "))
}
