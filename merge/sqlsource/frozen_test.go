package sqlsource

import (
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
)

// An administrator writes to a server that is read_only, but not to one of MariaDB 12 that keeps administrators out.
func TestFrozen(t *testing.T) {
	for value, want := range map[string]string{
		"0": "", "OFF": "", "ON": "", "NO_LOCK": "",
		"NO_LOCK_NO_ADMIN": "its server accepts no writes (read_only is NO_LOCK_NO_ADMIN)",
	} {
		db, mock, err := sqlmock.New()
		if err != nil {
			t.Fatal(err)
		}
		mock.ExpectQuery("super_read_only").WillReturnError(&mysql.MySQLError{Number: 1193, Message: "Unknown system variable"})
		mock.ExpectQuery("read_only").WillReturnRows(sqlmock.NewRows([]string{"v"}).AddRow(value))
		mock.ExpectQuery("SHOW GRANTS").WillReturnRows(sqlmock.NewRows([]string{"g"}).
			AddRow("GRANT ALL PRIVILEGES ON *.* TO `admin`@`%` WITH GRANT OPTION"))
		mock.ExpectQuery("max_allowed_packet").WillReturnRows(sqlmock.NewRows([]string{"v"}).AddRow(int64(1 << 20)))
		mock.ExpectQuery("information_schema.COLUMNS").WillReturnRows(sqlmock.NewRows([]string{"t"}))
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b builder
		if err := mysqlReadServer(t.Context(), conn, &b); err != nil || b.Frozen != want {
			t.Errorf("read_only = %s: %q, %v, want %q", value, b.Frozen, err, want)
		}
		db.Close()
	}
}
