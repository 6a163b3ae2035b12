// Package pools tests the registry in databases of games that exist: with tables
// of their own, over the pools of GORM, sqlx and database/sql, and over other
// drivers of SQLite.
package pools
