package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// SchemaVersion is the version of the tables that this package makes and uses.
const SchemaVersion = 1

// SchemaTable is the table that says whose tables these are, and of which
// version. It is no data of the game.
const SchemaTable = "mergesafe_schema"

// tables are all that the schema has.
var tables = []string{"players", "items", "guilds", "guild_members", RegistryTable}

var (
	//go:embed schema/mysql.sql
	mysqlSchema string
	//go:embed schema/sqlite.sql
	sqliteSchema string
)

// The row of SchemaTable is written before the first table is made, with
// version 0, and gets its version after the last.
const (
	createMark = "CREATE TABLE IF NOT EXISTS " + SchemaTable + ` (
		application VARCHAR(32) NOT NULL PRIMARY KEY,
		version     INT         NOT NULL
	)`
	insertMark  = "INSERT INTO " + SchemaTable + " (application, version) VALUES (?, 0)"
	raiseMark   = "UPDATE " + SchemaTable + " SET version = ? WHERE application = ? AND version < ?"
	selectMark  = "SELECT application, version FROM " + SchemaTable
	application = "mergesafe"
)

// SchemaError says why the tables of a database cannot be used. errors.Is
// finds [ErrSchema] in it.
type SchemaError struct {
	Reason string // what was found and what to do
}

func (e *SchemaError) Error() string { return "store: " + e.Reason }

// Is reports whether target is [ErrSchema].
func (e *SchemaError) Is(target error) bool { return target == ErrSchema }

// CreateSchema makes the tables of this package, unless they are there: then
// it only reads. It may be called at every start and by several processes at
// once, and finishes what another one did not. A database that has tables of
// the same names made by others, or of another version, is refused with a
// [*SchemaError].
func (db *DB) CreateSchema(ctx context.Context) error {
	fresh, err := inspect(ctx, db)
	if err == nil || !fresh {
		return err
	}
	if db.dialect == SQLite {
		return db.InTx(ctx, func(tx *Tx) error { return createTables(ctx, tx, sqliteSchema) })
	}
	// MySQL commits after every CREATE, so this may end half-way.
	return Retry(ctx, func() error { return createTables(ctx, db, mysqlSchema) })
}

// CheckSchema returns a [*SchemaError] unless the tables of this package are
// there, complete and of its version.
func (db *DB) CheckSchema(ctx context.Context) error {
	_, err := inspect(ctx, db)
	return err
}

func createTables(ctx context.Context, s Session, schema string) error {
	if _, err := s.Exec(ctx, createMark); err != nil {
		return err
	}
	if _, err := s.Exec(ctx, insertMark, application); err != nil && !errors.Is(err, ErrDuplicate) {
		return err
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(schema), ";\n") {
		if _, err := s.Exec(ctx, statement); err != nil {
			return err
		}
	}
	_, err := s.Exec(ctx, raiseMark, SchemaVersion, application, SchemaVersion)
	return err
}

// inspect returns nil if the tables are as they should be. Otherwise fresh
// tells whether CreateSchema may make them so.
func inspect(ctx context.Context, s Session) (fresh bool, err error) {
	query := "SELECT name FROM sqlite_schema WHERE type = 'table'"
	if s.Dialect() == MySQL {
		query = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
	}
	// First the tables, then the mark: whoever makes them does the reverse, so
	// that we cannot see tables without their mark.
	var names []string
	if err := s.Select(ctx, &names, query); err != nil {
		return false, err
	}
	var ours, missing []string
	for _, name := range tables {
		if slices.Contains(names, name) {
			ours = append(ours, name)
		} else {
			missing = append(missing, name)
		}
	}
	var marks []struct {
		Application string `db:"application"`
		Version     int    `db:"version"`
	}
	if slices.Contains(names, SchemaTable) {
		if err := s.Select(ctx, &marks, selectMark); err != nil {
			return false, err
		}
	}
	fault := func(fresh bool, format string, args ...any) (bool, error) {
		return fresh, &SchemaError{Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(marks) == 0 && len(ours) > 0:
		return fault(false, "the database has a table %q that was not made by this program: use another database", ours[0])
	case len(marks) == 0:
		return fault(true, "the database has no tables of a game yet: start a game server on it once, or check that it is the right one")
	case len(marks) > 1 || marks[0].Application != application:
		return fault(false, "the database belongs to another program, %q: use another database", marks[0].Application)
	case marks[0].Version == 0:
		return fault(true, "the tables were never completed: start a game server on the database once more")
	case marks[0].Version > SchemaVersion:
		return fault(false, "the tables have version %d and this program knows them up to version %d: use a newer program", marks[0].Version, SchemaVersion)
	case marks[0].Version < SchemaVersion:
		return fault(false, "the tables have version %d and this program needs version %d", marks[0].Version, SchemaVersion)
	case len(missing) > 0:
		return fault(false, "the table %q is missing: restore the database from a backup", missing[0])
	}
	return false, nil
}
