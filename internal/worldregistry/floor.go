package worldregistry

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// checkFloor returns an error unless the patterns of columns can match one.
func (o NodeOptions) checkFloor() error {
	for _, pattern := range slices.Concat(o.FloorOnly, o.FloorExcept) {
		if _, err := path.Match(pattern, ""); err != nil || strings.Count(pattern, ".") != 1 {
			return fmt.Errorf("store: %q is not a pattern of columns: want table.column, as in sessions.*", pattern)
		}
	}
	return nil
}

func (o NodeOptions) wants(k keyColumn) bool {
	name := strings.ToLower(k.Tab + "." + k.Col)
	matches := func(pattern string) bool { ok, _ := path.Match(strings.ToLower(pattern), name); return ok }
	return (len(o.FloorOnly) == 0 || slices.ContainsFunc(o.FloorOnly, matches)) && !slices.ContainsFunc(o.FloorExcept, matches)
}

// keyColumn is a column of IDs that is the first, or the only one, of a primary
// key.
type keyColumn struct{ Tab, Col string }

// The columns of primary keys, and whether they have 10 bytes. In MariaDB, to
// read information_schema.statistics for thousands of tables takes many times as
// long: it is asked only about keys of several columns, by the names of tables,
// for which it opens no others.
const (
	mysqlKeys = `
		SELECT table_name AS tab, column_name AS col, data_type = 'binary' AND character_octet_length = 10 AS id
		FROM information_schema.columns WHERE table_schema = DATABASE() AND column_key = 'PRI'`
	mysqlFirst = `
		SELECT table_name AS tab, column_name AS col, 1 AS id FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND table_name = ? AND index_name = 'PRIMARY' AND seq_in_index = 1`
	sqliteKeys = `
		SELECT t.name AS tab, c.name AS col, 1 AS id
		FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
		WHERE t.type = 'table' AND c.pk = 1 AND upper(c.type) IN ('BLOB', 'BINARY(10)')`
	postgresKeys = `
		SELECT c.relname AS tab, a.attname AS col, TRUE AS id
		FROM pg_class AS c JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
			JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
		WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
			AND c.relkind IN ('r', 'p') AND a.atttypid IN (` + postgresBytes + `)`

	// The types of bytes: BYTEA, and the domains that a game makes of it.
	postgresBytes = `WITH RECURSIVE bytes (type) AS (
		SELECT 'bytea'::REGTYPE::OID UNION
		SELECT t.oid FROM pg_type AS t JOIN bytes ON t.typbasetype = bytes.type) SELECT type FROM bytes`
)

// keyColumns returns where to look.
func (r *Registry) keyColumns(ctx context.Context, o NodeOptions) ([]keyColumn, error) {
	query := map[sqldb.Dialect]string{sqldb.MySQL: mysqlKeys, sqldb.SQLite: sqliteKeys, sqldb.PostgreSQL: postgresKeys}[r.db.Dialect()]
	type part struct {
		keyColumn
		ID bool // it may hold IDs
	}
	var all []part
	if err := r.db.Select(ctx, &all, query); err != nil {
		return nil, err
	}
	count, mayHold := make(map[string]int), make(map[keyColumn]bool)
	for _, k := range all {
		count[k.Tab]++
		mayHold[k.keyColumn] = k.ID
	}
	var columns []keyColumn
	var several []any // the tables whose key has several columns, one of which may be of IDs
	for _, k := range all {
		switch {
		case !k.ID || !o.wants(k.keyColumn):
		case count[k.Tab] == 1:
			columns = append(columns, k.keyColumn)
		default:
			several = append(several, k.Tab)
		}
	}
	for names := range slices.Chunk(several, perStatement) {
		var first []part
		if err := r.db.Select(ctx, &first, mysqlFirst+strings.Repeat(" UNION "+mysqlFirst, len(names)-1), names...); err != nil {
			return nil, err
		}
		for _, k := range first {
			if mayHold[k.keyColumn] && o.wants(k.keyColumn) {
				columns = append(columns, k.keyColumn)
			}
		}
	}
	return columns, nil
}

// perStatement is how many tables are asked in one statement: SQLite takes 500.
const perStatement = 250

// Floor is what a [gameid.Floorer] returns on this registry: the time of the largest ID of the
// server among the keys of all tables, those of the game included, or 0 if none is later
// than the mark. If IDs of other servers are later, but not in the future, it may be the
// time of the latest of them: reading that takes one read of an index, and a floor in the
// past does no harm.
//
// An ID of another server in the future, such as a merged world with a broken
// clock left behind, does not count: the floor would stop the server. Nor does a
// column in which most values lie far in the future, or everywhere in it: it holds
// something else than IDs, such as random tokens. NodeOptions.FloorExcept
// leaves out one that has but a few.
//
// What is stored after Floor has looked cannot be missed: who stores it has the lease, and
// its mark is in the row.
func (r *Registry) Floor(ctx context.Context, server gameid.ServerID, o NodeOptions) (int64, error) {
	rec, err := r.Load(ctx, server)
	if err != nil {
		return 0, err
	}
	floor, err := r.largest(ctx, server, rec.Reserved, rec.Now.UnixMilli()-gameid.EpochMillis, o)
	return floor, r.db.Fault(fmt.Sprintf("registry of server %s: largest ID", server), err)
}

// largest returns an upper bound of the times of the server's IDs in all tables,
// or 0 if none is later than reserved. Times are milliseconds since the epoch.
func (r *Registry) largest(ctx context.Context, server gameid.ServerID, reserved, now int64, o NodeOptions) (int64, error) {
	columns, err := r.keyColumns(ctx, o)
	if err != nil {
		return 0, err
	}
	var floor int64
	for chunk := range slices.Chunk(columns, perStatement) {
		latest, err := r.latest(ctx, chunk, lastOf(max(reserved, 0)))
		if err != nil {
			return 0, err
		}
		for i, last := range latest {
			const far = int64(time.Hour / time.Millisecond)
			if last.Millis() > now+far || last.Server() != server && last.Millis() > now {
				if last, err = r.latestOf(ctx, chunk[i], server, reserved, now, far); err != nil {
					return 0, fmt.Errorf("table %q: %w", chunk[i].Tab, err)
				}
			}
			if last.IsValid() {
				floor = max(floor, last.Millis())
			}
		}
	}
	return floor, nil
}

// latest returns the largest ID above mark of each column that has one, by its
// place among columns. All of these are looks into the index of a primary key.
func (r *Registry) latest(ctx context.Context, columns []keyColumn, mark gameid.ID) (map[int]gameid.ID, error) {
	d := r.db.Dialect()
	var parts []string
	var args []any
	for i, k := range columns {
		col := d.Quote(k.Col)
		parts = append(parts, fmt.Sprintf("SELECT * FROM (SELECT %d AS place, %s AS id FROM %s WHERE %s > ? ORDER BY %s DESC LIMIT 1) AS t%d",
			i, col, d.Quote(k.Tab), col, col, i))
		args = append(args, mark)
	}
	var rows []struct {
		Place int
		ID    []byte
	}
	if err := r.db.Select(ctx, &rows, strings.Join(parts, " UNION ALL "), args...); err != nil {
		return nil, err
	}
	found := make(map[int]gameid.ID)
	for _, row := range rows {
		if id, err := gameid.FromBytes(row.ID); err == nil { // or 10 bytes that are no ID
			found[row.Place] = id
		}
	}
	return found, nil
}

// surelyOther is by how many values far in the future must outnumber the others
// to tell that a column holds no IDs. A few may be what a broken clock left.
const surelyOther = 16

// stretches is into how many parts the future is cut, all but two of which are
// used by values that are no IDs, if there are very many: random ones lie
// everywhere. No clock breaks in so many ways.
const stretches = 16

// latestOf is latest for a column whose largest value lies in the future.
func (r *Registry) latestOf(ctx context.Context, k keyColumn, server gameid.ServerID, reserved, now, far int64) (gameid.ID, error) {
	d := r.db.Dialect()
	col, from := d.Quote(k.Col), " FROM "+d.Quote(k.Tab)+" WHERE "
	marked, present, future := lastOf(max(reserved, 0)), lastOf(max(now, 0)), lastOf(max(now+far, 0))
	var beyond, before, used int
	count := func(n *int, condition string) error {
		return r.db.Get(ctx, n, "SELECT COUNT(*) FROM (SELECT 1"+from+col+condition+" LIMIT 1000) AS t", future)
	}
	if err := errors.Join(count(&beyond, " > ?"), count(&before, " <= ?")); err != nil || beyond >= before+surelyOther {
		return gameid.ID{}, err
	}
	var parts []string
	var bounds []any
	step := (gameid.MaxMillis - future.Millis()) / stretches
	for i := range int64(stretches) {
		parts = append(parts, fmt.Sprintf("SELECT * FROM (SELECT 1 AS one%s%s > ? AND %s <= ? LIMIT 1) AS t%d", from, col, col, i))
		bounds = append(bounds, lastOf(future.Millis()+i*step), lastOf(future.Millis()+(i+1)*step))
	}
	if err := r.db.Get(ctx, &used, "SELECT COUNT(*) FROM ("+strings.Join(parts, " UNION ALL ")+") AS used", bounds...); err != nil || used >= stretches-2 {
		return gameid.ID{}, err
	}
	order := " ORDER BY " + col + " DESC LIMIT 1"
	// Only this one reads on: over the IDs that lie in the future.
	last, err := r.lastID(ctx, "SELECT "+col+from+col+" > ? AND SUBSTR("+d.Hex(col)+", 12, 5) = ?"+order, present, fmt.Sprintf("%05X", uint32(server)))
	if err != nil {
		return last, err
	}
	past, err := r.lastID(ctx, "SELECT "+col+from+col+" > ? AND "+col+" <= ?"+order, marked, present)
	if past.Compare(last) > 0 {
		last = past
	}
	return last, err
}

// lastID runs a query for one key. It returns the zero ID where there is none,
// or something of 10 bytes that is no ID.
func (r *Registry) lastID(ctx context.Context, query string, args ...any) (gameid.ID, error) {
	var raw []byte
	err := r.db.Get(ctx, &raw, query, args...)
	if errors.Is(err, sqldb.ErrNotFound) {
		return gameid.ID{}, nil
	}
	if err != nil {
		return gameid.ID{}, err
	}
	id, err := gameid.FromBytes(raw)
	if err != nil {
		return gameid.ID{}, nil
	}
	return id, nil
}

// lastOf is the greatest ID that a millisecond can have.
func lastOf(ms int64) gameid.ID {
	id, err := gameid.Make(gameid.TimeOf(min(ms, gameid.MaxMillis)), gameid.MaxServer, 1<<gameid.SequenceBits-1)
	if err != nil {
		panic(err) // ms is not negative
	}
	return id
}
