package transfer

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
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

	conn     *sql.Conn
	prepared map[string]*sql.Stmt
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
		for _, s := range l.prepared {
			s.Close()
		}
		// Not back into the pool: it may be in the middle of a transaction.
		l.conn.Raw(func(any) error { return errDropped })
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
		return err
	}
	l.conn, l.prepared, l.packet = conn, make(map[string]*sql.Stmt), 1<<20
	if err := l.prepareSession(ctx); err != nil {
		l.drop()
		return err
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

// statement prepares a query, once if it is kept.
func (l *link) statement(ctx context.Context, query string, keep bool) (s *sql.Stmt, done func(), err error) {
	if s := l.prepared[query]; s != nil {
		return s, func() {}, nil
	}
	if s, err = l.conn.PrepareContext(ctx, query); err != nil {
		return nil, nil, err
	}
	if keep {
		l.prepared[query] = s
		return s, func() {}, nil
	}
	return s, func() { s.Close() }, nil
}

// exec runs a statement that changes something. keep is for one that comes
// often.
func (l *link) exec(ctx context.Context, what, query string, keep bool, args ...any) (int64, error) {
	if err := l.connect(ctx); err != nil {
		return 0, err
	}
	if err := l.tripped("before " + what); err != nil {
		return 0, err
	}
	var result sql.Result
	var err error
	if len(args) == 0 {
		result, err = l.conn.ExecContext(ctx, query)
	} else {
		var s *sql.Stmt
		var done func()
		if s, done, err = l.statement(ctx, query, keep); err == nil {
			result, err = s.ExecContext(ctx, args...)
			done()
		}
	}
	if err != nil {
		return 0, err
	}
	if err := l.tripped("after " + what); err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// rows reads all rows of a query into take, which must not keep the slice.
func (l *link) rows(ctx context.Context, query string, keep bool, args []any, take func(row []any) (more bool, err error)) error {
	if err := l.connect(ctx); err != nil {
		return err
	}
	if err := l.tripped("read"); err != nil {
		return err
	}
	s, done, err := l.statement(ctx, query, keep)
	if err != nil {
		return err
	}
	defer done()
	rows, err := s.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, dest := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if more, err := take(row); err != nil || !more {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return l.db.Unchanged()
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
