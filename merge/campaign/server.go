package campaign

import (
	"mergesafe/internal/sqldb"
	"mergesafe/merge"
)

// Server is the database server of a database: its address. All files of SQLite are on one.
func Server(d merge.Database) string {
	if s, ok := sqldb.ParseServer(d.DSN); ok {
		return s.Address
	}
	return string(sqldb.SQLite)
}
