package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jmoiron/sqlx"
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
	var name string
	var err error
	if dialect == MySQL {
		err = pool.QueryRowContext(ctx, "SELECT NOT @@session.autocommit LIMIT 1").Scan(&db.manual)
	}
	err = cmp.Or(err, db.guarded(ctx, func(conn *sqlx.Conn) error {
		if dialect == MySQL {
			return conn.GetContext(ctx, &name, "SELECT COALESCE(CONCAT('mysql:tcp(', @@hostname, ':', @@port, ')/', DATABASE()), '')")
		}
		return conn.GetContext(ctx, &name, "SELECT file FROM pragma_database_list WHERE name = 'main'")
	}))
	switch {
	case err != nil:
		return nil, fmt.Errorf("store: the pool is not one of a %s database, or the database does not answer: %w", dialect, explain(Translate(err), false))
	case name == "" && dialect == MySQL:
		return nil, errors.New("store: the pool has no database selected: name it in the DSN, after the slash, as in tcp(host:port)/database")
	case name == "":
		return nil, errors.New("store: the pool is one of an SQLite database in memory, which is another one for every connection and is lost with the process: use a file")
	case dialect == SQLite:
		db.path, name = name, Redact(string(SQLite)+":"+name)
	}
	db.name, db.adopted = name, true
	return db, nil
}

// CheckEnds returns an error unless a transaction on the pool ends with its commit.
// With completion_type CHAIN another one is open then: what the game writes next, as a
// statement of its own, is part of that and is lost. With RELEASE the connection is gone.
func (db *DB) CheckEnds(ctx context.Context) error {
	if db.dialect != MySQL || db.ours {
		return nil
	}
	var has string
	if err := db.Get(ctx, &has, "SELECT @@session.completion_type LIMIT 1"); err != nil {
		return err
	}
	if strings.EqualFold(has, "NO_CHAIN") {
		return nil
	}
	return fmt.Errorf("store: the sessions of the pool have completion_type = %s, "+
		"so that a commit begins another transaction or closes the connection: "+
		"add completion_type=%%27NO_CHAIN%%27 to its DSN, or on the server: SET GLOBAL completion_type = 'NO_CHAIN'", has)
}

// Adopted reports whether the pool was opened elsewhere, with settings of its
// own.
func (db *DB) Adopted() bool { return db.adopted }

// Named gives a pool that was opened elsewhere the name that another DB of the
// same pool found.
func (db *DB) Named(name string) *DB {
	if !db.ours {
		db.name = name
		if db.dialect == SQLite {
			_, db.path, _ = SplitDSN(name)
		}
	}
	return db
}

// Same reports whether two pools lead to one database.
func Same(ctx context.Context, a, b *DB) (bool, error) {
	if a.pool.DB == b.pool.DB {
		return true, nil
	}
	if a.dialect == SQLite {
		fileA, errA := os.Stat(a.path)
		fileB, errB := os.Stat(b.path)
		return errA == nil && errB == nil && os.SameFile(fileA, fileB), errors.Join(errA, errB)
	}
	placeA, errA := a.place(ctx)
	placeB, errB := b.place(ctx)
	return placeA.database == placeB.database && (placeA.server == placeB.server || placeA.cluster != "" && placeA.cluster == placeB.cluster), errors.Join(errA, errB)
}

// place is where a pool of MySQL leads. The connections of one pool may lead to
// several members of a cluster.
type place struct{ server, cluster, database string }

func (db *DB) place(ctx context.Context) (p place, err error) {
	err = db.guarded(ctx, func(conn *sqlx.Conn) error {
		const query = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir), COALESCE(DATABASE(), '')"
		if err := conn.QueryRowxContext(ctx, query).Scan(&p.server, &p.database); err != nil {
			return err
		}
		var name string
		err := conn.QueryRowxContext(ctx, "SHOW GLOBAL STATUS LIKE 'wsrep_cluster_state_uuid'").Scan(&name, &p.cluster) // Galera
		if errors.Is(err, sql.ErrNoRows) {
			err = conn.QueryRowxContext(ctx, "SELECT @@group_replication_group_name").Scan(&p.cluster)
		}
		if IsUnknownVariable(err) {
			err = nil // a server that stands alone
		}
		return err
	})
	return p, db.Fault("look where the pool leads", err)
}
