// Package mysql lets package store open MySQL, MariaDB and all that speaks their protocol. It links
// the driver github.com/go-sql-driver/mysql. Import it for that alone:
//
//	import _ "mergesafe/store/mysql"
package mysql

import _ "mergesafe/internal/sqldb/mysql" // registers the dialect
