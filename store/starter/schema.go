package starter

import (
	"context"
	_ "embed"

	"mergesafe/internal/sqldb"
	"mergesafe/store"
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
	Mark:    sqldb.StarterMark,
	Absent:  "the database has no starter tables yet: start a game server on it once, or check that it is the right one",
	Unready: "start a game server on the database once more",
	Tables:  []string{"players", "items", "guilds", "guild_members"},
	Version: 1,
	SQL:     map[sqldb.Dialect]string{sqldb.MySQL: mysqlTables, sqldb.SQLite: sqliteTables, sqldb.PostgreSQL: postgresTables},
}

// Create makes the starter tables, unless they exist: then it only reads. It may be called
// at every start and by several processes at once, and finishes the work of one that was
// interrupted. A database that has tables of the same names made by others, or of another
// version, is refused with a [*store.SchemaError].
func Create(ctx context.Context, db *store.DB) error {
	return part.Create(ctx, sqldb.Wrap(db.Pool(), sqldb.Dialect(db.Dialect())).Named(db.String()).Guarded())
}

// Check returns a [*store.SchemaError] unless the starter tables exist, complete and of
// this version. It changes nothing.
func Check(ctx context.Context, db *store.DB) error {
	return part.Check(ctx, sqldb.Wrap(db.Pool(), sqldb.Dialect(db.Dialect())).Named(db.String()).Guarded())
}
