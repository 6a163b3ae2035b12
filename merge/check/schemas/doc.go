// Package schemas judges whether the databases are made alike, and whether the first world has what the others have: tables,
// columns, keys, checks and routines.
package schemas
