package worldregistry

import (
	"context"
	_ "embed"

	"mergesafe/internal/sqldb"
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
	Mark:    sqldb.RegistryMark,
	Absent:  "the database has no registry of servers yet: start a game server on it once, or check that it is the right one",
	Unready: "start a game server on the database once more",
	Tables:  []string{sqldb.RegistryTable},
	Version: 1,
	SQL:     map[sqldb.Dialect]string{sqldb.MySQL: mysqlTables, sqldb.SQLite: sqliteTables, sqldb.PostgreSQL: postgresTables},
}

// Create makes the table of the registry, unless it exists.
func (r *Registry) Create(ctx context.Context) error { return part.Create(ctx, r.db) }

// SchemaText returns the statements that make the table, in a database of that kind.
func SchemaText(d sqldb.Dialect) string { return part.Text(d) }

// Check returns an error that is store.ErrSchema unless the table of the registry
// exists and has this version. It changes nothing.
func (r *Registry) Check(ctx context.Context) error { return part.Check(ctx, r.db) }
