package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"mergesafe/gameid"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/store/registry"
)

// Dialect is a kind of database.
type Dialect = registry.Dialect

// The dialects. MySQL stands for MariaDB and all others that speak its protocol.
const (
	MySQL  = registry.MySQL
	SQLite = registry.SQLite

	PostgreSQL = registry.PostgreSQL
)

// DB is one game database: a pool of connections. Any number of goroutines
// may use it.
//
// It implements [Session]: each call is a transaction of its own.
type DB struct {
	session
	db *sqldb.DB

	// On a pool of its own: minting must not wait for the game's transactions.
	registry *worldregistry.Registry

	theirs bool // the pools are the game's
}

// Open opens the database that dsn names and makes sure that it answers. The
// caller closes it.
//
//   - "sqlite:" and a path, without parameters: the file is made if there is none. It is kept in
//     WAL mode, with foreign keys enforced; a writer waits for another one for
//     up to 5 seconds. If the file is removed or replaced later, changes return
//     [ErrReplaced]. One that is overwritten or cut in its place, as cp does, is not noticed, by SQLite
//     neither: stop the process first.
//
//   - "mysql:" and a DSN of github.com/go-sql-driver/mysql:
//     user:password@tcp(host:port)/database. Character set, time zone (UTC),
//     SQL mode (strict) and every other setting that this package relies on is set by
//     it and read back; a parameter of the DSN that sets one of them to another value
//     is an error. The database must exist.
//     tcp(host1:port,host2:port) names several servers of one database: the
//     first that takes writes is used, and after a switch new connections go to
//     the one that takes writes then. See docs/new-games.md.
//
//   - "postgres://user:password@host:port/database?param=value", as pgx takes it. Tables are
//     those of the first schema of the search_path that exists; if that is pg_temp, the error is
//     [ErrSchema]. A server that may lose what it confirms, a standby, and a pooler whose mode is
//     not said (pooler=session) are refused.
//
// A connection that the server does not make usable within 30 s is an error, [ErrUnavailable], also if ctx has no
// deadline; the parameter timeout of MySQL, or connect_timeout of PostgreSQL, sets another limit. Of several hosts
// each has 2 s in MySQL.
//
// Errors are one line that tells what to do, and never contain the password.
func Open(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, sqldb.ReadWrite) }

// OpenReadOnly is [Open] for a database that must not change: the database
// itself refuses every write. The account needs no right but SELECT.
//
// An SQLite file, which must exist, is opened with mode=ro. One in WAL mode that no
// process has open is read as it is: not a byte changes and no file appears beside it,
// so it may be on a read-only file system. If a writer changes it meanwhile, every read
// and [DB.Snapshot] returns [ErrChanged]. One that a process has open, or that was not
// closed cleanly, is read together with its -wal file; of the files beside it only the
// -shm file, the lock table of its users, may change or appear.
//
// In MySQL and MariaDB all transactions of the session are READ ONLY. Of several
// hosts in the DSN the first that answers is used, to the end: the next one may
// be in another state.
func OpenReadOnly(ctx context.Context, dsn string) (*DB, error) {
	return open(ctx, dsn, sqldb.ReadOnly)
}

func open(ctx context.Context, dsn string, access sqldb.Access) (*DB, error) {
	pool, err := sqldb.Dial(ctx, dsn, access)
	if err != nil {
		return nil, err
	}
	reg := pool.Second()
	reg.Pool().SetMaxOpenConns(2)
	return newDB(pool, reg), nil
}

func newDB(pool, reg *sqldb.DB) *DB {
	return &DB{session: session{&pool.Session}, db: pool, registry: worldregistry.New(reg)}
}

// Close closes the database, unless the game opened it ([Wrap]). Close the node
// before, so that it can give back its lease.
func (db *DB) Close() error {
	if db.theirs {
		return nil
	}
	return errors.Join(db.registry.Pool().Close(), db.db.Close())
}

// Ping makes sure that the database answers.
func (db *DB) Ping(ctx context.Context) error { return db.db.Ping(ctx) }

// ReadOnly reports whether the database was opened by [OpenReadOnly].
func (db *DB) ReadOnly() bool { return db.db.ReadOnly() }

// Pool returns the pool below, for calls that this package does not offer. Errors of
// the pool are the driver's. On a database opened read-only the caller must check
// [DB.Unchanged].
func (db *DB) Pool() *sql.DB { return db.db.Pool().DB }

// Unchanged returns [ErrChanged] if the file of a database opened by [OpenReadOnly] was
// changed so that the values read cannot be trusted.
func (db *DB) Unchanged() error { return db.db.Unchanged() }

// String returns the DSN without its secrets.
func (db *DB) String() string { return db.db.String() }

// GoString is [DB.String] for %#v.
func (db *DB) GoString() string { return fmt.Sprintf("store.DB(%q)", db) }

// Redact returns dsn as it may be shown: without the password and other secrets. It is
// meant for messages and takes any text, also one that is not a DSN.
func Redact(dsn string) string { return sqldb.Redact(dsn) }

// Registry returns the registry of the database.
func (db *DB) Registry() *registry.Registry { return (*registry.Registry)(db.registry) }

// CreateRegistry makes the table of the registry, unless it exists: see
// [registry.Registry.Create]. It touches no other table.
func (db *DB) CreateRegistry(ctx context.Context) error { return db.registry.Create(ctx) }

// NodeOptions say how a node is opened: see [registry.NodeOptions].
type NodeOptions = registry.NodeOptions

// OpenNode starts the node of a server on the registry of this database: see
// [registry.Registry.OpenNode]. Close the node before the database.
func (db *DB) OpenNode(ctx context.Context, server gameid.ServerID, options NodeOptions) (*gameid.Node, error) {
	return db.Registry().OpenNode(ctx, server, options)
}

// NumberRange is a range of server numbers: see [registry.NumberRange].
type NumberRange = registry.NumberRange

// OpenFreeNode is [DB.OpenNode] for any number of a range that no live process
// holds: see [registry.Registry.OpenFreeNode].
func (db *DB) OpenFreeNode(ctx context.Context, numbers NumberRange, options NodeOptions) (*gameid.Node, error) {
	return db.Registry().OpenFreeNode(ctx, numbers, options)
}
