package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

// busyTimeout is how long SQLite waits for the lock of another writer.
const busyTimeout = 5 * time.Second

// DB is one game database: a pool of connections. Any number of goroutines
// may use it.
//
// It implements [Session]: each call is a transaction of its own.
type DB struct {
	session
	pool     *sqlx.DB
	registry *sqlx.DB // a pool of its own: minting must not wait for the game's transactions
	dialect  Dialect
	readOnly bool
	name     string       // the DSN, redacted
	check    func() error // says that what was read cannot be trusted; may be nil

	mu       sync.Mutex
	prepared map[string]*sqlx.Stmt
}

// Open opens the database that dsn names and makes sure that it answers. The
// caller closes it.
//
//   - "sqlite:" and a path: the file is made if there is none. It is kept in
//     WAL mode, with foreign keys enforced; a writer waits for another one for
//     up to 5 seconds.
//   - "mysql:" and a DSN of github.com/go-sql-driver/mysql:
//     user:password@tcp(host:port)/database. Character set, time zone (UTC),
//     SQL mode (strict) and all else that this package relies on is set by it,
//     whatever the DSN says. The database must exist.
//
// Errors are one line that tells what to do, and never contain the password.
func Open(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, false) }

// OpenReadOnly is [Open] for a database that must not change: the database
// itself refuses every write. The account needs no right but SELECT.
//
// An SQLite file, which must exist, is opened with mode=ro. One in WAL mode
// that nobody has open is read as it lies there: not a byte changes and no
// file appears beside it, so it may be on a read-only file system. If a writer
// comes and changes it meanwhile, every read and [DB.Snapshot] returns
// [ErrChanged]. One that somebody has open, or that was not closed cleanly, is
// read together with its -wal file; of the files beside it only the -shm file,
// the lock table of its users, may change or appear.
//
// In MySQL and MariaDB all transactions of the session are READ ONLY.
func OpenReadOnly(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, true) }

func open(ctx context.Context, dsn string, readOnly bool) (*DB, error) {
	db, err := prepare(dsn, readOnly)
	if err != nil {
		return nil, err
	}
	if err := db.connect(ctx); err != nil {
		db.Close()
		return nil, openError(dsn, explain(err))
	}
	return db, nil
}

func openError(dsn string, err error) error {
	return fmt.Errorf("store: open %q: %w", Redact(dsn), err)
}

// prepare does all of open that needs no connection.
func prepare(dsn string, readOnly bool) (*DB, error) {
	dialect, rest, err := splitDSN(dsn)
	if err != nil {
		return nil, openError(dsn, err)
	}
	var connector driver.Connector
	var check func() error
	if dialect == SQLite {
		connector, check, err = openSQLite(rest, readOnly)
	} else {
		connector, err = openMySQL(rest, readOnly)
	}
	if err != nil {
		return nil, openError(dsn, err)
	}
	db := newDB(sql.OpenDB(connector), sql.OpenDB(connector), dialect)
	db.readOnly, db.check, db.name = readOnly, check, Redact(dsn)
	return db, nil
}

// newDB wraps two pools of the same database.
func newDB(pool, registry *sql.DB, dialect Dialect) *DB {
	// sqlx knows SQLite by the name of another driver.
	name := map[Dialect]string{MySQL: "mysql", SQLite: "sqlite3"}[dialect]
	db := &DB{
		pool:     sqlx.NewDb(pool, name),
		registry: sqlx.NewDb(registry, name),
		dialect:  dialect,
		prepared: make(map[string]*sqlx.Stmt),
	}
	db.session = session{db: db, on: db.pool}
	conns := map[Dialect]int{MySQL: 32, SQLite: 8}[dialect]
	db.pool.SetMaxOpenConns(conns)
	db.pool.SetMaxIdleConns(conns)
	db.registry.SetMaxOpenConns(2)
	if dialect == MySQL {
		// Shorter than any server's or proxy's idle timeout.
		db.pool.SetConnMaxIdleTime(3 * time.Minute)
		db.registry.SetConnMaxIdleTime(3 * time.Minute)
	}
	return db
}

// Close closes the database. Close the node before, so that it can give back
// its lease.
func (db *DB) Close() error {
	return errors.Join(db.registry.Close(), db.pool.Close())
}

// Ping makes sure that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	return db.fault("ping", db.pool.PingContext(ctx))
}

// connect is the first ping. To turn a new file to WAL mode SQLite needs it
// alone, and does not wait as it does for other locks; so we do.
func (db *DB) connect(ctx context.Context) error {
	for start := time.Now(); ; {
		err := Retry(ctx, func() error { return db.Ping(ctx) })
		if !errors.Is(err, ErrRetryable) || ctx.Err() != nil || time.Since(start) > busyTimeout {
			return err
		}
	}
}

// ReadOnly reports whether the database was opened by [OpenReadOnly].
func (db *DB) ReadOnly() bool { return db.readOnly }

// Pool returns the pool beneath, for what this package does not offer. Errors
// of the pool are the driver's, and on a database opened read-only the caller
// must see to [DB.Unchanged].
func (db *DB) Pool() *sqlx.DB { return db.pool }

// Unchanged returns [ErrChanged] if the file of a database opened by
// [OpenReadOnly] was changed in a way that what was read cannot be trusted.
func (db *DB) Unchanged() error {
	if db.check == nil {
		return nil
	}
	return db.check()
}

// String returns the DSN without what is secret.
func (db *DB) String() string { return db.name }

// GoString is [DB.String] for %#v.
func (db *DB) GoString() string { return fmt.Sprintf("store.DB(%q)", db.name) }

func openMySQL(dsn string, readOnly bool) (driver.Connector, error) {
	cfg, err := mysqlConfig(dsn)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return mysqlConnector{connector, readOnly}, nil
}

func openSQLite(path string, readOnly bool) (driver.Connector, func() error, error) {
	info, err := os.Stat(path)
	switch {
	case path == "":
		return nil, nil, errors.New("no path after sqlite:")
	case path == ":memory:":
		return nil, nil, errors.New("a database in memory would be another one for every connection: use a file, in a temporary directory if need be")
	case err == nil && info.IsDir():
		return nil, nil, errors.New("it is a directory: want the path of a file")
	case errors.Is(err, fs.ErrNotExist):
		if dir, err := os.Stat(cmp.Or(filepath.Dir(path), ".")); err != nil || !dir.IsDir() {
			return nil, nil, fmt.Errorf("no directory %q: create it first, or correct the path", filepath.Dir(path))
		}
		if readOnly {
			return nil, nil, errors.New("no such file: check the path; a database opened read-only must exist")
		}
	case err != nil:
		return nil, nil, err
	}
	options := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_dqs":          {"0"}, // "text" in double quotes is a column, and nothing else
		// Times are integers in columns declared DATETIME. Microseconds,
		// because the driver takes small numbers of milliseconds for seconds.
		"_inttotime":           {"1"},
		"_time_integer_format": {"unix_micro"},
	}
	if readOnly {
		return openSQLiteReadOnly(path, options)
	}
	options.Set("mode", "rwc")
	options.Set("_journal_mode", "WAL")
	options.Set("_foreign_keys", "1")
	// A transaction is on the disk before its commit returns. The registry
	// relies on it.
	options.Set("_synchronous", "FULL")
	// A transaction that has read and then wants to write could not wait for
	// another writer: it takes the lock when it begins.
	options.Set("_txlock", "immediate")
	connector, err := sqlite.NewConnector(sqliteURI(path, options))
	return connector, nil, err
}

func openSQLiteReadOnly(path string, options url.Values) (driver.Connector, func() error, error) {
	options.Set("mode", "ro")
	options.Set("_query_only", "1")
	// The files beside it lie where the file is, not where a link to it is.
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, nil, err
	}
	before, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	wal, err := isWAL(path)
	if err != nil {
		return nil, nil, err
	}
	var check func() error
	if _, err := os.Stat(path + "-wal"); wal && errors.Is(err, fs.ErrNotExist) {
		// Nobody has it open: everybody who uses a database in WAL mode has a
		// -wal file. SQLite would make one even now; only "immutable" stops
		// that. It also turns locking off, so a writer that comes later is
		// noticed by what it leaves: it cannot change what we read without
		// changing the file itself.
		options.Set("immutable", "1")
		check = func() error {
			now, err := os.Stat(path)
			if err != nil || now.Size() != before.Size() || now.ModTime() != before.ModTime() || !os.SameFile(now, before) {
				return fmt.Errorf("store: %q: %w", path, ErrChanged)
			}
			return nil
		}
	}
	connector, err := sqlite.NewConnector(sqliteURI(path, options))
	return connector, check, err
}

// isWAL reads from the header whether a database is in WAL mode.
func isWAL(path string) (bool, error) {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var header [20]byte
	n, err := io.ReadFull(f, header[:])
	if err == io.EOF {
		return false, nil // an empty file is an empty database
	}
	if n < len(header) || !strings.HasPrefix(string(header[:]), magic) {
		return false, errors.New("the file is not an SQLite database")
	}
	const readVersion, walVersion = 19, 2
	return header[readVersion] == walVersion, nil
}
