// Package pools tests the registry in databases of games that exist: with tables
// of their own, over the pools of GORM, sqlx and database/sql, and over other
// drivers of SQLite. It is a module of its own, so that none of them is a
// dependency of mergesafe.
package pools
