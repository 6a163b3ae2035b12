// Package gamesql reads the source of a game for SQL, and finds which columns the game compares with which others.
//
// It is no parser of SQL or of any language. It joins string literals as the language does, reads what is bound to
// placeholders, and resolves aliases by a schema. What it cannot follow it leaves out: tables whose names are computed,
// procedures, and SQL that several functions put together.
package gamesql
