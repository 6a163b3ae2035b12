package mysql

import (
	"context"
	"strings"

	"mergesafe/internal/sqldb"
)

// durability is what decides whether a MySQL server keeps what it confirms.
const durability = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (
	'innodb_flush_log_at_trx_commit', 'sync_binlog', 'log_bin', 'innodb_flush_method', 'innodb_doublewrite', 'wsrep_on')`

// redoLog tells of a server that writes no redo log (ALTER INSTANCE DISABLE INNODB
// REDO_LOG). Only MySQL, from 8.0.21 on, can be told so, and has this.
const redoLog = `SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_enabled'`

// copies is how many members of a cluster have a transaction before it is
// confirmed.
const copies = `SHOW GLOBAL STATUS WHERE Variable_name = 'wsrep_cluster_size'`

const groupMembers = `SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'ONLINE'`

// Durability implements [sqldb.Engine].
//
// A cluster that replicates a transaction to another member before it confirms
// it (Galera, Group Replication) keeps it when one of them fails. There the
// settings of one server are worth a warning only, while it has two members.
func (engine) Durability(ctx context.Context, s *sqldb.Session) ([]sqldb.Lossy, error) {
	has := make(map[string]string)
	for _, query := range []string{durability, redoLog} {
		var rows []struct {
			Name  string `db:"Variable_name"`
			Value string `db:"Value"`
		}
		if err := s.Select(ctx, &rows, query); err != nil {
			return nil, err
		}
		for _, row := range rows {
			has[strings.ToLower(row.Name)] = strings.ToLower(row.Value)
		}
	}
	alone := !replicates(ctx, s, has["wsrep_on"] == "on")
	var found []sqldb.Lossy
	add := func(variable, risk, mend string, serious bool) {
		found = append(found, sqldb.Lossy{Variable: variable, Value: has[strings.ToLower(variable)], Risk: risk, Mend: mend, Serious: serious && alone})
	}
	switch has["innodb_flush_log_at_trx_commit"] {
	case "0":
		add("innodb_flush_log_at_trx_commit", "when the database server ends without a shutdown, it forgets what it confirmed in the last second",
			"SET GLOBAL innodb_flush_log_at_trx_commit = 1", true)
	case "2":
		add("innodb_flush_log_at_trx_commit", "when the machine of the database loses power, it forgets what it confirmed in the last second",
			"SET GLOBAL innodb_flush_log_at_trx_commit = 1", true)
	}
	if has["innodb_redo_log_enabled"] == "off" {
		add("Innodb_redo_log_enabled",
			"when the database server ends without a shutdown, it does not start again, and everything that it confirmed is lost",
			"ALTER INSTANCE ENABLE INNODB REDO_LOG", true)
	}
	if method := has["innodb_flush_method"]; strings.Contains(method, "nosync") {
		add("innodb_flush_method", "when the machine of the database loses power, it forgets what it confirmed, or its files are damaged",
			"set innodb_flush_method = fsync in the server's configuration, and restart it", true)
	}
	if off := has["innodb_doublewrite"]; off == "off" || off == "0" || off == "detect_only" {
		add("innodb_doublewrite", "when the machine of the database loses power, pages that were written half are lost",
			"set innodb_doublewrite = ON in the server's configuration, and restart it", true)
	}
	if sync, logs := has["sync_binlog"], has["log_bin"]; (logs == "on" || logs == "1") && sync != "1" {
		add("sync_binlog", "when the machine of the database loses power, replicas and the binary log may lack what was confirmed last",
			"SET GLOBAL sync_binlog = 1", false)
	}
	return found, nil
}

// replicates reports whether at least two members of a cluster have a
// transaction before it is confirmed.
func replicates(ctx context.Context, s *sqldb.Session, galera bool) bool {
	var members int
	if galera {
		var row struct {
			Name    string `db:"Variable_name"`
			Members int    `db:"Value"`
		}
		return s.Get(ctx, &row, copies) == nil && row.Members >= 2
	}
	// MariaDB has no such table, and an account may not see it.
	return s.Get(ctx, &members, groupMembers) == nil && members >= 2
}
