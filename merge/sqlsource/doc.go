// Package sqlsource lets package merge look at real databases: SQLite,
// MariaDB and MySQL. It learns what there is from the database itself, and
// streams keys in the form that sorts.
//
// A [Source] is one connection and one read-only snapshot. It never writes,
// and needs no more than the right to SELECT.
package sqlsource
