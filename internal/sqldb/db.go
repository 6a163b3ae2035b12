// Package sqldb is what the databases have in common: DSNs, connections, transactions, the meaning
// of errors, and the names of all tables that belong to this project. What they do not have in common
// is one folder per dialect below it, an [Engine] that links the driver.
package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
)

// DB is a pool of connections to one database. Any number of goroutines may
// use it.
//
// As a [Session] each of its calls is a transaction of its own.
type DB struct {
	Session
	pool    *sqlx.DB
	dialect Dialect
	ours    bool // the pool was made by this package
	guard   bool // see Guarded
	adopted bool // see Adopt
	manual  bool // its connections have autocommit=0
	kept    bool // see Keep
	lossy   atomic.Bool
	opened

	sessions Sessions // of a pool that is not ours

	mu       sync.Mutex
	prepared map[string]*sqlx.Stmt

	done sync.Map // see Once
}

// opened is how a pool was opened.
type opened struct {
	name     string // the DSN, redacted
	readOnly bool   // nothing may be changed
	alone    bool   // see Alone
	Opened
}

// BusyTimeout is how long SQLite waits for the lock of another writer.
const BusyTimeout = 5 * time.Second

type waitingKey struct{}

// Waiting returns a context in which connections of SQLite that are made wait at most so long, if that is less than [BusyTimeout].
func Waiting(ctx context.Context, most time.Duration) context.Context {
	return context.WithValue(ctx, waitingKey{}, most)
}

// BusyFor is how long connections wait that are made in a context.
func BusyFor(ctx context.Context) time.Duration {
	if most, is := ctx.Value(waitingKey{}).(time.Duration); is {
		return min(max(most, time.Millisecond), BusyTimeout)
	}
	return BusyTimeout
}

// Open makes a pool for the database that dsn names, in the forms that
// store.Open and store.OpenReadOnly describe. It does not connect: an error is
// about the DSN, or the path in it.
func Open(dsn string, access Access) (*DB, error) { return open(dsn, access, false, nil) }

// Access is what may be done to a database that is opened.
type Access int

const (
	ReadWrite Access = iota // a file of SQLite is made if it is not there, and comes into WAL mode
	ReadOnly
	WriteExisting // a file of SQLite must be there, and is not changed by its opening
	Alone         // WriteExisting, while no other connection has a file of SQLite open: for that, the caller waits
)

func open(dsn string, access Access, bounded bool, through Through) (*DB, error) {
	made, err := NewConnector(dsn, access)
	if err != nil {
		return nil, err
	}
	c := made.(connector)
	c.bounded = bounded
	if through != nil {
		return pool(through(dsn, c), c.dialect), nil
	}
	return ofConnector(c), nil
}

// Second returns another pool for the same database: for SQLite, for the same file, also if
// there is another one at its path now. It must be a pool that [Open] made.
func (db *DB) Second() *DB { return ofConnector(db.pool.Driver().(openedDriver).by) }

func ofConnector(c connector) *DB { return pool(c, c.dialect) }

// pool makes a pool of connections to a database.
func pool(c driver.Connector, dialect Dialect) *DB {
	db := Wrap(sql.OpenDB(c), dialect)
	words := dialect.Words()
	db.pool.SetMaxOpenConns(words.Conns)
	db.pool.SetMaxIdleConns(words.Conns)
	db.pool.SetConnMaxIdleTime(words.Idle)
	return db
}

// Through puts something between the pool and the connections of the database that a DSN names.
type Through func(dsn string, c driver.Connector) driver.Connector

type throughKey struct{}

// With returns a context in which [Dial] puts t before every connection. It is for tests in which
// connections fail, of programs that open their databases themselves.
func (t Through) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, throughKey{}, t)
}

// Dial is [Open] for a database that must answer, to a tool. A statement that waits for a lock ends with [LockWait] within
// seconds: it can be tried again, and the operator be told who has the lock.
func Dial(ctx context.Context, dsn string, access Access) (*DB, error) {
	if k, is := ctx.Value(keptKey{}).(*kept); is && access == ReadOnly {
		if dialect, _, err := SplitDSN(dsn); err == nil && !dialect.Words().File {
			return k.dial(ctx, dsn)
		}
	}
	return dial(ctx, dsn, access, true)
}

// DialGame is [Dial] to a game: its statements wait for a lock for as long as the server or the DSN says.
func DialGame(ctx context.Context, dsn string, access Access) (*DB, error) {
	return dial(ctx, dsn, access, false)
}

func dial(ctx context.Context, dsn string, access Access, bounded bool) (*DB, error) {
	through, _ := ctx.Value(throughKey{}).(Through)
	db, err := open(dsn, access, bounded, through)
	if err != nil {
		return nil, err
	}
	if err := db.Connect(ctx); err != nil {
		db.Close()
		if errors.Is(err, ErrDiskFull) && access != ReadOnly && access != Alone {
			tidy(ctx, dsn)
		}
		return nil, openError(dsn, err)
	}
	return db, nil
}

// tidy removes the empty -wal that SQLite makes before it finds that the disk has no room for -shm. While -wal is there, the
// file cannot be read until there is room. A connection that has the file alone needs no -shm, and removes -wal when it is closed.
func tidy(ctx context.Context, dsn string) {
	if db, err := dial(ctx, dsn, Alone, true); err == nil {
		ExecAll(ctx, db.pool, []string{"SELECT 1 FROM sqlite_schema"})
		db.Close()
	}
}

// openError is an error of opening the database that dsn names.
func openError(dsn string, err error) error {
	return fmt.Errorf("store: open %q: %w", Redact(dsn), err)
}

// Wrap makes a DB of a pool. Of a pool that was made by [Open], or with a
// connector of [NewConnector], it knows how that was opened.
func Wrap(pool *sql.DB, dialect Dialect) *DB {
	db := &DB{pool: sqlx.NewDb(pool, dialect.Words().Bind), dialect: dialect, prepared: make(map[string]*sqlx.Stmt)}
	db.sessions = dialect.of().NewSessions(db)
	db.opened.Kept = db.sessions.Kept
	if d, ours := pool.Driver().(openedDriver); ours {
		db.opened, db.ours = *d.by.opened, true
	}
	db.Session = Session{db: db, on: db.pool}
	return db
}

// NewConnector returns what connects to the database that dsn names. It is for
// tests that put something between the pool and the connections, and for
// [Open].
func NewConnector(dsn string, access Access) (driver.Connector, error) {
	dialect, rest, err := SplitDSN(dsn)
	if err != nil {
		return nil, openError(dsn, err)
	}
	if err := dialect.Linked(); err != nil {
		return nil, err
	}
	c := connector{dialect: dialect, opened: &opened{name: Redact(dsn), readOnly: access == ReadOnly, alone: access == Alone}}
	if c.Opened, err = dialect.of().Open(rest, access); err != nil {
		return nil, openError(dsn, err)
	}
	c.Connector = c.opened.Connector
	return c, nil
}

// connector carries how a pool was opened to whoever wraps the pool.
type connector struct {
	driver.Connector
	dialect Dialect
	bounded bool // see Words.Bounds
	*opened      // so that %#v of a pool does not show it
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	bounds := c.dialect.Words().Bounds
	if err != nil || !c.bounded || bounds == "" {
		return conn, err
	}
	if _, err := conn.(driver.ExecerContext).ExecContext(ctx, bounds, nil); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func (c connector) Driver() driver.Driver { return openedDriver{c.Connector.Driver(), c} }

type openedDriver struct {
	driver.Driver
	by connector
}

// Close closes the pool, unless that is kept; see [Keep].
func (db *DB) Close() error {
	if db.kept {
		return nil
	}
	return db.pool.Close()
}

// Pool returns the pool beneath. Its errors are the driver's.
func (db *DB) Pool() *sqlx.DB { return db.pool }

// Ping makes sure that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.pool.PingContext(ctx); err != nil {
		return db.Fault("ping", db.sessions.LockFault(err))
	}
	return db.Kept()
}

// Kept returns [ErrReplaced] if the file of an SQLite database was removed or replaced: what
// was written is not in the database that others open. If the file cannot be looked at, it returns
// [ErrUnavailable]. Ask after a commit, before it counts.
// For a database in memory, and for a server, it returns nil.
func (db *DB) Kept() error { return db.keeps(true) }

// keeps is [DB.Kept]. Without all it costs a commit less than a hundredth of its time, and
// looks only at the database file, not at -wal and -shm.
func (db *DB) keeps(all bool) error {
	if db.opened.Kept == nil {
		return nil
	}
	return db.opened.Kept(all)
}

// confirmed is what is known of a change that the database has confirmed: if its file cannot be looked at, nothing tells
// whether the change is in the one that others open.
func (db *DB) confirmed(what string, all bool) error {
	err := db.keeps(all)
	if errors.Is(err, ErrUnavailable) {
		return &OpError{what, fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)}
	}
	return err
}

// Connect is the first ping; its error says what to do. To turn a new file to
// WAL mode SQLite needs it alone, and does not wait as it does for other locks;
// so Connect waits.
func (db *DB) Connect(ctx context.Context) error {
	for start := time.Now(); ; {
		err := db.Ping(ctx)
		if !errors.Is(err, ErrRetryable) || ctx.Err() != nil || db.alone || time.Since(start) > BusyFor(ctx) {
			return Explain(err, db.Plain)
		}
		time.Sleep(rand.N(20 * time.Millisecond))
	}
}

// WantsAlone reports whether the pool was opened for [Alone].
func (db *DB) WantsAlone() bool { return db.alone }

// LockFault is an error of a driver that says which process has the lock, if it is about a file that is locked.
func (db *DB) LockFault(err error) error { return db.sessions.LockFault(err) }

// Once runs f, unless it returned nil for the same key on this DB before.
func (db *DB) Once(key any, f func() error) error {
	if _, done := db.done.Load(key); done {
		return nil
	}
	err := f()
	if err == nil {
		db.done.Store(key, true)
	}
	return err
}

// ReadOnly reports whether the pool was opened read-only.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Unchanged returns [ErrChanged] if the file of a database that was opened
// read-only was changed in a way that what was read cannot be trusted.
func (db *DB) Unchanged() error {
	if db.Check == nil {
		return nil
	}
	return db.Check()
}

// String returns the DSN without what is secret.
func (db *DB) String() string { return db.name }

// GoString is [DB.String] for %#v.
func (db *DB) GoString() string { return fmt.Sprintf("sqldb.DB(%q)", db.name) }

// Place is the DSN without what is secret, and with the full path of a file.
func (db *DB) Place() string {
	if _, path, err := SplitDSN(db.name); err == nil && db.dialect.Words().File && IsPlainPath(path) {
		if full, err := filepath.Abs(path); err == nil {
			return string(db.dialect) + ":" + full
		}
	}
	return db.name
}

// Adopt is [Wrap] for a pool that was opened elsewhere: it makes sure that the
// database answers and is of that kind, and asks for its name.
//
// Such a pool of MySQL may be one of autocommit=0. Each call on the DB must still be a
// transaction of its own. So a change runs in a transaction that is begun and
// committed. A query does so too if the first connection has autocommit=0: otherwise it
// would leave a transaction open, with its snapshot and its locks.
func Adopt(ctx context.Context, pool *sql.DB, dialect Dialect) (*DB, error) {
	db := Wrap(pool, dialect)
	if db.ours {
		return db, nil
	}
	name, manual, err := db.sessions.Adopt(ctx)
	switch {
	case errors.Is(err, ErrSchema):
		return nil, fmt.Errorf("store: %w", err)
	case err != nil:
		return nil, fmt.Errorf("store: the pool is not for a %s database, or the database does not answer: %w", dialect, Explain(Translate(err), false))
	case name == "":
		return nil, db.sessions.NoName()
	case dialect.Words().File:
		_, db.Path, _ = SplitDSN(name)
		name = Redact(name)
	}
	db.name, db.manual, db.adopted = name, manual, true
	return db, nil
}

// CheckEnds returns an error unless a transaction on the pool ends with its commit: what the game writes
// next, as a statement of its own, would be part of another one, and be lost.
func (db *DB) CheckEnds(ctx context.Context) error {
	if db.ours {
		return nil
	}
	return db.sessions.CheckEnds(ctx)
}

// Adopted reports whether the pool was opened elsewhere, with settings of its
// own.
func (db *DB) Adopted() bool { return db.adopted }

// Named gives a pool that was opened elsewhere the name that another DB of the
// same pool found.
func (db *DB) Named(name string) *DB {
	if !db.ours {
		db.name = name
		if db.dialect.Words().File {
			_, db.Path, _ = SplitDSN(name)
		}
	}
	return db
}
