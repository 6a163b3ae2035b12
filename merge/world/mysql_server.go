package world

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

const (
	// mysqlSuperReadOnly is the query by which MySQL tells that no account may write to it, whatever its rights; other
	// servers do not know the setting. With read_only an administrator may.
	mysqlSuperReadOnly = "SELECT @@GLOBAL.super_read_only"
	mysqlReadOnly      = "SELECT @@GLOBAL.read_only"
	// noAdmin is the value of read_only with which MariaDB 12 refuses writes of administrators, too. Its other values
	// are OFF, ON and NO_LOCK (jira.mariadb.org/browse/MDEV-36425).
	noAdmin     = "NO_LOCK_NO_ADMIN"
	mysqlPacket = "SELECT @@GLOBAL.max_allowed_packet"

	// mysqlLengths finds the tables of which a value may be longer than the server takes at once.
	mysqlLengths = `SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
		GROUP BY TABLE_NAME HAVING MAX(COALESCE(CHARACTER_OCTET_LENGTH, IF(DATA_TYPE = 'json', 4294967295, 0))) > %d`
)

// mysqlReadServer reads what the server says of writing to it.
func mysqlReadServer(ctx context.Context, conn *sql.Conn, b *builder) error {
	frozen, err := mysqlSwitch(ctx, conn, mysqlSuperReadOnly)
	if err != nil {
		return err
	}
	readOnly, err := mysqlSwitch(ctx, conn, mysqlReadOnly)
	if err != nil {
		return err
	}
	lines, err := grants(ctx, conn)
	if err != nil {
		return err
	}
	switch {
	case isOn(frozen):
		b.Frozen = "its database server accepts no writes (super_read_only is ON)"
	case strings.EqualFold(readOnly, noAdmin):
		b.Frozen = "its database server accepts no writes (read_only is " + noAdmin + ")"
	case isOn(readOnly) && !slices.ContainsFunc(lines, writesAnyway):
		if readOnly == "1" {
			readOnly = "ON"
		}
		b.Frozen = "its database server accepts writes of administrators only (read_only is " + readOnly + ")"
	}
	if err := mysqlReadReplica(ctx, conn, b); err != nil {
		return err
	}
	var packet int64
	if err := conn.QueryRowContext(ctx, mysqlPacket).Scan(&packet); err != nil {
		return err
	}
	var name string
	return each(ctx, conn, fmt.Sprintf(mysqlLengths, packet), func() {
		if t := b.tables[name]; t != nil {
			t.size(packet)
		}
	}, &name)
}

// WritesElsewhere reports whether another server of the cluster may take writes. Then a lock on this one does not keep others out.
func WritesElsewhere(ctx context.Context, on *Connection) (bool, error) {
	has, err := on.variables(ctx, "wsrep_on", "group_replication_group_name", "group_replication_single_primary_mode")
	return manyWrite(has), err
}

// manyWrite tells by the variables of a server whether several servers of its cluster take writes: Galera, or a group without a primary.
func manyWrite(has map[string]string) bool {
	return has["wsrep_on"] == "ON" || has["group_replication_group_name"] != "" && has["group_replication_single_primary_mode"] == "OFF"
}

// variables are those global variables that the server knows, by name in small letters.
func (c *Connection) variables(ctx context.Context, names ...string) (map[string]string, error) {
	has := make(map[string]string)
	err := c.Rows(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('"+strings.Join(names, "', '")+"')", false, nil, func(row []any) (bool, error) {
		has[strings.ToLower(Text(row[0]))] = Text(row[1])
		return true, nil
	})
	return has, err
}

// mysqlSwitch reads a switch of the server; one that it does not know is off.
func mysqlSwitch(ctx context.Context, conn *sql.Conn, query string) (value string, err error) {
	if err := conn.QueryRowContext(ctx, query).Scan(&value); err != nil {
		if sqldb.Says(err, sqldb.UnknownVariable) {
			err = nil
		}
		return "OFF", err
	}
	return value, nil
}

func isOn(value string) bool { return value != "0" && !strings.EqualFold(value, "OFF") }

// writesAnyway reports whether a line of SHOW GRANTS gives the right to write to a
// server that is read_only.
func writesAnyway(line string) bool {
	m := grantLine.FindStringSubmatch(line)
	return m != nil && m[1] == "GRANT" && m[3] == "*" && slices.ContainsFunc(strings.Split(m[2], ","), func(privilege string) bool {
		switch strings.TrimSpace(privilege) {
		case "ALL PRIVILEGES", "SUPER", "READ_ONLY ADMIN", "READ ONLY ADMIN", "CONNECTION_ADMIN":
			return true
		}
		return false
	})
}

// size adds the condition that the server takes each value of a row. A row may be longer: see [Connection.Bulk].
func (t *building) size(packet int64) {
	c := catalog.Condition{Kind: catalog.ConditionSize, Name: fmt.Sprintf("max_allowed_packet = %d", packet)}
	var lengths []string
	for _, column := range t.columns {
		if column.Generated != "" {
			continue
		}
		name := sqldb.MySQL.Quote(column.Name)
		switch column.kind {
		case text:
			name = "CONVERT(" + name + " USING utf8mb4)"
		case raw:
		default:
			if column.Opaque == "" && !column.json {
				continue // a few bytes
			}
			name = "CAST(" + name + " AS CHAR)"
		}
		lengths = append(lengths, fmt.Sprintf("COALESCE(LENGTH(%s), 0) <= %d", name, packet))
		c.Columns = append(c.Columns, column.Name)
	}
	if len(lengths) == 0 {
		return
	}
	c.Text = strings.Join(lengths, " AND ")
	t.Conditions = append(t.Conditions, c)
}
