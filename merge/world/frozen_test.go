package world

import (
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
)

// An administrator writes to a server that is read_only, but not to one of MariaDB 12 that keeps administrators out.
func TestFrozen(t *testing.T) {
	const (
		admin  = "GRANT ALL PRIVILEGES ON *.* TO `admin`@`%` WITH GRANT OPTION"
		player = "GRANT INSERT ON `world`.* TO `game`@`%`"
		none   = "its database server accepts no writes (read_only is NO_LOCK_NO_ADMIN)"
		admins = "its database server accepts writes of administrators only (read_only is "
	)
	for _, tt := range []struct{ readOnly, grant, want string }{
		{"0", admin, ""}, {"OFF", admin, ""}, {"1", admin, ""}, {"ON", admin, ""}, {"NO_LOCK", admin, ""},
		{"NO_LOCK_NO_ADMIN", admin, none},
		{"0", player, ""}, {"OFF", player, ""}, {"1", player, admins + "ON)"}, {"ON", player, admins + "ON)"},
		{"NO_LOCK", player, admins + "NO_LOCK)"}, {"NO_LOCK_NO_ADMIN", player, none},
	} {
		_, conn, mock := mocked(t)
		unknown := &mysql.MySQLError{Number: 1193, Message: "Unknown system variable"}
		mock.ExpectQuery("super_read_only").WillReturnError(unknown)
		mock.ExpectQuery("read_only").WillReturnRows(sqlmock.NewRows([]string{"v"}).AddRow(tt.readOnly))
		mock.ExpectQuery("SHOW GRANTS").WillReturnRows(sqlmock.NewRows([]string{"g"}).AddRow(tt.grant))
		mock.ExpectQuery("SHOW ALL REPLICAS STATUS").WillReturnRows(sqlmock.NewRows([]string{"Slave_IO_Running"}))
		mock.ExpectQuery("max_allowed_packet").WillReturnRows(sqlmock.NewRows([]string{"v"}).AddRow(int64(1 << 20)))
		mock.ExpectQuery("information_schema.COLUMNS").WillReturnRows(sqlmock.NewRows([]string{"t"}))
		var b builder
		if err := mysqlReadServer(t.Context(), conn, &b); err != nil || b.Frozen != tt.want {
			t.Errorf("read_only = %s: %q, %v, want %q", tt.readOnly, b.Frozen, err, tt.want)
		}
	}
}
