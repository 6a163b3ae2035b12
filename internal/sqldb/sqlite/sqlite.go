// Package sqlite is the dialect of SQLite, and links its driver.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"mergesafe/internal/sqldb"
)

func init() { sqldb.Register(sqldb.SQLite, engine{}) }

type engine struct{}

var words = sqldb.Words{
	Name: "SQLite", Bind: "sqlite3", Quote: '"', MaxArgs: 32766,
	Now:    "(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))",
	Begin:  "BEGIN IMMEDIATE",
	Tables: "SELECT name FROM sqlite_schema WHERE type = 'table'",
	Hex:    "HEX(%s)", Largest: "MAX(%s)",
	File: true, Conns: 8, Returning: true,
	Atomic: 0, // RAISE(IGNORE) leaves out a row, RAISE(FAIL) leaves those that were added
	Unique: `
		SELECT '' AS name, name AS col, 0 AS i, pk AS k FROM pragma_table_info(?1) WHERE pk > 0
		UNION ALL SELECT l.name, COALESCE(c.name, ''), l.seq + 1, c.seqno FROM pragma_index_list(?1) AS l JOIN pragma_index_info(l.name) AS c
		WHERE l."unique" = 1 AND l.partial = 0 AND l.origin <> 'pk'
		ORDER BY i, k`,
	TableType: "SELECT type FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
	Ignore:    "OR IGNORE ",
	Together:  true,
	Sound:     "SELECT '' AS engine, COUNT(*) AS keyed FROM pragma_table_info(?) WHERE pk > 0",
}

// Words implements [sqldb.Engine].
func (engine) Words() *sqldb.Words { return &words }

// Open implements [sqldb.Engine].
func (engine) Open(path string, access sqldb.Access) (sqldb.Opened, error) {
	if err := isPath(path); err != nil {
		return sqldb.Opened{}, err
	}
	file, check, err := openSQLite(path, access)
	switch {
	case err == nil:
		return sqldb.Opened{Connector: file, Path: file.path, Check: check, Kept: file.check}, nil
	case !sqldb.IsPlainPath(path):
		err = errors.New(`the path cannot be opened; it is hidden because it may contain a password: if it is a DSN of MySQL, put "mysql:" in front`)
	}
	return sqldb.Opened{}, err
}

// IsPath is [sqldb.CheckPath] of what stands in a DSN behind "sqlite:".
func (engine) IsPath(path string) error { return isPath(path) }

// Shown implements [sqldb.Engine].
func (engine) Shown(path string) (string, bool) { return path, sqldb.IsPlainPath(path) }

// sessions are the connections of a pool.
type sessions struct {
	sqldb.Plain
	db *sqldb.DB

	// In a pool that is not ours, what its first connection had:
	database atomic.Pointer[string] // the path of the file
	file     sqliteFile             // what is at that path
}

// NewSessions implements [sqldb.Engine].
func (engine) NewSessions(db *sqldb.DB) sqldb.Sessions { return &sessions{db: db} }

// Adopt implements [sqldb.Sessions].
func (s *sessions) Adopt(ctx context.Context) (name string, manual bool, err error) {
	err = s.db.Guard(ctx, func(conn *sqlx.Conn) error {
		return conn.GetContext(ctx, &name, "SELECT file FROM pragma_database_list WHERE name = 'main'")
	})
	if name != "" {
		name = string(sqldb.SQLite) + ":" + name
	}
	return name, false, err
}

// NoName implements [sqldb.Sessions].
func (*sessions) NoName() error {
	return errors.New("store: the pool is of an SQLite database in memory, which is separate for every connection and lost with the process: use a file")
}

// Place implements [sqldb.Sessions].
func (s *sessions) Place(context.Context, *sqlx.Conn) (sqldb.Place, error) { return placeOf(s.db.Path) }

// PlaceOf says where a file is, which need not be there.
func (engine) PlaceOf(path string) (sqldb.Place, error) { return placeOf(path) }

// Kept implements [sqldb.Sessions].
func (s *sessions) Kept(all bool) error { return s.file.checkGame(all) }

// Otherwise implements [sqldb.Sessions].
func (s *sessions) Otherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	if set, was, err = pragmasOtherwise(ctx, conn); err != nil {
		return nil, nil, err
	}
	return set, was, s.sameFile(ctx, conn)
}

// sameFile returns [sqldb.ErrReplaced] unless a connection of another pool has the file open that the
// first one had, as far as that is known: the file at its path may be another one. What is no
// file of the system, such as a database in memory, is not looked at.
func (s *sessions) sameFile(ctx context.Context, conn *sqlx.Conn) error {
	var path string
	err := conn.GetContext(ctx, &path, "SELECT file FROM pragma_database_list WHERE name = 'main'")
	if err != nil {
		return err
	}
	if s.database.CompareAndSwap(nil, &path) {
		if file, err := lookAt(path); err == nil {
			if names(file.info) > 1 {
				s.database.Store(nil)
				return fmt.Errorf("store: the file %q: %w", shownPath(path), errOtherNames)
			}
			s.file.seen.Store(&[]seenFile{file})
		}
	}
	if first := *s.database.Load(); first != path {
		return fmt.Errorf("store: a connection has the file %q open, want %q: %w", shownPath(path), shownPath(first), sqldb.ErrReplaced)
	}
	return s.db.Kept()
}

// pragmasOtherwise is Otherwise for the settings. The first one is in force when it returns: whatever reads the
// schema, as other settings do, would fail at once while another connection writes.
func pragmasOtherwise(ctx context.Context, conn *sqlx.Conn) (set, was []string, err error) {
	for _, pragma := range []struct {
		name        string
		least, good int
	}{
		{"busy_timeout", 1000, int(sqldb.BusyTimeout.Milliseconds())},
		{"synchronous", 2, 2}, // FULL: a transaction is on the disk before its commit returns
	} {
		var has int
		if err := conn.GetContext(ctx, &has, "PRAGMA "+pragma.name); err != nil {
			return nil, nil, err
		}
		if has < pragma.least {
			change := fmt.Sprintf("PRAGMA %s = %d", pragma.name, pragma.good)
			if pragma.name == "busy_timeout" {
				if _, err := conn.ExecContext(ctx, change); err != nil {
					return nil, nil, err
				}
			}
			set = append(set, change)
			was = append(was, fmt.Sprintf("PRAGMA %s = %d", pragma.name, has))
		}
	}
	return set, was, nil
}

// Forbid implements [sqldb.Sessions]. Writes that were forbidden before stay so.
func (*sessions) Forbid(ctx context.Context, conn *sqlx.Conn, begun *sqlx.Tx) (allow func(), err error) {
	var forbidden bool
	if err := begun.GetContext(ctx, &forbidden, "PRAGMA query_only"); err != nil || forbidden {
		return func() {}, err
	}
	allow = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sqldb.RestoreTimeout)
		defer cancel()
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil {
			sqldb.Discard(conn)
		}
	}
	// After BEGIN IMMEDIATE, which it would refuse.
	if _, err := begun.ExecContext(ctx, "PRAGMA query_only = 1"); err != nil {
		allow()
		return nil, err
	}
	return allow, nil
}

// Prepare has a connection read or write rows for a merge: see [sqldb.Dialect.Prepare].
func (engine) Prepare(ctx context.Context, conn *sql.Conn, p sqldb.Purpose) error {
	var statements []string
	switch p {
	case sqldb.ReadSorted:
		// SQLite would keep pages that a scan comes across once: by default
		// four times as many, and there may be twenty databases.
		statements = []string{"PRAGMA cache_size = -512"} // KiB
	case sqldb.WriteRows:
		statements = []string{"PRAGMA foreign_keys = 1"}
	case sqldb.WriteUnchecked:
		statements = []string{"PRAGMA foreign_keys = 0"}
	}
	return sqldb.ExecAll(ctx, conn, statements)
}

// Snapshot returns the statements of [sqldb.Dialect.BeginSnapshot].
func (engine) Snapshot(snapshot bool) []string {
	if !snapshot {
		return nil
	}
	return []string{"BEGIN", "SELECT COUNT(*) FROM sqlite_schema"} // the snapshot is that of the first read
}

// Durability implements [sqldb.Engine]: how a session of ours is set up needs no look.
func (engine) Durability(ctx context.Context, s *sqldb.Session) ([]sqldb.Lossy, error) {
	var mode string
	if err := s.Get(ctx, &mode, "PRAGMA journal_mode"); err != nil {
		return nil, err
	}
	if mode = strings.ToLower(mode); mode == "off" || mode == "memory" {
		return []sqldb.Lossy{{
			Variable: "journal_mode", Value: mode, Serious: true,
			Risk: "if the process ends in the middle of a transaction, the file is damaged",
			Fix:  "PRAGMA journal_mode = WAL",
		}}, nil
	}
	return nil, nil
}
