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

	"mergesafe/internal/sqldb"
)

// Table is a table of a game. Its rows are structs of type R, and its key is of
// type K. It holds no connection: its methods take a [Session], and any number of
// goroutines may call them.
//
// A condition is the text of SQL after WHERE, with a ? for each of args, and no other ?
// in it. "TRUE" is the condition of all rows. Its type, text, is not exported, so a condition is a constant
// of the program: a string variable, such as what a player typed, does not compile.
// The same is true of the names of columns, and of what UpdateWhere sets.
//
// If an argument is a slice, its ? becomes as many as the slice has elements, and an
// empty slice is an error. (A []byte and a [driver.Valuer] are one argument.) A time is rounded
// down to the millisecond, as in Insert.
//
//	some, err := mails.Where(ctx, db, "to_id IN (?) AND sent > ? ORDER BY id", players, since)
//
// If R has a method Validate() error, Insert, Upsert and Update call it for each row
// before they write, and return its error.
type Table[K comparable, R any] struct {
	name     string
	columns  []column // of R; the first are the key
	key      []column // of K: the same columns
	times    []column // of R, those that hold times
	validate bool

	selects string   // SELECT columns FROM table WHERE
	byKey   string   // the condition for one row
	order   string   // the columns of the key
	behind  string   // the condition for the rows behind one in the order of keys
	last    []column // of that row, for each ? of behind
	insert  string   // INSERT INTO table (columns) VALUES
	marks   string   // (?,?,...) for one row
	most    int      // how many rows go into one statement
}

// column is a column in a struct, or the only one of a key that is no struct: then
// index is empty.
type column struct {
	name  string // quoted
	field string
	index []int
	typ   reflect.Type
}

// of returns the column in a struct.
func (c column) of(v reflect.Value) reflect.Value {
	if len(c.index) == 0 {
		return v
	}
	return v.FieldByIndex(c.index)
}

// text is SQL that only a constant of the program converts to.
type text string

// MustTable describes a table by the struct of its rows. Every exported field
// of R has a db tag with the name of its column, or "-". R may have only some of the
// columns: then only these are read and written. The columns of the key come first.
//
// K is the type of the key: an ID, a whole number or a text. If the key has several
// columns, K is a struct with the same fields as the first ones of R, in the order of
// the key; R may embed it. Every method refuses a table in which these columns are neither the
// primary key nor a unique key. The catalogue of the database is read when the table
// is used there for the first time.
//
// A [time.Time] belongs in a column of type DATETIME(3), in MySQL and in SQLite, or TIMESTAMPTZ(3) in PostgreSQL. It is
// written in whole milliseconds, rounded down, and read in UTC. Every method returns an error if a column
// could not be read as a time, or if, because of the time zone of a wrapped pool, it could be read as another time.
//
//	type Mail struct {
//		ID   gameid.Of[Mail]          `db:"id"`
//		To   gameid.Of[entity.Player] `db:"to_id"`
//		Text string                   `db:"text"`
//		Sent time.Time                `db:"sent"`
//	}
//
//	var mails = store.MustTable[gameid.Of[Mail], Mail]("mails")
//
// It panics if K, R or name is not fit for a table: that is a mistake in the
// program, which is found when it starts.
func MustTable[K comparable, R any](name string) *Table[K, R] {
	t := &Table[K, R]{name: name}
	row, key := reflect.TypeFor[R](), reflect.TypeFor[K]()
	fail := func(format string, args ...any) {
		panic(fmt.Sprintf("store: table %q of %s: ", name, row) + fmt.Sprintf(format, args...))
	}
	if name == "" || strings.Contains(name, "`") {
		fail("the name is not valid for a table")
	}
	if row.Kind() != reflect.Struct {
		fail("its rows must be structs")
	}
	t.columns = columnsOf(row, fail)
	for _, c := range t.columns {
		if slices.Contains(timeTypes, c.typ) {
			t.times = append(t.times, c)
		}
	}
	if key.Kind() == reflect.Struct && !key.Implements(reflect.TypeFor[driver.Valuer]()) {
		t.key = columnsOf(key, fail)
	} else if len(t.columns) > 0 {
		t.key = []column{{name: t.columns[0].name, typ: key}}
	}
	same := func(a, b column) bool { return a.name == b.name && a.typ == b.typ }
	if n := len(t.key); n == 0 || n > len(t.columns) || !slices.EqualFunc(t.key, t.columns[:n], same) {
		fail("its first columns must be those of the key, %s", key)
	}
	compare(reflect.Zero(key), reflect.Zero(key)) // which panics if it cannot
	_, t.validate = any((*R)(nil)).(validator)
	t.queries()
	return t
}

// columnsOf returns the columns of a struct.
func columnsOf(of reflect.Type, fail func(format string, args ...any)) (columns []column) {
	for _, f := range reflect.VisibleFields(of) {
		tag, tagged := f.Tag.Lookup("db")
		c := column{name: "`" + tag + "`", field: f.Name, index: f.Index, typ: f.Type}
		switch {
		case f.Anonymous && !tagged && f.Type.Kind() == reflect.Pointer:
			fail("the embedded %s must not be a pointer", f.Type)
		case f.Anonymous && !tagged, !f.IsExported(), tag == "-":
			continue
		case tag == "" || strings.ContainsAny(tag, "`,. "):
			fail("field %s needs a tag with its column name, such as `db:\"%s\"`, or `db:\"-\"`", f.Name, strings.ToLower(f.Name))
		case slices.ContainsFunc(columns, func(other column) bool { return other.name == c.name }):
			fail("two fields have the column %q", tag)
		}
		columns = append(columns, c)
	}
	return columns
}

// compare orders two keys. All processes have the same order, and that of IDs is the order of their bytes.
func compare(a, b reflect.Value) int {
	var n int
	var part func(v reflect.Value, i int) reflect.Value
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.Kind() == reflect.String:
		return strings.Compare(a.String(), b.String())
	case a.Kind() == reflect.Array:
		n, part = a.Len(), reflect.Value.Index
	case a.Kind() == reflect.Struct:
		n, part = a.NumField(), reflect.Value.Field
	default:
		panic(fmt.Sprintf("store: a key cannot hold a %s: want IDs, whole numbers and texts", a.Type()))
	}
	for i := range n {
		if c := compare(part(a, i), part(b, i)); c != 0 {
			return c
		}
	}
	return 0
}

// ready makes sure, once for each database, that the key identifies a row and that times can be
// read from the columns that hold them.
func (t *Table[K, R]) ready(ctx context.Context, s *sqldb.Session) error {
	err := s.DB().Once(t, func() error {
		keys, err := s.UniqueKeys(ctx, t.name)
		if err == nil && !slices.ContainsFunc(keys, t.isKey) {
			var view bool // for a view, the game declares the key
			if view, err = s.IsView(ctx, t.name); err == nil && !view {
				err = fmt.Errorf("store: table %q of %s: the key (%s) does not identify a row: the unique keys of the table are %v; "+
					"make it a unique key, or use one of these for the Table", t.name, reflect.TypeFor[R](), strings.ReplaceAll(t.order, "`", ""), keys)
			}
		}
		if err != nil {
			return err
		}
		return t.timesComeBack(ctx, s)
	})
	if errors.Is(err, ErrNotFound) {
		return nil // the statement itself will say that there is no such table
	}
	return err
}

// isKey reports whether these columns of the database are the key.
func (t *Table[K, R]) isKey(columns []string) bool {
	return slices.EqualFunc(columns, t.key, func(name string, c column) bool { return strings.EqualFold("`"+name+"`", c.name) })
}

// queries writes the SQL. All dialects take the quotes of MySQL.
func (t *Table[K, R]) queries() {
	var names, keys, equal []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	for i, c := range t.columns[:len(t.key)] {
		if keys, equal = append(keys, c.name), append(equal, c.name+"=?"); i > 0 {
			t.last = append(t.last, t.columns[i-1])
		}
		t.last = append(t.last, c)
	}
	columns := strings.Join(names, ",")
	t.selects = "SELECT " + columns + " FROM `" + t.name + "` WHERE "
	t.byKey = strings.Join(equal, " AND ")
	t.behind = behind(keys)
	t.order = strings.Join(keys, ",")
	t.insert = "INSERT INTO `" + t.name + "` (" + columns + ") VALUES "
	t.marks = "(" + strings.Repeat(",?", len(names))[1:] + ")"
	t.most = min(maxRows, maxPlaceholders/len(names))
}

// behind is the condition for the rows behind one in the order of keys. All values of its key but the last one are
// arguments twice. (MySQL compares rows, as in (a,b)>(?,?), without the index.)
func behind(keys []string) string {
	if len(keys) == 1 {
		return keys[0] + ">?"
	}
	return keys[0] + ">=? AND (" + keys[0] + ">? OR " + behind(keys[1:]) + ")"
}

type validator interface{ Validate() error }

// Get returns the row with the given key, or [ErrNotFound].
func (t *Table[K, R]) Get(ctx context.Context, s Session, key K) (R, error) {
	return t.get(ctx, s, key, t.selects+t.byKey)
}

// Lock returns the rows with the given keys, in the order of keys, and keeps others
// from changing them until the commit. If a row does not exist, the error is
// [ErrNotFound]. Lock locks the rows in an order that is the same in every
// transaction, so two transactions that each lock all their rows in one call do not
// deadlock.
//
//	both, err := players.Lock(ctx, tx, buyer, seller) // both[0] is the buyer
func (t *Table[K, R]) Lock(ctx context.Context, tx *Tx, keys ...K) ([]R, error) {
	query, s := t.selects+t.byKey, tx.of()
	switch {
	case !s.Dialect().Words().File:
		query += " FOR UPDATE"
	case s.DB().Adopted():
		// A transaction of [Open] has the lock of the file from its begin. A transaction of the game's pool may begin
		// without it: a change takes the lock, even a change of no row.
		key := t.columns[0].name
		if _, err := s.ExecKind(ctx, sqldb.Short, "lock "+t.name, "UPDATE `"+t.name+"` SET "+key+"="+key+" WHERE 0"); err != nil {
			return nil, err
		}
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compare(reflect.ValueOf(keys[a]), reflect.ValueOf(keys[b])) })
	rows := make([]R, len(keys))
	for _, i := range order {
		var err error
		if rows[i], err = t.get(ctx, tx, keys[i], query); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (t *Table[K, R]) get(ctx context.Context, s Session, key K, query string) (row R, err error) {
	args, _, err := t.values(nil, reflect.ValueOf(&key).Elem(), t.key)
	if err != nil {
		return row, err
	}
	return t.one(ctx, s, key, query, args)
}

// One returns the row for which condition holds, or [ErrNotFound]. If there are several, it
// returns the first by the ORDER BY of the condition, if it has one.
func (t *Table[K, R]) One(ctx context.Context, s Session, condition text, args ...any) (R, error) {
	return t.one(ctx, s, "where "+condition, t.selects+string(condition)+" LIMIT 1", args)
}

// Where returns the rows for which condition holds. ORDER BY and LIMIT may follow the
// condition.
//
//	inbox, err := mails.Where(ctx, db, "to_id = ? ORDER BY id", player)
func (t *Table[K, R]) Where(ctx context.Context, s Session, condition text, args ...any) ([]R, error) {
	return t.read(ctx, s, nil, sqldb.Short, t.selects+string(condition), args)
}

// Each returns the rows for which condition holds, in the order of their keys, which
// for IDs is the order in which they were made. After an error the sequence ends.
//
//	for mail, err := range mails.Each(ctx, db, "sent < ?", spring) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// Rows are read in pages, so the loop may be slow and may use the same
// session. Rows that others write meanwhile may be seen or not; in
// [DB.Snapshot] they are not seen.
func (t *Table[K, R]) Each(ctx context.Context, s Session, condition text, args ...any) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		var page []R
		var key []any
		var err error
		query := t.selects + "(" + string(condition) + ")"
		// The first pages are small, for loops that end soon; the last are so
		// large that the round trip does not count.
		for size := 100; ; {
			if err == nil {
				page, err = t.read(ctx, s, page[:0], sqldb.Long, query+" ORDER BY "+t.order+" LIMIT ?", slices.Concat(args, key, []any{size}))
			}
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
			if key == nil {
				query += " AND " + t.behind
			}
			key, _, err = t.values(nil, reflect.ValueOf(&page[size-1]).Elem(), t.last)
			if size = min(10*size, 40_000); cap(page) < size {
				page = make([]R, 0, size) // the last page was full, so there is likely one more
			}
		}
	}
}

// Count returns for how many rows condition holds. The database has to count them all.
func (t *Table[K, R]) Count(ctx context.Context, s Session, condition text, args ...any) (n int64, err error) {
	err = t.ask(ctx, s.of(), &n, "SELECT COUNT(*) FROM `"+t.name+"` WHERE "+string(condition), args)
	return n, err
}

// Exists reports whether condition holds for any row.
func (t *Table[K, R]) Exists(ctx context.Context, s Session, condition text, args ...any) (exists bool, err error) {
	err = t.ask(ctx, s.of(), &exists, "SELECT EXISTS (SELECT 1 FROM `"+t.name+"` WHERE "+string(condition)+")", args)
	return exists, err
}

// ask runs a query for one value.
func (t *Table[K, R]) ask(ctx context.Context, s *sqldb.Session, dest any, query string, args []any) error {
	query, args, _, err := t.expand(query, args, sqldb.Seldom)
	if err := cmp.Or(err, t.ready(ctx, s)); err != nil {
		return err
	}
	return s.Get(ctx, dest, query, args...)
}

// Update writes the named columns of the row that has the key of row. If there is
// none, it returns [ErrNotFound].
//
// What others wrote into these columns after row was read is overwritten, unless row was read
// by [Table.Lock]. To change a column by its own value use [Table.UpdateWhere].
//
//	err := players.Update(ctx, tx, hero, "level", "updated_at")
func (t *Table[K, R]) Update(ctx context.Context, s Session, row R, name text, more ...text) error {
	if err := t.validateRow(&row); err != nil {
		return err
	}
	var set []string
	var columns []column
	for _, name := range append([]text{name}, more...) {
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == "`"+string(name)+"`" })
		if i < 0 {
			return fmt.Errorf("store: update %s: %s has no column %q", t.name, reflect.TypeFor[R](), name)
		}
		set, columns = append(set, t.columns[i].name+"=?"), append(columns, t.columns[i])
	}
	what, key, v := "update "+t.name, t.columns[:len(t.key)], reflect.ValueOf(&row).Elem()
	for _, c := range key {
		what += " " + fmt.Sprint(c.of(v))
	}
	args, _, err := t.values(nil, v, append(columns, key...))
	if err != nil {
		return err
	}
	n, err := t.update(ctx, s.of(), what, strings.Join(set, ","), t.byKey, args)
	return single(what, n, err)
}

// UpdateWhere changes the rows for which condition holds, and returns how many there
// were. set is the text of SQL between SET and WHERE. The args are first for set, then for condition.
//
//	n, err := players.UpdateWhere(ctx, tx, "gold = gold - ?", "id = ? AND gold >= ?", price, buyer, price)
func (t *Table[K, R]) UpdateWhere(ctx context.Context, s Session, set, condition text, args ...any) (int64, error) {
	return t.update(ctx, s.of(), "update "+t.name, string(set), string(condition), args)
}

func (t *Table[K, R]) update(ctx context.Context, s *sqldb.Session, what, set, condition string, args []any) (n int64, err error) {
	table, where := "`"+t.name+"`", " WHERE ("+condition+")"
	var found int64
	if s.Dialect() == sqldb.MySQL && s.DB().Adopted() {
		// Without clientFoundRows, MySQL does not count a row that already has all these values. So the rows are
		// counted first, by a read that sees what the change will see, and locks it.
		if !s.IsTx() {
			err = s.DB().InTx(ctx, func(tx *sqldb.Tx) error {
				n, err = t.update(ctx, &tx.Session, what, set, condition, args)
				return err
			})
			return n, err
		}
		own := min(strings.Count(set, "?"), len(args)) // args for set
		if err := t.ask(ctx, s, &found, "SELECT COUNT(*) FROM "+table+where+" LIMIT 1 FOR UPDATE", args[own:]); err != nil {
			return 0, err
		}
	}
	n, err = t.exec(ctx, s, what, "UPDATE "+table+" SET "+set+where, args)
	return max(n, found), err
}

// Delete removes the row with the given key. If there is none, it returns
// [ErrNotFound].
func (t *Table[K, R]) Delete(ctx context.Context, s Session, key K) error {
	args, _, err := t.values(nil, reflect.ValueOf(&key).Elem(), t.key)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("delete %s %v", t.name, key)
	n, err := t.exec(ctx, s.of(), what, "DELETE FROM `"+t.name+"` WHERE "+t.byKey, args)
	return single(what, n, err)
}

// DeleteWhere removes the rows for which condition holds, and returns how many there
// were.
func (t *Table[K, R]) DeleteWhere(ctx context.Context, s Session, condition text, args ...any) (int64, error) {
	return t.exec(ctx, s.of(), "delete from "+t.name, "DELETE FROM `"+t.name+"` WHERE ("+string(condition)+")", args)
}

// exec runs a statement, and returns how many rows it changed.
func (t *Table[K, R]) exec(ctx context.Context, s *sqldb.Session, what, query string, args []any) (int64, error) {
	query, args, kind, err := t.expand(query, args, sqldb.Short)
	if err := cmp.Or(err, t.ready(ctx, s)); err != nil {
		return 0, err
	}
	result, err := s.ExecKind(ctx, kind, what, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return n, s.Fault(what, err)
}

// single returns an error unless a change by key has changed one row.
func single(what string, n int64, err error) error {
	switch {
	case err != nil:
		return err
	case n == 0:
		return &sqldb.OpError{What: what, Err: ErrNotFound}
	case n != 1:
		return fmt.Errorf("store: %s: the database reports %d changed rows, want 1", what, n)
	}
	return nil
}

// expand gives every element of a slice among args a ? of its own. The text of such a query is not
// always the same, so it is of the kind Seldom.
func (t *Table[K, R]) expand(query string, args []any, kind sqldb.Kind) (string, []any, sqldb.Kind, error) {
	args = slices.Clone(args)
	many := false
	for i, arg := range args {
		v := reflect.ValueOf(arg)
		_, valuer := arg.(driver.Valuer)
		switch {
		case v.IsValid() && slices.Contains(timeTypes, v.Type()):
			p := reflect.New(v.Type())
			p.Elem().Set(v)
			var err error
			if args[i], _, err = value(p.Interface()); err != nil {
				return "", nil, kind, fmt.Errorf("store: %s: %w", t.name, err)
			}
		case valuer || v.Kind() != reflect.Slice:
		case v.Type().Elem().Kind() == reflect.Uint8:
			args[i] = v.Bytes() // sqlx knows []byte, but not types made of it
		default:
			many = true
		}
	}
	if !many {
		return query, args, kind, nil
	}
	query, args, err := sqlx.In(query, args...)
	if err != nil {
		err = fmt.Errorf("store: %s: %w", t.name, err)
	}
	return query, args, sqldb.Seldom, err
}

// one runs a query for one row. what tells, in an error, which row was looked for.
func (t *Table[K, R]) one(ctx context.Context, s Session, what any, query string, args []any) (row R, err error) {
	rows, err := t.read(ctx, s, make([]R, 0, 1), sqldb.Short, query, args)
	if err != nil {
		return row, err
	}
	if len(rows) == 0 {
		return row, &sqldb.OpError{What: fmt.Sprintf("%s %v", t.name, what), Err: ErrNotFound}
	}
	return rows[0], nil
}

// read runs a query and appends its rows to page.
func (t *Table[K, R]) read(ctx context.Context, s Session, page []R, kind sqldb.Kind, query string, args []any) ([]R, error) {
	query, args, kind, err := t.expand(query, args, kind)
	if err := cmp.Or(err, t.ready(ctx, s.of())); err != nil {
		return nil, err
	}
	err = s.of().Query(ctx, kind, func(rows *sql.Rows) error {
		var row, zero R
		dest, times := pointers(&row, t.columns), pointers(&row, t.times)
		for i := range dest {
			dest[i] = destination(dest[i])
		}
		for rows.Next() {
			row = zero // Scan might reuse what is in it
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			for _, p := range times {
				inUTC(p)
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

// pointers returns a pointer to each of the columns in row.
func pointers[R any](row *R, columns []column) []any {
	v := reflect.ValueOf(row).Elem()
	to := make([]any, len(columns))
	for i, c := range columns {
		to[i] = c.of(v).Addr().Interface()
	}
	return to
}
