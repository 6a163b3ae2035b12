package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"

	"mergesafe/gameid"
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
	index []int
}

// MustTable describes a table by the struct of its rows. Every exported field
// of R has a db tag with the name of its column, or "-". The first column is
// the primary key, and its type is gameid.Of[K].
//
//	type Mail struct {
//		ID   gameid.Of[Mail]          `db:"id"`
//		To   gameid.Of[entity.Player] `db:"to_id"`
//		Text string                   `db:"text"`
//	}
//
//	var mails = store.MustTable[Mail, Mail]("mails")
//
// It panics if R or name is not fit for a table: that is a mistake in the
// program, which shows when it starts. It does not look at any database.
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
		t.columns = append(t.columns, column{name: "`" + tag + "`", index: f.Index})
	}
	if len(names) == 0 || row.FieldByIndex(t.columns[0].index).Type != reflect.TypeFor[gameid.Of[K]]() {
		fail("its first column must be the key, of type %s", reflect.TypeFor[gameid.Of[K]]())
	}
	if len(names) == 1 {
		fail("it has no column but the key")
	}
	_, t.validate = any((*R)(nil)).(validator)

	t.queries()
	return t
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
	return t.one(ctx, s, short, "%s", key, t.selectOne, key)
}

// GetForUpdate is [Table.Get] for a row that the transaction is going to
// change: it waits for others that do so, and keeps them waiting, so that what
// was read stays true until the commit.
func (t *Table[K, R]) GetForUpdate(ctx context.Context, tx *Tx, key gameid.Of[K]) (R, error) {
	query := t.selectOne
	if tx.Dialect() == MySQL { // in SQLite a transaction is alone from its begin
		query += " FOR UPDATE"
	}
	return t.one(ctx, tx, short, "%s", key, query, key)
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

// Where returns the rows for which condition holds: what stands behind WHERE,
// with a ? for each of args, and perhaps with ORDER BY and LIMIT. The
// condition is part of the program and never made from input.
//
//	inbox, err := mails.Where(ctx, db, "to_id = ? ORDER BY id", player)
func (t *Table[K, R]) Where(ctx context.Context, s Session, condition string, args ...any) ([]R, error) {
	return t.read(ctx, s, nil, seldom, t.selectAll+" WHERE "+condition, args...)
}

// One returns the one row for which condition holds, as for [Table.Where], or
// [ErrNotFound]. It is meant for unique keys: of several rows it returns any.
func (t *Table[K, R]) One(ctx context.Context, s Session, condition string, args ...any) (R, error) {
	return t.one(ctx, s, seldom, "where %s", condition, t.selectAll+" WHERE "+condition+" LIMIT 1", args...)
}

// All returns all rows in the order of their keys, that is, of their making.
// It reads them as [Table.After] does.
func (t *Table[K, R]) All(ctx context.Context, s Session) iter.Seq2[R, error] {
	return t.After(ctx, s, gameid.Of[K]{})
}

// After returns the rows with a key greater than the given one, in the order
// of their keys. After an error the sequence ends.
//
//	for player, err := range store.Players.After(ctx, db, last) {
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
		for size := 100; ; size = min(10*size, 10_000) {
			var err error
			page, err = t.read(ctx, s, page[:0], long, t.page, from[:], size)
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
		}
	}
}

// Count returns how many rows the table has. The database has to count them.
func (t *Table[K, R]) Count(ctx context.Context, s Session) (int64, error) {
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
	return t.change(ctx, s, "update", t.key(&row), t.update, append(args[1:], args[0])...)
}

// Delete removes the row with the given key. If there is none, it returns
// [ErrNotFound].
func (t *Table[K, R]) Delete(ctx context.Context, s Session, key gameid.Of[K]) error {
	return t.change(ctx, s, "delete", key, t.delete, key)
}

// change runs a statement that is to affect the row with the given key.
func (t *Table[K, R]) change(ctx context.Context, s Session, verb string, key gameid.Of[K], query string, args ...any) error {
	what := fmt.Sprintf("%s %s %s", verb, t.name, key)
	result, err := s.of().exec(ctx, short, what, query, args...)
	if err != nil {
		return err
	}
	switch n, err := result.RowsAffected(); {
	case err != nil:
		return s.of().fault(what, err)
	case n == 0:
		return &opError{what, ErrNotFound}
	case n != 1:
		return fmt.Errorf("store: %s: the database says that it changed %d rows, want 1", what, n)
	}
	return nil
}

// one runs a query for one row. The format and what tell, in an error, which
// row was looked for.
func (t *Table[K, R]) one(ctx context.Context, s Session, kind kind, format string, what any, query string, args ...any) (row R, err error) {
	rows, err := s.of().query(ctx, kind, query, args...)
	if err == nil {
		if err = sql.ErrNoRows; rows.Next() {
			err = rows.Scan(t.pointers(&row)...)
		} else if rows.Err() != nil {
			err = rows.Err()
		}
		err = cmp.Or(err, rows.Close())
	}
	if err != nil || s.of().db.check != nil {
		err = s.of().fault(t.name+" "+fmt.Sprintf(format, what), err)
	}
	return row, err
}

// read runs a query and appends its rows to page.
func (t *Table[K, R]) read(ctx context.Context, s Session, page []R, kind kind, query string, args ...any) ([]R, error) {
	rows, err := s.of().query(ctx, kind, query, args...)
	if err == nil {
		var row, zero R
		dest := t.pointers(&row)
		for rows.Next() && err == nil {
			row = zero // what Scan finds there it might use again
			err = rows.Scan(dest...)
			page = append(page, row)
		}
		err = cmp.Or(err, rows.Err(), rows.Close())
	}
	if err := s.of().fault("read "+t.name, err); err != nil {
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
