// Package world is a database as a merge sees it, on SQLite, MariaDB and MySQL: what it has and how it
// is made, its rows read, sorted, paged, summed and written.
//
// A [Source] is what a check reads: one connection and one read-only snapshot. It needs no more than the
// right to SELECT. What that right does not show, triggers on MariaDB and MySQL, the catalogue names as
// hidden. A [World] is a source with a [Connection] beside it, for what only a merge reads. A [Layout] is how the
// rows of one table are read and written; a [Schema] is what a database is made of, object by object, as
// its server describes it.
//
// A schema is made in an empty database in stages: MakeTables, MakeIndexes, MakeReferences, MakeRest and
// EnableEvents, in this order, the rows between the first two. Each looks at what there is and makes what
// is missing: if it is interrupted, it is called again.
//
// # Comparable types
//
// Two values have the same bytes exactly when the new database takes them for equal:
//
//   - Integers of all sizes, YEAR and BIT: by number.
//   - DECIMAL, FLOAT and DOUBLE: by number, exactly; -0 is 0.
//   - Texts up to 1024 characters: as the collation says that the scan asks
//     for. An ENUM is compared by its text, because two declarations may number
//     the same members in two ways.
//   - A SET by its members, beside the same declaration only.
//   - BINARY, VARBINARY and BLOB up to 3072 bytes: byte by byte. UUID, INET4 and
//     INET6: in the same way, beside the same type only.
//   - DATE, DATETIME, TIMESTAMP: by the moment, dates of zeros included. TIME: by
//     its length.
//   - In SQLite, columns that may hold anything: numbers before texts before
//     bytes, as SQLite has them.
//
// Anything else, and a value that is not of its column's type, is a
// [*catalog.UnsupportedError]: long texts and bytes, JSON of MySQL, geometry,
// generated columns that cannot be computed in a row, collations whose weights do not tell what is equal, texts in UTF-16.
package world
