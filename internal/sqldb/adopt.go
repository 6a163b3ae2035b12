package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

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
		return nil, fmt.Errorf("store: the pool is not one of a %s database, or the database does not answer: %w", dialect, Explain(Translate(err), false))
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
