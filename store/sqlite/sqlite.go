// Package sqlite lets package store open SQLite files. It links the driver modernc.org/sqlite. Import
// it for that alone:
//
//	import _ "mergesafe/store/sqlite"
package sqlite

import _ "mergesafe/internal/sqldb/sqlite" // registers the dialect
