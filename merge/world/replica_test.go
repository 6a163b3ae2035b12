package world

import (
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/DATA-DOG/go-sqlmock"
	"github.com/go-sql-driver/mysql"
)

// A replica is told from a primary, and one that lacks changes from one that has caught up.
func TestReplica(t *testing.T) {
	names := []string{"Slave_IO_Running", "Slave_SQL_Running", "Seconds_Behind_Master", "Master_Log_File", "Read_Master_Log_Pos", "Relay_Master_Log_File", "Exec_Master_Log_Pos", "Last_SQL_Errno", "Channel_Name"}
	denied := &mysql.MySQLError{Number: 1227, Message: "Access denied; you need (at least one of) the REPLICA MONITOR privilege(s)"}
	for name, tt := range map[string]struct {
		channels []string // each as a row; nil: the account may not ask
		running  string   // what MariaDB then says
		frozen   string
		want     string
		behind   bool
	}{
		"none":                       {channels: []string{}},
		"a group's own":              {channels: []string{"No No NULL f 4 f 4 0 group_replication_recovery"}},
		"caught up":                  {channels: []string{"Yes Yes 0 f 4 f 4 0 -"}, want: "still follows its primary"},
		"behind":                     {channels: []string{"Yes Yes 30 f 4 f 4 0 -"}, want: "30s behind its primary", behind: true},
		"the slower of two":          {channels: []string{"Yes Yes 0 f 4 f 4 0 a", "Yes Yes 7 f 4 f 4 0 b"}, want: "7s behind", behind: true},
		"does not reach its primary": {channels: []string{"Connecting Yes NULL f 4 f 4 0 -"}, want: "at an unknown distance", behind: true},
		"stopped, applied":           {channels: []string{"No No NULL f 4 f 4 0 -"}, want: "may lack changes of its primary"},
		"stopped, not applied":       {channels: []string{"No No NULL f 9 f 4 0 -"}, want: "at an unknown distance", behind: true},
		"stopped by an error":        {channels: []string{"Yes No NULL f 4 f 4 1062 -"}, want: "at an unknown distance", behind: true},
		"no right, not running":      {running: "OFF"},
		"no right, running":          {running: "ON", want: "may not see its progress"},
		"no right, read-only":        {running: "OFF", frozen: "read_only is ON", want: "may not see whether it is a replica"},
	} {
		t.Run(name, func(t *testing.T) {
			_, conn, mock := mocked(t)
			if tt.channels == nil {
				mock.ExpectQuery("SHOW ALL REPLICAS STATUS").WillReturnError(denied)
				mock.ExpectQuery("Slave_running").WillReturnRows(sqlmock.NewRows([]string{"n", "v"}).AddRow("Slave_running", tt.running))
			} else {
				rows := sqlmock.NewRows(names)
				for _, c := range tt.channels {
					var values []driver.Value
					for _, v := range strings.Fields(c) {
						if v == "NULL" {
							values = append(values, nil)
						} else {
							values = append(values, v)
						}
					}
					rows.AddRow(values...)
				}
				mock.ExpectQuery("SHOW ALL REPLICAS STATUS").WillReturnRows(rows)
			}
			b := new(builder)
			b.Frozen = tt.frozen
			err := mysqlReadReplica(t.Context(), conn, b)
			if err != nil || b.Behind != tt.behind || !strings.Contains(b.Replica, tt.want) || (tt.want == "") != (b.Replica == "") {
				t.Errorf("got %q, behind: %t, %v; want %q, %t", b.Replica, b.Behind, err, tt.want, tt.behind)
			}
		})
	}
}

// A lock keeps others out unless other servers of the cluster take writes.
func TestManyWrite(t *testing.T) {
	group := func(name, onePrimary string) map[string]string {
		return map[string]string{"group_replication_group_name": name, "group_replication_single_primary_mode": onePrimary}
	}
	for _, alone := range []map[string]string{{}, {"wsrep_on": "OFF"}, group("", "OFF"), group("cccc", "ON")} {
		if manyWrite(alone) {
			t.Errorf("%v: several write", alone)
		}
	}
	for _, many := range []map[string]string{{"wsrep_on": "ON"}, group("cccc", "OFF")} {
		if !manyWrite(many) {
			t.Errorf("%v: one writes", many)
		}
	}
}
