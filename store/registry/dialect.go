package registry

import "mergesafe/internal/sqldb"

// Dialect is a kind of database.
type Dialect string

// The dialects. MySQL stands for MariaDB and all others that speak its protocol.
const (
	MySQL  = Dialect(sqldb.MySQL)
	SQLite = Dialect(sqldb.SQLite)

	PostgreSQL = Dialect(sqldb.PostgreSQL)
)
