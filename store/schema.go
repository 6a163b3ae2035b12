package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"modernc.org/sqlite"
)

// SchemaVersion is the version of the tables that this package makes and uses.
const SchemaVersion = 2

// SchemaTable is the table that says whose tables these are, and of which
// version. It is no data of the game.
const SchemaTable = "mergesafe_schema"

var (
	//go:embed schema/mysql.sql
	mysqlSchema string
	//go:embed schema/sqlite.sql
	sqliteSchema string
	//go:embed schema/mysql_2.sql
	mysqlSchema2 string
	//go:embed schema/sqlite_2.sql
	sqliteSchema2 string
)

// schema describes the tables of one kind of database.
type schema struct {
	application string // its mark in SchemaTable, by which other kinds are told apart
	version     int
	owner       string // whose the tables are, for messages
	absent      string // what is said of a database without any
	unfinished  string // how to complete them
	older       string // how to bring them to the present version
	tables      []string

	// sql has for each version the statements that make it of the one before;
	// the first begins with nothing. They do no harm when they run again. What
	// was published is not changed: it is what databases were made with.
	sql map[Dialect][]string

	// fill writes the rows that belong to the tables from the beginning. It
	// must do no harm to those that are there. It may be nil.
	fill func(context.Context, Session) error
}

var gameSchema = &schema{
	application: "mergesafe",
	version:     SchemaVersion,
	owner:       "a game",
	absent:      "the database has no tables of a game yet: start a game server on it once, or check that it is the right one",
	unfinished:  "start a game server on the database once more",
	older:       "start a game server of this version on the database once, which brings them there",
	tables:      []string{"players", "items", "guilds", "guild_members", RegistryTable, NumbersTable},
	sql:         map[Dialect][]string{MySQL: {mysqlSchema, mysqlSchema2}, SQLite: {sqliteSchema, sqliteSchema2}},
}

// The row of SchemaTable is written before the first table is made, with
// version 0, and gets its version after the last.
const (
	createMark = "CREATE TABLE IF NOT EXISTS " + SchemaTable + ` (
		application VARCHAR(32) NOT NULL PRIMARY KEY,
		version     INT         NOT NULL
	)`
	insertMark = "INSERT INTO " + SchemaTable + " (application, version) VALUES (?, 0)"
	versionOf  = "SELECT version FROM " + SchemaTable + " WHERE application = ?"
	raiseMark  = "UPDATE " + SchemaTable + " SET version = ? WHERE application = ? AND version < ?"
	selectMark = "SELECT application, version FROM " + SchemaTable
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
// it only reads. Tables of an older version it brings to the present one, and
// their rows stay. It may be called at every start and by several processes at
// once, and finishes what another one did not. A database that has tables of
// the same names made by others, or of a newer version, is refused with a
// [*SchemaError].
func (db *DB) CreateSchema(ctx context.Context) error { return gameSchema.create(ctx, db) }

// CheckSchema returns a [*SchemaError] unless the tables of this package are
// there, complete and of its version.
func (db *DB) CheckSchema(ctx context.Context) error { return gameSchema.check(ctx, db) }

func (sc *schema) create(ctx context.Context, db *DB) error {
	fresh, err := sc.inspect(ctx, db)
	if err == nil || !fresh {
		return err
	}
	if db.dialect == SQLite {
		return db.InTx(ctx, func(tx *Tx) error { return sc.createTables(ctx, tx) })
	}
	// MySQL commits after every CREATE, so this may end half-way.
	return Retry(ctx, func() error { return sc.createTables(ctx, db) })
}

func (sc *schema) check(ctx context.Context, s Session) error {
	_, err := sc.inspect(ctx, s)
	return err
}

func (sc *schema) createTables(ctx context.Context, s Session) error {
	if _, err := s.Exec(ctx, createMark); err != nil {
		return err
	}
	if _, err := s.Exec(ctx, insertMark, sc.application); err != nil && !errors.Is(err, ErrDuplicate) {
		return err
	}
	var version int // of what is there
	if err := s.Get(ctx, &version, versionOf, sc.application); err != nil {
		return err
	}
	for _, statements := range sc.sql[s.Dialect()][min(version, sc.version):sc.version] {
		for statement := range strings.SplitSeq(strings.TrimSpace(statements), ";\n") {
			if _, err := s.Exec(ctx, statement); err != nil && !columnThere(err) {
				return err
			}
		}
	}
	if sc.fill != nil {
		if err := sc.fill(ctx, s); err != nil {
			return err
		}
	}
	_, err := s.Exec(ctx, raiseMark, sc.version, sc.application, sc.version)
	return err
}

// columnThere reports whether err says that a column that was to be added is
// there: an attempt before this one came so far.
func columnThere(err error) bool {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number == 1060 // ER_DUP_FIELDNAME
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && strings.Contains(e.Error(), "duplicate column name")
}

// inspect returns nil if the tables are as they should be. Otherwise fresh
// tells whether create may make them so.
func (sc *schema) inspect(ctx context.Context, s Session) (fresh bool, err error) {
	return sc.look(ctx, s, false)
}

// look is inspect. again tells that it is the second look.
func (sc *schema) look(ctx context.Context, s Session, again bool) (fresh bool, err error) {
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
	for _, name := range sc.tables {
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
		return fault(true, "%s", sc.absent)
	case len(marks) > 1 || marks[0].Application != sc.application:
		for _, other := range []*schema{gameSchema, fleetSchema} {
			if len(marks) == 1 && marks[0].Application == other.application {
				return fault(false, "it is the database of %s, want that of %s", other.owner, sc.owner)
			}
		}
		return fault(false, "the database belongs to another program, %q: use another database", marks[0].Application)
	case marks[0].Version == 0:
		return fault(true, "the tables were never completed: %s", sc.unfinished)
	case marks[0].Version > sc.version:
		return fault(false, "the tables have version %d and this program knows them up to version %d: use a newer program", marks[0].Version, sc.version)
	case marks[0].Version < 0:
		return fault(false, "the tables have version %d and this program needs version %d", marks[0].Version, sc.version)
	case marks[0].Version < sc.version:
		return fault(true, "the tables have version %d and this program needs version %d: %s", marks[0].Version, sc.version, sc.older)
	case len(missing) > 0 && !again:
		// Somebody may have made them after the first look and before the mark.
		return sc.look(ctx, s, true)
	case len(missing) > 0:
		return fault(false, "the table %q is missing: restore the database from a backup", missing[0])
	}
	return false, nil
}
