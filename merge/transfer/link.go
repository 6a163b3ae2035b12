package transfer

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/go-sql-driver/mysql"

	"mergesafe/store"
)

// Database is one of the databases of a merge. It prints as its name: the DSN
// is never shown.
type Database struct {
	Name string // as it is called in plans, messages and records; at most 200 characters
	DSN  string // in a form that [store.Open] takes; may hold a password
}

func (d Database) String() string               { return d.Name }
func (d Database) GoString() string             { return fmt.Sprintf("transfer.Database(%q)", d.Name) }
func (d Database) MarshalJSON() ([]byte, error) { return json.Marshal(d.Name) }
func (d Database) LogValue() slog.Value         { return slog.StringValue(d.Name) }

// trip is where tests let something go wrong: it is called before and after
// whatever is asked of a database, with what that is. It is nil otherwise.
type trip func(point string) error

// link is one connection to a database. It is made at the first use, and when it
// was lost at the next. It belongs to one goroutine.
type link struct {
	Database
	writes bool
	trip   trip

	// unchecked leaves foreign keys for later; see [run.checkReferences].
	unchecked bool

	db     *store.DB // nil until it is used
	shared bool      // db belongs to another link
	share  int       // one of how many that hold pages of rows; 0 for one

	conn     *sql.Conn
	prepared map[string]driver.Stmt
	packet   int // how many bytes of values may go into one statement
}

func (l *link) dialect() dialect {
	kind, _, _ := strings.Cut(l.DSN, ":")
	return dialect(kind)
}

// close gives everything up.
func (l *link) close() {
	l.drop()
	if l.db != nil && !l.shared {
		l.db.Close()
		l.db = nil
	}
}

// drop gives the connection up. What was not committed is gone. A database
// that is read is opened anew: it may have changed, for a good reason.
func (l *link) drop() {
	if l.conn != nil {
		l.conn.Raw(func(any) error {
			for _, s := range l.prepared {
				s.Close() // or SQLite would not let go of the file
			}
			// Not back into the pool: it may be in the middle of a transaction.
			return errDropped
		})
		l.conn.Close()
		l.conn, l.prepared = nil, nil
	}
	if !l.writes && !l.shared && l.db != nil {
		l.db.Close()
		l.db = nil
	}
}

// open makes sure that the database is open.
func (l *link) open(ctx context.Context) error {
	if l.db != nil {
		return nil
	}
	open := store.OpenReadOnly
	if l.writes {
		open = store.Open
	}
	db, err := open(ctx, l.DSN)
	if err != nil {
		return fmt.Errorf("database %q: %w", l.Name, err)
	}
	l.db = db
	return nil
}

var errDropped = fmt.Errorf("given up: %w", driver.ErrBadConn)

// connect makes sure that there is a connection.
func (l *link) connect(ctx context.Context) error {
	if l.conn != nil {
		return nil
	}
	if err := l.tripped("connect"); err != nil {
		return err
	}
	if err := l.open(ctx); err != nil {
		return err
	}
	conn, err := l.db.Pool().Conn(ctx)
	if err != nil {
		return store.Translate(err)
	}
	l.conn, l.prepared, l.packet = conn, make(map[string]driver.Stmt), 1<<20
	if err := l.prepareSession(ctx); err != nil {
		l.drop()
		return store.Translate(err)
	}
	return nil
}

func (l *link) prepareSession(ctx context.Context) error {
	d := l.dialect()
	for _, s := range d.session(l.writes, l.unchecked) {
		if _, err := l.conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	if !d.mysql() {
		return nil
	}
	for _, s := range unlimited {
		const unknownVariable = 1193
		e := new(mysql.MySQLError)
		if _, err := l.conn.ExecContext(ctx, s); err != nil && !(errors.As(err, &e) && e.Number == unknownVariable) {
			return err
		}
	}
	var most int
	if err := l.conn.QueryRowContext(ctx, "SELECT @@max_allowed_packet").Scan(&most); err != nil {
		return err
	}
	l.packet = min(most/2, 1<<20)
	return nil
}

func (l *link) tripped(point string) error {
	if l.trip == nil {
		return nil
	}
	return l.trip(point)
}

// Statements go to the driver itself: through database/sql, a row costs twice
// as much on its way.

// statement prepares a query, once if it is kept.
func (l *link) statement(ctx context.Context, c driver.Conn, query string, keep bool) (s driver.Stmt, done func(), err error) {
	if s := l.prepared[query]; s != nil {
		return s, func() {}, nil
	}
	if s, err = c.(driver.ConnPrepareContext).PrepareContext(ctx, query); err != nil {
		return nil, nil, err
	}
	if keep {
		l.prepared[query] = s
		return s, func() {}, nil
	}
	return s, func() { s.Close() }, nil
}

// arguments makes arguments of values of the types that drivers take.
func arguments(args []any) []driver.NamedValue {
	out := make([]driver.NamedValue, len(args))
	for i, v := range args {
		switch n := v.(type) {
		case int:
			v = int64(n)
		case float32:
			v = float64(n)
		}
		out[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return out
}

// exec runs a statement that changes something, and returns how many rows.
// keep is for one that comes often.
func (l *link) exec(ctx context.Context, what, query string, keep bool, args ...any) (changed int64, err error) {
	if err := l.connect(ctx); err != nil {
		return 0, err
	}
	if err := l.tripped("before " + what); err != nil {
		return 0, err
	}
	err = l.conn.Raw(func(c any) error {
		var result driver.Result
		if len(args) == 0 {
			result, err = c.(driver.ExecerContext).ExecContext(ctx, query, nil)
		} else {
			s, done, err2 := l.statement(ctx, c.(driver.Conn), query, keep)
			if err2 != nil {
				return err2
			}
			defer done()
			result, err = s.(driver.StmtExecContext).ExecContext(ctx, arguments(args))
		}
		if err == nil {
			changed, err = result.RowsAffected()
		}
		return err
	})
	if err != nil {
		return 0, store.Translate(err)
	}
	return changed, l.tripped("after " + what)
}

// rows reads all rows of a query into take. The values are its own, the slice
// is not. It must not use the link.
func (l *link) rows(ctx context.Context, query string, keep bool, args []any, take func(row []any) (more bool, err error)) error {
	if err := l.connect(ctx); err != nil {
		return err
	}
	if err := l.tripped("read"); err != nil {
		return err
	}
	err := l.conn.Raw(func(c any) error {
		s, done, err := l.statement(ctx, c.(driver.Conn), query, keep)
		if err != nil {
			return err
		}
		defer done()
		rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, arguments(args))
		if err != nil {
			return err
		}
		defer rows.Close()
		dest := make([]driver.Value, len(rows.Columns()))
		row := make([]any, len(dest))
		var chunk []byte
		for {
			switch err := rows.Next(dest); {
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			}
			for i, v := range dest {
				if b, ok := v.([]byte); ok {
					v, chunk = keepBytes(chunk, b)
				}
				row[i] = v
			}
			if more, err := take(row); err != nil || !more {
				return err
			}
		}
	})
	if err != nil {
		return store.Translate(err)
	}
	return l.db.Unchanged()
}

// keepBytes copies a value that belongs to the driver to the end of a chunk, or of a
// new one if it has no room.
func keepBytes(chunk, b []byte) (kept, rest []byte) {
	const size = 64 << 10
	if len(b) == 0 {
		return []byte{}, chunk // nil would be written as NULL
	}
	if len(b) > size/8 {
		return append([]byte{}, b...), chunk
	}
	if len(b) > cap(chunk)-len(chunk) {
		chunk = make([]byte, 0, size)
	}
	start := len(chunk)
	chunk = append(chunk, b...)
	return chunk[start:len(chunk):len(chunk)], chunk
}

// tx runs f in a transaction. An error means that it may have been committed
// or not: the connection is given up, and the note of how far the work came
// tells.
func (l *link) tx(ctx context.Context, f func() error) error {
	_, err := l.exec(ctx, "begin", l.dialect().begin(), false)
	if err == nil {
		if err = f(); err == nil {
			_, err = l.exec(ctx, "commit", "COMMIT", false)
		}
	}
	if err != nil {
		l.drop()
	}
	return err
}
