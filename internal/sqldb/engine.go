package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// Engine is one dialect: what databases do not have in common. Each is a package below this one, which
// links the driver and [Register]s itself when it is imported.
type Engine interface {
	// Words returns the texts of the dialect.
	Words() *Words

	// Open reads what stands in a DSN behind the name of the dialect. It does not connect.
	Open(rest string, access Access) (Opened, error)

	// Shown returns that as it may be shown; ok is false if a part of it may be secret.
	Shown(rest string) (shown string, ok bool)

	// Meaning returns an error of the driver with what it means; known is false if it is of no
	// driver of this dialect, and the connection is not lost.
	Meaning(err error) (meant error, known bool)

	// Refused reports whether err says for sure that what was asked for was not done.
	Refused(err error) (refused, known bool)

	// Says reports whether a database of this dialect has answered that.
	Says(err error, c Condition) bool

	// Explain turns an error of the first connection into what to do about it, or returns nil. plain
	// tells that the connection would not have been encrypted.
	Explain(err error, plain bool) error

	// NewSessions returns what keeps an eye on the sessions of a pool.
	NewSessions(db *DB) Sessions

	// Durability returns the settings with which a database may lose what it confirmed.
	Durability(ctx context.Context, s *Session) ([]Lossy, error)

	// RowLock is [DB.RowLock].
	RowLock(ctx context.Context, db *DB, query string, args ...any) (string, error)
}

// Sessions is what an [Engine] knows of the connections of one pool.
type Sessions interface {
	// Adopt asks a pool that was opened elsewhere for the name of its database, as a DSN without
	// secrets; empty if there is none. manual tells that its sessions have autocommit=0.
	Adopt(ctx context.Context) (name string, manual bool, err error)

	// NoName is the error of a pool whose database has no name.
	NoName() error

	// CheckEnds is [DB.CheckEnds].
	CheckEnds(ctx context.Context) error

	// Place asks which database a connection has. It is for [Same].
	Place(ctx context.Context, conn *sqlx.Conn) (Place, error)

	// Otherwise returns what gives a connection of another pool the settings that the code relies
	// on, and what puts back those that it had; both empty if it has the right ones. The database
	// that it is in is one of them: that of the first connection is right. After an error the
	// connection may have others than before.
	Otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error)

	// Kept is [DB.Kept] of a pool that was opened elsewhere.
	Kept(all bool) error

	// LockFault says of the error of a change whether it waited in vain for the one lock that SQLite has for
	// writers, and if possible who has that.
	LockFault(err error) error

	// Forbid has a connection refuse writes, until allow is called; it is nil if the database
	// itself does so in a transaction that was begun read-only.
	Forbid(ctx context.Context, conn *sqlx.Conn, begun *sqlx.Tx) (allow func(), err error)

	// Repeats reports whether the driver may carry out a statement twice, if an answer was lost.
	Repeats() bool

	// Judged looks at the error of a commit on conn, which is nil for a pool of ours, and returns what is known of it.
	Judged(ctx context.Context, conn *sqlx.Conn, err error) error
}

// Plain is [Sessions] of a server that has nothing to tell.
type Plain struct{}

func (Plain) Kept(bool) error                                              { return nil }
func (Plain) LockFault(err error) error                                    { return err }
func (Plain) Repeats() bool                                                { return false }
func (Plain) CheckEnds(context.Context) error                              { return nil }
func (Plain) Judged(_ context.Context, _ *sqlx.Conn, err error) error      { return err }
func (Plain) Forbid(context.Context, *sqlx.Conn, *sqlx.Tx) (func(), error) { return func() {}, nil }

// Words are the texts and the limits of a dialect.
type Words struct {
	Name     string // for people: "MySQL"
	Bind     string // how sqlx writes arguments: the name of a driver that it knows
	Quote    byte   // around identifiers
	Dollars  bool   // arguments are $1, $2 and identifiers have double quotes: see [Dialect.Native]
	MaxArgs  int    // how many values may go into one statement
	Now      string // milliseconds of Unix time, the same throughout one statement
	Begin    string // a transaction that will write
	Tables   string // the query for the names of all tables
	Hex      string // the hexadecimal digits of the bytes %s, in capital letters
	Largest  string // the largest of the bytes %s
	Share    string // ends a query that locks its rows for reading
	Snapshot sql.IsolationLevel
	Change   *sql.TxOptions // of [DB.Change]; nil is what the session has

	File       bool          // the database is a file that this process opens
	Conns      int           // of a pool of ours
	Idle       time.Duration // after which a connection of it is closed; 0 is never
	ShortPlain bool          // to prepare a short query within a transaction takes longer than it saves
	Returning  bool          // UPDATE knows RETURNING
	Atomic     int           // an INSERT of up to so many rows adds all or none, whatever its triggers do
	Explicit   bool          // a change on a pool that is not ours needs a transaction, which autocommit may not give

	// The unique keys of a table, the primary one first, with the columns name, col, i and k; the
	// name of the primary one is "" or PRIMARY. And the kind of the table, "view" among others.
	Unique, TableType string

	// Tables of ours.
	MarkEngine string // completes CREATE TABLE
	Ignore     string // between INSERT and INTO: rows that are there stay
	OnConflict string // the same, at the end
	Together   bool   // tables are made in a transaction
	Sound      string // the columns engine and keyed (of how many columns the primary key is) of the table ?1
	SoundTwice bool   // the query has the table twice
	Engine     string // that tables must have, or empty
	MendEngine string // gives it to a table, in ALTER TABLE
	Elsewhere  string // the query for the schema of the table ?, if that is not the one of ours; may be empty
	Backend    string // the query for a connection's number and its server; empty if there is no server
	Server     string // the query for the server alone
	Kill       string // ends the statement of a connection by its number

	// Bounds is the statement by which no statement of a session waits longer than ten seconds for a lock; empty if there
	// is none.
	Bounds string

	// A lock of the whole server, by its name ?: the queries that take it, say whether a session has it, and give it
	// back. Empty if there is none.
	Lock, Locked, Unlock string
}

var engines struct {
	sync.RWMutex
	of map[Dialect]Engine
}

// Register makes a dialect known. The packages below this one call it when they are imported.
func Register(d Dialect, e Engine) {
	engines.Lock()
	defer engines.Unlock()
	if engines.of == nil {
		engines.of = make(map[Dialect]Engine)
	}
	engines.of[d] = e
}

// Linked returns an error that says what to import unless the program has the driver of a dialect.
func (d Dialect) Linked() error {
	if slices.Contains(dialects, d) {
		if _, linked := d.engine(); !linked {
			return fmt.Errorf("store: this program has no driver for %s: add import _ %q", d, "mergesafe/store/"+string(d))
		}
		return nil
	}
	return fmt.Errorf("store: unknown dialect %q: want %s", d, wantDialect)
}

func (d Dialect) engine() (Engine, bool) {
	engines.RLock()
	defer engines.RUnlock()
	e, linked := engines.of[d]
	return e, linked
}

// of returns the dialect. Whoever has a database of it, or asks for its texts, has linked it.
func (d Dialect) of() Engine {
	e, linked := d.engine()
	if !linked {
		panic(d.Linked())
	}
	return e
}

// Words returns the texts of the dialect.
func (d Dialect) Words() *Words { return d.of().Words() }

// each calls f for the dialects that are linked, until it returns true.
func each(f func(Engine) bool) bool {
	for _, d := range dialects {
		if e, linked := d.engine(); linked && f(e) {
			return true
		}
	}
	return false
}

// Opened is how a pool was opened.
type Opened struct {
	Connector driver.Connector

	Path  string       // of the file; not for messages
	Plain bool         // without TLS
	Check func() error // says that what was read cannot be trusted; may be nil

	// Kept says that what was written is not in the file at Path; nil for a server.
	Kept func(all bool) error
}

// Conn is what database/sql uses of a connection of a driver.
type Conn interface {
	driver.Conn
	driver.Pinger
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// Stmt is what it uses of a prepared statement.
type Stmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// UnansweredError is the end of a context while the server was committing.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string { return e.Err.Error() }
func (e *UnansweredError) Unwrap() error { return e.Err }

// ExecAll runs statements until one fails.
func ExecAll(ctx context.Context, on sqlx.ExecerContext, statements []string) error {
	for _, statement := range statements {
		if _, err := on.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Discard closes a connection: whatever happens, the game does not get one with
// other settings than it had.
func Discard(conn *sqlx.Conn) { conn.Raw(func(any) error { return driver.ErrBadConn }) }

// Pairs runs a query of names and values. The names come in small letters.
func Pairs(ctx context.Context, conn *sqlx.Conn, query string) (map[string]string, error) {
	rows, err := conn.QueryxContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	has := make(map[string]string)
	for rows.Next() {
		var name string
		var value []byte
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		has[strings.ToLower(name)] = string(value)
	}
	return has, rows.Err()
}
