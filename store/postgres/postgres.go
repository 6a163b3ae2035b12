// Package postgres lets package store open PostgreSQL. It links the driver github.com/jackc/pgx/v5.
// Import it for that alone:
//
//	import _ "mergesafe/store/postgres"
package postgres

import _ "mergesafe/internal/sqldb/postgres" // registers the dialect
