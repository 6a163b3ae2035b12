package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
)

// Table is a table whose primary key is an ID of kind K and whose rows are
// structs of type R. It holds no connection: its methods take a [Session], and
// any number of goroutines may call them.
//
// Rows that have a method Validate() error are validated before they are
// written, and its error is returned.
type Table[K, R any] struct {
	name     string
	columns  []column // the first is the key
	times    []column // those that hold times
	checked  any      // stands for the table in [sqldb.DB.Once]
	validate bool

	selectAll string // SELECT columns FROM table
	selectOne string
	page      string
	insert    string // INSERT INTO table (columns) VALUES
	marks     string // (?,?,...) for one row
	update    string
	delete    string
	full      string // insert with as many rows as go into one statement
	most      int    // how many that are
}

// column is one field of the row.
type column struct {
	name  string // quoted
	field string // of the row
	index []int
}

// MustTable describes a table by the struct of its rows. Every exported field
// of R has a db tag with the name of its column, or "-". The first column is
// the primary key, and its type is gameid.Of[K]. It has to be a key by itself: on
// a table whose primary key has several columns, the first of which is not unique
// alone, every method returns an error. The catalogue of the database is read when the
// table is used there for the first time.
//
// A [time.Time] belongs in a column of type DATETIME(3), in MySQL and in SQLite, or TIMESTAMPTZ(3) in PostgreSQL. Insert and
// Update write it in whole milliseconds, rounded down, and it comes back so, in UTC. Every method returns an error if a column could not be read as a time.
//
//	type Mail struct {
//		ID   gameid.Of[Mail]          `db:"id"`
//		To   gameid.Of[entity.Player] `db:"to_id"`
//		Text string                   `db:"text"`
//		Sent time.Time                `db:"sent"`
//	}
//
//	var mails = store.MustTable[Mail, Mail]("mails")
//
// It panics if R or name is not fit for a table: that is a mistake in the
// program, which shows when it starts.
func MustTable[K, R any](name string) *Table[K, R] {
	t := &Table[K, R]{name: name}
	row := reflect.TypeFor[R]()
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("store: table %q of %s: ", name, row) + fmt.Sprintf(format, args...))
	}
	if name == "" || strings.Contains(name, "`") {
		fail("the name is not fit for a table")
	}
	if row.Kind() != reflect.Struct {
		fail("its rows must be structs")
	}
	var names []string
	for _, f := range reflect.VisibleFields(row) {
		tag, tagged := f.Tag.Lookup("db")
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Pointer:
			fail("the embedded %s must not be a pointer", f.Type)
		case f.Anonymous && !tagged, !f.IsExported(), tag == "-":
			continue
		case tag == "" || strings.ContainsAny(tag, "`,. "):
			fail("field %s needs a tag with the name of its column, such as `db:\"%s\"`, or `db:\"-\"`", f.Name, strings.ToLower(f.Name))
		case slices.Contains(names, tag):
			fail("two fields have the column %q", tag)
		}
		names = append(names, tag)
		c := column{name: "`" + tag + "`", field: f.Name, index: f.Index}
		t.columns = append(t.columns, c)
		if slices.Contains(timeTypes, f.Type) {
			t.times = append(t.times, c)
		}
	}
	if len(names) == 0 || row.FieldByIndex(t.columns[0].index).Type != reflect.TypeFor[gameid.Of[K]]() {
		fail("its first column must be the key, of type %s", reflect.TypeFor[gameid.Of[K]]())
	}
	if len(names) == 1 {
		fail("it has no column besides the key")
	}
	_, t.validate = any((*R)(nil)).(validator)
	t.checked = tableKey{name, names[0]}

	t.queries()
	return t
}

// tableKey is a table and its first column.
type tableKey struct{ table, column string }

// ready makes sure, once for each database, that the first column is a key and that times can be
// read from the columns that are to hold them.
func (t *Table[K, R]) ready(ctx context.Context, s *sqldb.Session) error {
	err := s.DB().Once(t.checked, func() error {
		key := t.checked.(tableKey)
		primary, unique, err := s.KeyColumns(ctx, key.table, key.column)
		if err != nil {
			return err
		}
		if unique {
			return t.timesComeBack(ctx, s)
		}
		has := "it has no primary key"
		if len(primary) > 0 {
			has = fmt.Sprintf("its primary key is (%s)", strings.Join(primary, ", "))
		}
		return fmt.Errorf("store: table %q of %s: %s, and the column %q, which is the first in %s, is not unique by itself, so it does not identify a row; "+
			"make it the primary key or give it a unique one, or use Get, Select and Exec of store.Session for this table",
			t.name, reflect.TypeFor[R](), has, key.column, reflect.TypeFor[R]())
	})
	if errors.Is(err, ErrNotFound) {
		return nil // the statement itself will say that there is no such table
	}
	return err
}

// queries writes the SQL. Both dialects take the quotes of MySQL.
func (t *Table[K, R]) queries() {
	var names, set []string
	for _, c := range t.columns {
		names = append(names, c.name)
		set = append(set, c.name+"=?")
	}
	table, columns, key := "`"+t.name+"`", strings.Join(names, ","), names[0]
	t.selectAll = "SELECT " + columns + " FROM " + table
	t.selectOne = t.selectAll + " WHERE " + key + "=?"
	t.page = t.selectAll + " WHERE " + key + ">? ORDER BY " + key + " LIMIT ?"
	t.update = "UPDATE " + table + " SET " + strings.Join(set[1:], ",") + " WHERE " + key + "=?"
	t.delete = "DELETE FROM " + table + " WHERE " + key + "=?"
	t.insert = "INSERT INTO " + table + " (" + columns + ") VALUES "
	t.marks = marks(len(names))
	t.most = min(maxRows, maxPlaceholders/len(names))
	t.full = t.insertRows(t.most)
}

// marks returns (?,?,...) with n question marks.
func marks(n int) string { return "(" + strings.Repeat(",?", n)[1:] + ")" }

type validator interface{ Validate() error }

// Name returns the name of the table.
func (t *Table[K, R]) Name() string { return t.name }

// Get returns the row with the given key, or [ErrNotFound].
func (t *Table[K, R]) Get(ctx context.Context, s Session, key gameid.Of[K]) (R, error) {
	return t.one(ctx, s, sqldb.Short, "%s", key, t.selectOne, key)
}

// GetForUpdate is [Table.Get] for a row that the transaction is going to
// change: it waits for others that do so, and keeps them waiting, so that what
// was read stays true until the commit.
func (t *Table[K, R]) GetForUpdate(ctx context.Context, tx *Tx, key gameid.Of[K]) (R, error) {
	query := t.selectOne
	if !sqldb.Dialect(tx.Dialect()).Words().File { // in SQLite a transaction is alone from its begin
		query += " FOR UPDATE"
	}
	return t.one(ctx, tx, sqldb.Short, "%s", key, query, key)
}

// GetMany returns the rows with the given keys. Those that do not exist are
// missing from the map.
func (t *Table[K, R]) GetMany(ctx context.Context, s Session, keys []gameid.Of[K]) (map[gameid.Of[K]]R, error) {
	rows := make(map[gameid.Of[K]]R, len(keys))
	for chunk := range slices.Chunk(keys, maxKeys) {
		args := make([]any, len(chunk))
		for i, key := range chunk {
			args[i] = key
		}
		found, err := t.Where(ctx, s, t.columns[0].name+" IN "+marks(len(chunk)), args...)
		if err != nil {
			return nil, err
		}
		for i := range found {
			rows[t.key(&found[i])] = found[i]
		}
	}
	return rows, nil
}

// Where returns the rows for which condition holds. The condition is the text after
// WHERE, with a ? for each of args, and perhaps with ORDER BY and LIMIT. Write it in
// the program; never make it from input.
//
//	inbox, err := mails.Where(ctx, db, "to_id = ? ORDER BY id", player)
//
// The ? of an argument that is a slice becomes as many as it has elements, and an
// empty slice is an error. (Not a []byte, nor a [driver.Valuer].)
//
//	some, err := mails.Where(ctx, db, "id IN (?)", ids)
func (t *Table[K, R]) Where(ctx context.Context, s Session, condition string, args ...any) ([]R, error) {
	condition, args, _, err := t.expand(condition, args)
	if err != nil {
		return nil, err
	}
	return t.read(ctx, s, nil, sqldb.Seldom, t.selectAll+" WHERE "+condition, args...)
}

// expand gives every element of a slice among args a ? of its own. It reports
// whether there was one.
func (t *Table[K, R]) expand(condition string, args []any) (string, []any, bool, error) {
	many := false
	args = slices.Clone(args)
	for i, arg := range args {
		v := reflect.ValueOf(arg)
		if _, valuer := arg.(driver.Valuer); valuer || v.Kind() != reflect.Slice {
			continue
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			args[i] = v.Bytes() // sqlx knows []byte, but not types made of it
		} else {
			many = true
		}
	}
	if !many {
		return condition, args, false, nil
	}
	expanded, args, err := sqlx.In(condition, args...)
	if err != nil {
		return "", nil, true, fmt.Errorf("store: %s where %s: %w", t.name, condition, err)
	}
	return expanded, args, true, nil
}

// One returns the one row for which condition holds, as for [Table.Where], or
// [ErrNotFound]. It is meant for unique keys: of several rows it returns any.
func (t *Table[K, R]) One(ctx context.Context, s Session, condition string, args ...any) (R, error) {
	expanded, args, _, err := t.expand(condition, args)
	if err != nil {
		var none R
		return none, err
	}
	return t.one(ctx, s, sqldb.Seldom, "where %s", condition, t.selectAll+" WHERE "+expanded+" LIMIT 1", args...)
}

// Lookup is [Table.One] for a condition that is used often: its statement is kept
// prepared. what names the row in an error: "named Aria".
func (t *Table[K, R]) Lookup(ctx context.Context, s Session, what, condition string, args ...any) (R, error) {
	kind := sqldb.Short
	condition, args, many, err := t.expand(condition, args)
	if err != nil {
		var none R
		return none, err
	}
	if many {
		kind = sqldb.Seldom
	}
	return t.one(ctx, s, kind, "%s", what, t.selectAll+" WHERE "+condition, args...)
}

// All returns all rows in the order of their keys, which is the order in which they were made.
// It reads them as [Table.After] does.
func (t *Table[K, R]) All(ctx context.Context, s Session) iter.Seq2[R, error] {
	return t.After(ctx, s, gameid.Of[K]{})
}

// After returns the rows with a key greater than the given one, in the order
// of their keys. After an error the sequence ends.
//
//	for player, err := range players.After(ctx, db, last) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// Rows are read by the page, so the loop may take its time and use the same
// session. Rows that others write meanwhile may be seen or not; in
// [DB.Snapshot] they are not.
func (t *Table[K, R]) After(ctx context.Context, s Session, key gameid.Of[K]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		from := key.Bytes() // the zero key sorts before all others
		var page []R
		// The first pages are small, for loops that end soon; the last are so
		// large that the round trip does not count.
		for size := 100; ; {
			var err error
			page, err = t.read(ctx, s, page[:0], sqldb.Long, t.page, from[:], size)
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for i := range page {
				if !yield(page[i], nil) {
					return
				}
			}
			if len(page) < size {
				return
			}
			from = t.key(&page[size-1]).Bytes()
			if size = min(10*size, 40_000); cap(page) < size {
				page = make([]R, 0, size) // the last page was full, so there is likely one more
			}
		}
	}
}

// Count returns how many rows the table has. The database has to count them.
func (t *Table[K, R]) Count(ctx context.Context, s Session) (int64, error) {
	if err := t.ready(ctx, s.of()); err != nil {
		return 0, err
	}
	var n int64
	err := s.Get(ctx, &n, "SELECT COUNT(*) FROM `"+t.name+"`")
	return n, err
}

// Update writes all columns of the row that has the key of row. If there is
// none, it returns [ErrNotFound].
func (t *Table[K, R]) Update(ctx context.Context, s Session, row R) error {
	if err := t.validateRow(&row); err != nil {
		return err
	}
	args, _, err := t.appendValues(nil, &row)
	if err != nil {
		return err
	}
	err = t.change(ctx, s, "update", t.key(&row), t.update, append(args[1:], args[0])...)
	if errors.Is(err, ErrNotFound) && s.of().DB().Adopted() {
		// In a pool of the game's own, without clientFoundRows, MySQL does not
		// count a row that has all these values already.
		if _, absent := t.Get(ctx, s, t.key(&row)); !errors.Is(absent, ErrNotFound) {
			return absent
		}
	}
	return err
}

// Delete removes the row with the given key. If there is none, it returns
// [ErrNotFound].
func (t *Table[K, R]) Delete(ctx context.Context, s Session, key gameid.Of[K]) error {
	return t.change(ctx, s, "delete", key, t.delete, key)
}

// change runs a statement that is to affect the row with the given key.
func (t *Table[K, R]) change(ctx context.Context, s Session, verb string, key gameid.Of[K], query string, args ...any) error {
	if err := t.ready(ctx, s.of()); err != nil {
		return err
	}
	what := fmt.Sprintf("%s %s %s", verb, t.name, key)
	result, err := s.of().ExecKind(ctx, sqldb.Short, what, query, args...)
	if err != nil {
		return err
	}
	switch n, err := result.RowsAffected(); {
	case err != nil:
		return s.of().Fault(what, err)
	case n == 0:
		return &sqldb.OpError{What: what, Err: ErrNotFound}
	case n != 1:
		return fmt.Errorf("store: %s: the database says that it changed %d rows, want 1", what, n)
	}
	return nil
}

// one runs a query for one row. The format and what tell, in an error, which
// row was looked for.
func (t *Table[K, R]) one(ctx context.Context, s Session, kind sqldb.Kind, format string, what any, query string, args ...any) (row R, err error) {
	if err := cmp.Or(s.of().Control(query), t.ready(ctx, s.of())); err != nil {
		return row, err
	}
	err = s.of().Query(ctx, kind, func(rows *sql.Rows) error {
		if rows.Next() {
			return rows.Scan(t.pointers(&row)...)
		}
		return cmp.Or(rows.Err(), sql.ErrNoRows)
	}, query, args...)
	if err != nil || s.of().DB().ReadOnly() {
		err = s.of().Fault(t.name+" "+fmt.Sprintf(format, what), err)
	}
	return row, err
}

// read runs a query and appends its rows to page.
func (t *Table[K, R]) read(ctx context.Context, s Session, page []R, kind sqldb.Kind, query string, args ...any) ([]R, error) {
	if err := cmp.Or(s.of().Control(query), t.ready(ctx, s.of())); err != nil {
		return nil, err
	}
	err := s.of().Query(ctx, kind, func(rows *sql.Rows) error {
		var row, zero R
		dest := t.pointers(&row)
		for rows.Next() {
			row = zero // what Scan finds there it might use again
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			page = append(page, row)
		}
		return nil
	}, query, args...)
	if err := s.of().Fault("read "+t.name, err); err != nil {
		return nil, err
	}
	return page, nil
}

// key returns the key of row.
func (t *Table[K, R]) key(row *R) gameid.Of[K] {
	return *reflect.ValueOf(row).Elem().FieldByIndex(t.columns[0].index).Addr().Interface().(*gameid.Of[K])
}

// pointers returns a pointer to each column of row.
func (t *Table[K, R]) pointers(row *R) []any {
	v := reflect.ValueOf(row).Elem()
	to := make([]any, len(t.columns))
	for i, c := range t.columns {
		to[i] = destination(v.FieldByIndex(c.index).Addr().Interface())
	}
	return to
}
