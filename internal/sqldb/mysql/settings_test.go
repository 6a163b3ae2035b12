package mysql

import (
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/sqldb"
)

// A server that reads comments in its own way, as proxies and servers of other makes do, gets each setting by itself, and may
// lack what only some servers have. Nothing else may be missing.
func TestPrepareOneByOne(t *testing.T) {
	unknown := &mysql.MySQLError{Number: 1193, Message: "Unknown system variable"}
	denied := &mysql.MySQLError{Number: 1227, Message: "Access denied"}
	for _, c := range []struct {
		needed, engine error
		want           error
	}{
		{nil, unknown, nil},
		{nil, denied, nil},
		{denied, nil, denied},
		{nil, &mysql.MySQLError{Number: 2013}, &mysql.MySQLError{Number: 2013}},
	} {
		pool, mock, err := sqlmock.New()
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		ok := sqlmock.NewResult(0, 0)
		mock.ExpectExec(`max_sort_length = 4096.*/\*!80030 , show_gipk`).WillReturnError(unknown)
		mock.ExpectExec(`max_sort_length = 4096[^*]*$`).WillReturnResult(ok).WillReturnError(c.needed)
		if c.needed == nil {
			for range wishes {
				mock.ExpectExec(`SET SESSION [a-z_]+ = [01]$`).WillReturnError(unknown)
			}
			mock.ExpectExec(`enforce_storage_engine`).WillReturnResult(ok).WillReturnError(c.engine)
		}
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = sqldb.MySQL.Prepare(t.Context(), conn, sqldb.ReadRows)
		if want := c.want; want == nil && err != nil || want != nil && (err == nil || err.Error() != want.Error()) {
			t.Errorf("%+v: %v", c, err)
		}
		if err := mock.ExpectationsWereMet(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
