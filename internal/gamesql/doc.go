// Package gamesql reads the source of a game for SQL, and finds which columns the game compares with which others.
//
// It is no parser of SQL or of any language. It joins string literals as the language does, reads what is bound to
// placeholders, and takes from each statement whose tables are known what it can name: it guesses no table and no column.
// What it cannot follow is left out: names of tables that are computed, procedures, SQL that is made in loops of several
// functions.
package gamesql
