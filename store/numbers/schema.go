package numbers

import (
	"context"
	_ "embed"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/store/registry"
)

var (
	//go:embed schema/mysql.sql
	mysqlTables string
	//go:embed schema/sqlite.sql
	sqliteTables string
	//go:embed schema/postgres.sql
	postgresTables string
)

var part = &sqldb.Part{
	Mark:    sqldb.NumbersMark,
	Absent:  "the database has no table of short numbers yet: start a game server on it once, or check that it is the right one",
	Unready: "start a game server on the database once more",
	Tables:  []string{sqldb.NumbersTable},
	Version: 1,
	SQL:     map[sqldb.Dialect]string{sqldb.MySQL: mysqlTables, sqldb.SQLite: sqliteTables, sqldb.PostgreSQL: postgresTables},
}

// Create makes the table of the sequences in the database of a registry, unless it exists. It may be
// called at every start and by several processes at once. If a process was interrupted, the next call finishes
// its work. If another program or another version made a table of that name, Create returns an error
// that is store.ErrSchema. ("gameid servers init" makes the table in a fleet registry.)
func Create(ctx context.Context, reg *registry.Registry) error {
	return part.Create(ctx, database(reg))
}

// Check returns an error that is store.ErrSchema unless that table exists and has this
// version. It changes nothing.
func Check(ctx context.Context, reg *registry.Registry) error {
	return part.Check(ctx, database(reg))
}

// database returns the database of a registry, which may be on a pool of the game.
func database(reg *registry.Registry) *sqldb.DB {
	return sqldb.Wrap(reg.Pool(), (*worldregistry.Registry)(reg).Dialect()).Named(reg.String()).Guarded()
}
