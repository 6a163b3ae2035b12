package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
)

// Wrap makes a DB of a pool that the game, or its ORM, opened: database/sql,
// sqlx (db.DB), GORM (db.DB()), ent, bun. Close does not close the pool. The
// database may have any tables; [DB.CreateRegistry] adds gameid_servers and
// mergesafe_schema to them.
//
// The settings of such a pool are the game's. The registry takes
// connections from the pool, sets what uniqueness relies on, and restores their own settings before the game has them
// again; a connection whose settings cannot be restored is closed. Rows of a [Table] are read and written with the
// settings of the pool. The driver decides how SQLite stores a time. For columns of times the pool needs
// parseTime=true in MySQL, and no loc in which clocks are set back in autumn; in SQLite the columns need a type that the
// driver reads as a time, such as DATETIME. Otherwise the methods of a Table with times return an error.
//
// In a pool with autocommit=0, each read outside a transaction runs in its own transaction, which costs two round trips.
// What the end of a context does to a transaction depends on the driver.
//
// A pool of MySQL whose sessions have a completion_type other than NO_CHAIN is refused. A pool of PostgreSQL
// whose search_path begins with temporary tables is refused too ([ErrSchema]).
//
// On a pool that may open only one connection no node opens: when a transaction has that
// connection, minting in it would wait for itself. Pass a second pool to [WrapTwo]. Do
// that also if the game's transactions may take all connections of the pool for longer
// than gameid.Options.Window.
func Wrap(ctx context.Context, pool *sql.DB, dialect Dialect) (*DB, error) {
	return WrapTwo(ctx, pool, pool, dialect)
}

// WrapTwo is [Wrap] with a second pool, on the same database, for the registry.
// It must be allowed two connections.
func WrapTwo(ctx context.Context, pool, second *sql.DB, dialect Dialect) (*DB, error) {
	if pool == nil || second == nil {
		return nil, errors.New("store: the pool is nil")
	}
	if err := sqldb.Dialect(dialect).Linked(); err != nil {
		return nil, err
	}
	game, err := sqldb.Adopt(ctx, pool, sqldb.Dialect(dialect))
	if err != nil {
		return nil, err
	}
	if err := game.CheckEnds(ctx); err != nil {
		return nil, err
	}
	other, err := sqldb.Adopt(ctx, second, sqldb.Dialect(dialect))
	if err != nil {
		return nil, err
	}
	if same, unclear, err := sqldb.Same(ctx, game, other); err != nil {
		return nil, err
	} else if unclear != "" {
		return nil, fmt.Errorf("store: it is unknown whether both pools lead to the database with the game's tables: %s", unclear)
	} else if !same {
		return nil, fmt.Errorf("store: the two pools lead to two databases, %q and %q: both must lead to the one with the game's tables", game.Place(), other.Place())
	}
	db := newDB(game, other)
	db.theirs = true
	return db, nil
}

// WithTx returns the transaction that the game began on the database of db, as a
// [Session]: for [Table] and the queries of this package. The game commits it or
// rolls it back. For a *sqlx.Tx pass its field Tx. GORM has the *sql.Tx in
// tx.Statement.ConnPool; with PrepareStmt that is a *gorm.PreparedStmtTX, which has the
// *sql.Tx in its field Tx.
func (db *DB) WithTx(tx *sql.Tx) *Tx { return &Tx{session{db.db.Over(tx)}} }
