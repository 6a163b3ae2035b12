package sqldb

import (
	"context"
	"fmt"
	"strings"
)

// Lossy is one setting with which a database may lose confirmed changes.
type Lossy struct {
	Variable string // as the database calls it
	Value    string
	Risk     string // which changes may be lost, and when
	Mend     string // the statement that corrects the setting

	// Serious says that the setting is refused; otherwise it is only worth a
	// warning.
	Serious bool
}

func (l Lossy) String() string {
	return fmt.Sprintf("%s is %s: %s. To correct it: %s", l.Variable, l.Value, l.Risk, l.Mend)
}

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

// Durability returns the settings with which the database may lose what it
// confirmed; none if it keeps it.
//
// A cluster that replicates a transaction to another member before it confirms
// it (Galera, Group Replication) keeps it when one of them fails. There the
// settings of one server are worth a warning only, while it has two members.
func (db *DB) Durability(ctx context.Context) ([]Lossy, error) {
	if db.dialect == SQLite {
		return db.journal(ctx) // how a session of ours is set up needs no look
	}
	has := make(map[string]string)
	for _, query := range []string{durability, redoLog} {
		var rows []struct {
			Name  string `db:"Variable_name"`
			Value string `db:"Value"`
		}
		if err := db.Select(ctx, &rows, query); err != nil {
			return nil, err
		}
		for _, row := range rows {
			has[strings.ToLower(row.Name)] = strings.ToLower(row.Value)
		}
	}
	alone := !db.replicates(ctx, has["wsrep_on"] == "on")
	var found []Lossy
	add := func(variable, risk, mend string, serious bool) {
		found = append(found, Lossy{variable, has[strings.ToLower(variable)], risk, mend, serious && alone})
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
func (db *DB) replicates(ctx context.Context, galera bool) bool {
	var members int
	if galera {
		var name string
		err := db.with(ctx, func(on queryer) error { return on.QueryRowxContext(ctx, copies).Scan(&name, &members) })
		return err == nil && members >= 2
	}
	// MariaDB has no such table, and an account may not see it.
	return db.Get(ctx, &members, groupMembers) == nil && members >= 2
}

// AcceptLossy has [DB.Change] work also on a connection without a journal.
func (db *DB) AcceptLossy() { db.lossy.Store(true) }

// journaled returns an error if the connection of a transaction has no journal,
// which each connection of a pool may have otherwise.
func (tx *Tx) journaled(ctx context.Context) error {
	if db := tx.db; db.dialect != SQLite || !db.guard || db.lossy.Load() {
		return nil
	}
	found, err := tx.journal(ctx)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("store: a connection of the pool would lose what it confirms: %s", found[0])
	}
	return err
}

func (s *Session) journal(ctx context.Context) ([]Lossy, error) {
	var mode string
	if err := s.Get(ctx, &mode, "PRAGMA journal_mode"); err != nil {
		return nil, err
	}
	if mode = strings.ToLower(mode); mode == "off" || mode == "memory" {
		return []Lossy{{
			Variable: "journal_mode", Value: mode, Serious: true,
			Risk: "when the process ends in the middle of a transaction, the file is damaged",
			Mend: "PRAGMA journal_mode = WAL",
		}}, nil
	}
	return nil, nil
}
