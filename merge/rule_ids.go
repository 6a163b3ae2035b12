package merge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
)

// idColumns returns the columns of a table that hold IDs in any source. In a
// game that does not use gameid, by all that is seen, 10 bytes are only 10
// bytes; then it is those that the operator declares.
func (c *checker) idColumns(table string) (columns []string) {
	uses := slices.ContainsFunc(c.dbs, func(db *database) bool { return db.catalog.HasRegistry || db.holdsIDs() })
	for _, db := range c.dbs {
		if t := db.tables[table]; t != nil {
			for i := range t.Columns {
				col := &t.Columns[i]
				declared := slices.Contains(c.opts.IDs, IDColumn{table, col.Name})
				if col.IsID && (uses || declared) && !slices.Contains(columns, col.Name) {
					columns = append(columns, col.Name)
				}
			}
		}
	}
	return columns
}

// judgeIDs makes the streams of a table's key judge the IDs in it, and bring
// along the IDs in other columns to judge them as well. It returns what will be
// found, column by column.
func (c *checker) judgeIDs(table string, streams []*stream) (scans []*idScan) {
	for _, name := range c.idColumns(table) {
		for _, s := range streams {
			if scan := c.judge(s, name); scan != nil {
				scans = append(scans, scan)
			}
		}
	}
	return scans
}

// judge makes a stream judge the IDs of a column. It returns nil if the source
// has no such column, or none of IDs.
func (c *checker) judge(s *stream, column string) *idScan {
	db := s.db
	t := db.tables[s.scan.Table]
	col := t.column(column)
	if col == nil {
		return nil
	}
	scan := &idScan{
		stream: s, column: column,
		key:      slices.Contains(t.key(), column),
		digits:   col.Kind == KindText,
		future:   c.future(db),
		registry: db.catalog.HasRegistry,
		tallies:  newTallies(db),
	}
	ordered := slices.IndexFunc(s.scan.Order, func(o Order) bool { return o.Column == column })
	switch {
	case !col.IsID && ordered < 0:
		return nil
	case ordered >= 0 && !scan.digits:
		scan.index = ordered
	default:
		scan.carried = true
		scan.index = s.carry(column)
	}
	s.visit = append(s.visit, scan.visit)
	return scan
}

// checkIDs judges the IDs in a table that has no key to read them along with.
func (c *checker) checkIDs(ctx context.Context, table string) error {
	columns := c.idColumns(table)
	var scans []*idScan
	var gaps []Gap
	for _, db := range c.dbs {
		t := db.tables[table]
		if t == nil || !slices.ContainsFunc(columns, func(name string) bool { return t.column(name) != nil }) {
			continue
		}
		found, err := c.readIDs(ctx, db, table)
		var unsupported *UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			gaps = append(gaps, Gap{db.name, unsupported.Error()})
		case err != nil:
			return err
		}
		for _, scan := range found {
			if slices.Contains(columns, scan.column) {
				scans = append(scans, scan)
			}
		}
	}
	slices.SortStableFunc(scans, func(a, b *idScan) int { return strings.Compare(a.column, b.column) })
	return c.addIDs(ctx, table, gaps, scans)
}

// readIDs judges the IDs of one source in such a table.
func (c *checker) readIDs(ctx context.Context, db *database, table string) (scans []*idScan, err error) {
	if c.matrix != nil {
		return c.matrix.readIDs(ctx, c, db, table)
	}
	return c.readIDsNow(ctx, db, table)
}

func (c *checker) readIDsNow(ctx context.Context, db *database, table string) (scans []*idScan, err error) {
	t := db.tables[table]
	var columns []string
	for _, col := range t.Columns {
		if col.IsID {
			columns = append(columns, col.Name)
		}
	}
	if len(columns) == 0 {
		return nil, nil
	}
	carry := t.rowKey(columns[:1])
	s := &stream{
		checker: c, db: db, code: CodeIDInvalid, names: len(carry),
		scan: Scan{Table: table, Order: []Order{{Column: columns[0]}}, Carry: slices.Clip(carry)},
	}
	for _, name := range columns {
		scans = append(scans, c.judge(s, name))
	}
	if err := s.drain(ctx); err != nil {
		return nil, err
	}
	return scans, nil
}

// now is what the IDs of a database are held against; zero if nobody knows.
func (c *checker) now(db *database) time.Time {
	if !c.opts.Now.IsZero() {
		return c.opts.Now
	}
	return db.catalog.Now
}

// future returns the last millisecond that is not from the future.
func (c *checker) future(db *database) int64 {
	now := c.now(db)
	if now.IsZero() {
		return math.MaxInt64
	}
	return now.Add(c.opts.Slack).UnixMilli() - gameid.EpochMillis
}

// addIDs reports what was found about the IDs in a table. gaps are the sources
// that were not read.
func (c *checker) addIDs(ctx context.Context, table string, gaps []Gap, scans []*idScan) error {
	for len(scans) > 0 {
		n := 1
		for n < len(scans) && scans[n].column == scans[0].column { // they come column by column
			n++
		}
		if err := c.addIDColumn(ctx, table, gaps, scans[:n]); err != nil {
			return err
		}
		scans = scans[n:]
	}
	return nil
}

func (c *checker) addIDColumn(ctx context.Context, table string, gaps []Gap, scans []*idScan) error {
	column := scans[0].column
	gaps = slices.Clip(gaps)
	for _, db := range c.dbs {
		judged := slices.ContainsFunc(scans, func(s *idScan) bool { return s.stream.db == db })
		missed := slices.ContainsFunc(gaps, func(g Gap) bool { return g.Source == db.name })
		if t := db.tables[table]; t == nil || judged || missed {
			continue
		} else if col := t.column(column); col != nil {
			gaps = append(gaps, Gap{db.name, "column " + column + " is " + col.Type + " and holds no IDs there"})
		}
	}
	gaps = slices.Clip(gaps)
	noRegistry, noClock := gaps, gaps
	for _, s := range scans {
		db := s.stream.db
		if s.key && !s.tallied {
			s.tallied = true // another pair of a matrix may come to it
			db.tallies.add(&s.tallies)
		}
		if !s.registry {
			noRegistry = append(noRegistry, Gap{db.name, "keeps no registry of servers"})
		}
		if c.now(db).IsZero() {
			noClock = append(noClock, Gap{db.name, "has no clock to hold IDs against"})
		}
	}
	for _, rule := range []idRule{
		unlistedRule(noRegistry), aboveMarkRule(noRegistry), invalidRule(gaps), c.futureRule(noClock),
	} {
		result := Result{Code: rule.code, Table: table, Subject: column, Gaps: rule.gaps}
		var kept []run
		var details []string
		for _, s := range scans {
			result.Read += s.read
			f := rule.faults(s)
			if f.rows == 0 {
				continue
			}
			result.Count += f.rows
			kept = append(kept, f.kept...)
			details = append(details, s.stream.db.name+": "+rule.detail(s))
			result.Next = append(result.Next, rule.next(s, sqlName(table), sqlName(column))...)
		}
		result.Rows = result.Count
		if result.Count == 0 {
			result.Message = printable.Count(result.Read, rule.noun, rule.noun+"s") + " looked at"
		} else {
			result.Message = printable.Count(result.Count, rule.noun, rule.noun+"s") + ": " + few(details)
			var err error
			if result.Samples, err = c.samples(ctx, kept, table, []string{column}); err != nil {
				return err
			}
		}
		c.add(result)
	}
	return nil
}

// idRule is what one of the rules about IDs says of what was found.
type idRule struct {
	code   string
	noun   string // for what is counted
	gaps   []Gap
	faults func(*idScan) *faults
	detail func(*idScan) string                           // of one source
	next   func(s *idScan, table, column string) []string // in one source
}

func unlistedRule(gaps []Gap) idRule {
	unlisted := func(t *tally) int64 { return t.unlisted }
	return idRule{
		CodeServerUnlisted, "ID", gaps,
		func(s *idScan) *faults { return &s.unlisted },
		func(s *idScan) string { return s.byServer(unlisted) },
		func(s *idScan, table, column string) []string {
			return s.queries(unlisted, "SELECT COUNT(*) FROM "+table+" WHERE SUBSTR(HEX("+column+"), 12, 5) = ")
		},
	}
}

func aboveMarkRule(gaps []Gap) idRule {
	above := func(t *tally) int64 { return t.above }
	return idRule{
		CodeIDAboveMark, "ID", gaps,
		func(s *idScan) *faults { return &s.above },
		func(s *idScan) string { return s.byServer(above) },
		func(s *idScan, table, column string) []string {
			return s.queries(above, "SELECT MAX(HEX("+column+")) FROM "+table+" WHERE SUBSTR(HEX("+column+"), 12, 5) = ")
		},
	}
}

func invalidRule(gaps []Gap) idRule {
	return idRule{
		CodeIDInvalid, "value", gaps,
		func(s *idScan) *faults { return &s.invalid },
		func(s *idScan) string { return printable.Number(s.invalid.rows) },
		func(s *idScan, table, column string) []string {
			return []string{fmt.Sprintf("in %s: SELECT * FROM %s WHERE LENGTH(%s) <> %d OR SUBSTR(HEX(%[3]s), 12, 5) = '00000'",
				s.stream.db.name, table, column, gameid.Size)}
		},
	}
}

func (c *checker) futureRule(gaps []Gap) idRule {
	return idRule{
		CodeIDFuture, "ID", gaps,
		func(s *idScan) *faults { return &s.fromFuture },
		func(s *idScan) string {
			return fmt.Sprintf("%s later than %s by more than %s", printable.Number(s.fromFuture.rows), stamp(c.now(s.stream.db)), c.opts.Slack)
		},
		func(s *idScan, _, _ string) []string {
			return []string{fmt.Sprintf("in %s: compare the clock of the database, %s, with the true time", s.stream.db.name, stamp(s.stream.db.catalog.Now))}
		},
	}
}

// byServer writes how many IDs of which servers: "server 12 (300); server 99 (4)".
func (s *idScan) byServer(count func(*tally) int64) string {
	var parts []string
	for _, server := range slices.Sorted(maps.Keys(s.tallies.byServer)) {
		if n := count(s.tallies.byServer[server]); n > 0 {
			parts = append(parts, fmt.Sprintf("server %s (%s)", server, printable.Number(n)))
		}
	}
	if n := count(&s.tallies.others); n > 0 {
		parts = append(parts, fmt.Sprintf("other servers (%s)", printable.Number(n)))
	}
	return enumerated(parts)
}

// queries completes a query with the digits of each of the first servers that
// have something to count.
func (s *idScan) queries(count func(*tally) int64, query string) (all []string) {
	const most = 3
	for _, server := range slices.Sorted(maps.Keys(s.tallies.byServer)) {
		if count(s.tallies.byServer[server]) > 0 && len(all) < most {
			all = append(all, fmt.Sprintf("in %s: %s'%05X'", s.stream.db.name, query, uint32(server)))
		}
	}
	return all
}

// summary tells what was read of the database, by server and by table.
func (db *database) summary() Summary {
	s := Summary{
		Name: db.name, Engine: strings.TrimSpace(db.catalog.Engine + " " + db.catalog.EngineVersion),
		Servers: []ServerSummary{}, Tables: []TableSummary{},
		OtherIDs: db.tallies.others.ids,
	}
	for _, server := range slices.Sorted(maps.Keys(db.tallies.byServer)) {
		t := db.tallies.byServer[server]
		line := ServerSummary{Server: int(server), Listed: t.listed, IDs: t.ids}
		if t.ids > 0 {
			line.Oldest, line.Newest = gameid.TimeOf(t.oldest), gameid.TimeOf(t.newest)
		}
		if row, listed := db.listed[server]; listed {
			line.Name, line.World, line.Own = row.Name, row.World, row.Own
			line.Mark = gameid.TimeOf(row.Reserved)
		}
		s.Servers = append(s.Servers, line)
	}
	for _, table := range slices.Sorted(maps.Keys(db.rows)) {
		line := TableSummary{Table: table, Rows: db.rows[table]}
		if r := db.ranges[table]; r.first != nil {
			line.First, line.Last = db.tables[table].keyOf(r.first), db.tables[table].keyOf(r.last)
		}
		s.Tables = append(s.Tables, line)
	}
	return s
}
