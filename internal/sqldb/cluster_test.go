package sqldb_test

import (
	"database/sql/driver"
	"regexp"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"mergesafe/internal/sqldb"
)

// A session in a cluster reads what other members have committed, and the settings for that are read back: a member that
// ignores them is not worked with.
func TestSessionsInClusters(t *testing.T) {
	pair := func(pairs ...driver.Value) *sqlmock.Rows {
		rows := sqlmock.NewRows([]string{"Variable_name", "Value"})
		for i := 0; i < len(pairs); i += 2 {
			rows.AddRow(pairs[i], pairs[i+1])
		}
		return rows
	}
	for name, tt := range map[string]struct {
		says    *sqlmock.Rows
		columns string // that are asked for, and what they have and get
		has     []driver.Value
		set     string
		kept    []driver.Value
	}{
		"Galera": {
			pair("wsrep_on", "ON", "wsrep_sync_wait", "1"),
			"wsrep_sync_wait", []driver.Value{"1"}, "wsrep_sync_wait = 15", []driver.Value{"15"},
		},
		"a group": {
			pair("group_replication_group_name", "cccc", "group_replication_consistency", "EVENTUAL"),
			"group_replication_consistency", []driver.Value{"BEFORE_ON_PRIMARY_FAILOVER"},
			"group_replication_consistency = 'BEFORE_AND_AFTER'", []driver.Value{"BEFORE_AND_AFTER"},
		},
		"a group's member that does not keep it": {
			pair("group_replication_group_name", "cccc", "group_replication_consistency", "EVENTUAL"),
			"group_replication_consistency", []driver.Value{"EVENTUAL"},
			"group_replication_consistency = 'BEFORE_AND_AFTER'", []driver.Value{"EVENTUAL"},
		},
		"no cluster": {pair("wsrep_on", "OFF", "wsrep_sync_wait", "0"), "", nil, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			pool, mock, err := sqlmock.New()
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			columns := strings.Fields(tt.columns)
			answer := func(values []driver.Value) *sqlmock.Rows {
				return sqlmock.NewRows(append([]string{"selected", "transaction_isolation", "transaction_read_only"}, columns...)).
					AddRow(append([]driver.Value{"game", "REPEATABLE-READ", "0"}, values...)...)
			}
			asked := "SELECT COALESCE.*"
			for _, c := range columns {
				asked += "@@session." + c + " AS " + c + ".*"
			}
			unknown := &mysql.MySQLError{Number: 1193, Message: "Unknown system variable"}
			if strings.Contains(name, "group") {
				mock.ExpectQuery("wsrep_on").WillReturnError(unknown)
				mock.ExpectQuery("group_replication_group_name").WillReturnRows(tt.says)
			} else {
				mock.ExpectQuery("wsrep_on").WillReturnRows(tt.says)
				mock.ExpectQuery("group_replication_group_name").WillReturnError(unknown)
			}
			mock.ExpectQuery(asked + "LIMIT 1").WillReturnRows(answer(tt.has))
			if tt.set != "" {
				mock.ExpectExec("^" + regexp.QuoteMeta("SET SESSION "+tt.set) + "$").WillReturnResult(driver.ResultNoRows)
				mock.ExpectQuery(asked).WillReturnRows(answer(tt.kept))
				mock.ExpectExec("SET SESSION").WillReturnResult(driver.ResultNoRows) // as they were
			}
			called := false
			err = sqldb.Wrap(pool, sqldb.MySQL).Guard(t.Context(), func(*sqlx.Conn) error {
				called = true
				return nil
			})
			ignored := strings.Contains(name, "does not keep")
			if called == ignored || ignored != (err != nil) || ignored && !strings.Contains(err.Error(), "does not keep its settings") {
				t.Errorf("called: %t, %v", called, err)
			}
			if err := mock.ExpectationsWereMet(); err != nil {
				t.Error(err)
			}
		})
	}
}
