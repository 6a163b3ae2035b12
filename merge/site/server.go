package site

import (
	"mergesafe/internal/sqldb"
	"mergesafe/merge/transfer"
)

// Server is the database server of a database: its address. All files of SQLite are on one.
func Server(d transfer.Database) string {
	if s, ok := sqldb.ParseServer(d.DSN); ok {
		return s.Address
	}
	return string(sqldb.SQLite)
}
