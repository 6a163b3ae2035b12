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
//     WAL mode, with foreign keys enforced; a writer waits up to 5 seconds for another
//     writer. If the file is removed or replaced later, changes return
//     [ErrReplaced]. If it is overwritten or cut in place, as cp does, neither this package nor SQLite
//     notices: stop the process first.
//
//   - "mysql:" and a DSN of github.com/go-sql-driver/mysql:
//     user:password@tcp(host:port)/database. Character set, time zone (UTC),
//     SQL mode (strict) and every other setting that this package relies on are set by
//     it and read back; a parameter of the DSN that sets one of them to another value
//     is an error. The database must exist.
//     tcp(host1:port,host2:port) names several hosts of one database: the
//     first that takes writes is used, and after a switch new connections go to
//     the one that then takes writes. See docs/new-games.md.
//
//   - "postgres://user:password@host:port/database?param=value", as pgx takes it. Tables are
//     those of the first schema of the search_path that exists; if that is pg_temp, the error is
//     [ErrSchema]. A database that may lose confirmed changes, a standby, and a pooler without
//     the parameter pooler=session are refused.
//
// If a connection is not usable within 30 s, the error is [ErrUnavailable], even if ctx has no
// deadline; the parameter timeout of MySQL, or connect_timeout of PostgreSQL, sets another limit. If a DSN of MySQL
// names several hosts, each has 2 s.
//
// Errors are one line that says what to do, and never contain the password.
func Open(ctx context.Context, dsn string) (*DB, error) { return open(ctx, dsn, sqldb.ReadWrite) }

// OpenReadOnly is [Open] for a database that must not change: the database
// itself refuses every write. The account needs only the right to SELECT.
//
// An SQLite file, which must exist, is opened with mode=ro. A file in WAL mode that no
// process has open is read as it is: not a byte changes and no file appears beside it,
// so it may be on a read-only file system. If a writer changes it meanwhile, every read
// and [DB.Snapshot] returns [ErrChanged]. A file that a process has open, or that was not
// closed cleanly, is read together with its -wal file; of the files beside it only the
// -shm file, the lock table of its users, may change or appear.
//
// In MySQL and MariaDB all transactions of the session are READ ONLY. If the DSN names several
// hosts, only the first that answers is used: another host may
// be in another state.
func OpenReadOnly(ctx context.Context, dsn string) (*DB, error) {
	return open(ctx, dsn, sqldb.ReadOnly)
}

func open(ctx context.Context, dsn string, access sqldb.Access) (*DB, error) {
	pool, err := sqldb.DialGame(ctx, dsn, access)
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
// first, so that it can give back its lease.
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

// Pool returns the pool of the database, for calls that this package does not offer. Errors of
// the pool are the driver's. On a database that was opened read-only the caller must check
// [DB.Unchanged].
func (db *DB) Pool() *sql.DB { return db.db.Pool().DB }

// Unchanged returns [ErrChanged] if the file of a database opened by [OpenReadOnly] was
// changed, so that what was read cannot be trusted.
func (db *DB) Unchanged() error { return db.db.Unchanged() }

// String returns the DSN without its secrets.
func (db *DB) String() string { return db.db.String() }

// GoString is [DB.String] for %#v.
func (db *DB) GoString() string { return fmt.Sprintf("store.DB(%q)", db) }

// Redact returns dsn as it may be shown: without the password and other secrets. It is
// meant for messages and takes any text, even one that is not a DSN.
func Redact(dsn string) string { return sqldb.Redact(dsn) }

// Registry returns the registry of the database.
func (db *DB) Registry() *registry.Registry { return (*registry.Registry)(db.registry) }

// CreateRegistry makes the two tables of the registry, gameid_servers and mergesafe_schema, unless they exist: see
// [registry.Registry.Create]. It touches no other table.
func (db *DB) CreateRegistry(ctx context.Context) error { return db.registry.Create(ctx) }

// NodeOptions say how a node is opened: see [registry.NodeOptions].
type NodeOptions = registry.NodeOptions

// OpenNode starts the node of a server on the registry of this database: see
// [registry.Registry.OpenNode]. Close the node before the database.
func (db *DB) OpenNode(ctx context.Context, server gameid.ServerID, options NodeOptions) (*gameid.Node, error) {
	return db.Registry().OpenNode(ctx, server, options)
}

// ServerRange is a range of servers: see [registry.ServerRange].
type ServerRange = registry.ServerRange

// OpenFreeNode is [DB.OpenNode] for any server of a range that no live process
// holds: see [registry.Registry.OpenFreeNode].
func (db *DB) OpenFreeNode(ctx context.Context, servers ServerRange, options NodeOptions) (*gameid.Node, error) {
	return db.Registry().OpenFreeNode(ctx, servers, options)
}
