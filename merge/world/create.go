package world

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"mergesafe/internal/sqldb"
)

// Create makes the empty database or file, and tells whether there was none. One that is there may be empty, or made
// by an earlier attempt: the caller has to know which. What record writes is in a file of SQLite that was not there when
// it takes its place, so that a process that is killed leaves none without it. record may be nil.
func (s *Schema) Create(ctx context.Context, d Database, record func(context.Context, *Connection) error) (made bool, err error) {
	if s.Engine == sqlite {
		made, err = s.createFile(ctx, d, record)
	} else {
		made, err = s.createDatabase(ctx, d)
	}
	if err != nil {
		return made, fmt.Errorf("creating %q: %w", d.Name, err)
	}
	return made, nil
}

func (s *Schema) createDatabase(ctx context.Context, d Database) (made bool, err error) {
	server, name, err := Server(d)
	if err != nil {
		return false, err
	}
	on := &Connection{Database: server, Writes: true}
	defer on.Close()
	const is = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?"
	n, err := on.Number(ctx, is, false, name)
	if err == nil && n == 0 {
		_, err = on.Exec(ctx, "create", "CREATE DATABASE "+quote(name)+" "+s.Options, false)
	}
	return n == 0 && err == nil, err
}

// serverDatabase is one that every account may use.
const serverDatabase = "information_schema"

// Server is the server of a database, for questions before the database exists, and the name of the database there.
func Server(d Database) (server Database, name string, err error) {
	at := strings.LastIndex(d.DSN, "/") // as the driver looks for it
	if at < 0 || !strings.HasPrefix(d.DSN, string(sqldb.MySQL)+":") {
		return d, "", errors.New("not the DSN of a database on a server")
	}
	if _, err := sqldb.NewConnector(d.DSN, sqldb.ReadWrite); err != nil { // or it would be made, and could not be opened
		return d, "", err
	}
	path, params, some := strings.Cut(d.DSN[at+1:], "?")
	if name, err = url.PathUnescape(path); err != nil || name == "" {
		return d, "", errors.New("the DSN names no database")
	}
	server = Database{Name: d.Name, DSN: d.DSN[:at+1] + serverDatabase}
	if some {
		server.DSN += "?" + params
	}
	return server, name, nil
}

// OnServer reports whether it is of MariaDB or MySQL.
func (s *Schema) OnServer() bool { return s.Engine != sqlite }

// Rights are the privileges of MySQL on a whole database that make what s has, fill it, lock and drop it again, and that show
// all objects there: without them the proof cannot tell that there are no others.
func (s *Schema) Rights() []string {
	all := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "REFERENCES", "CREATE VIEW",
		"TRIGGER", "EVENT", "EXECUTE", "LOCK TABLES"}
	if len(s.of(View)) > 0 {
		all = append(all, "SHOW VIEW")
	}
	if len(s.of(Function, Procedure, Package)) > 0 {
		all = append(all, "CREATE ROUTINE", "ALTER ROUTINE")
	}
	return all
}

// gameGrants are what accounts may do in one database, but not by a pattern that fits the new name, too.
const gameGrants = `SELECT GROUP_CONCAT(PRIVILEGE_TYPE ORDER BY 1 SEPARATOR ', '), '', '', GRANTEE, IS_GRANTABLE, ''
	FROM information_schema.SCHEMA_PRIVILEGES
	WHERE BINARY ? LIKE BINARY TABLE_SCHEMA AND NOT BINARY ? LIKE BINARY TABLE_SCHEMA
	GROUP BY GRANTEE, IS_GRANTABLE, TABLE_SCHEMA
	UNION ALL SELECT GROUP_CONCAT(PRIVILEGE_TYPE ORDER BY 1 SEPARATOR ', '), 'TABLE', TABLE_NAME, GRANTEE, IS_GRANTABLE, ''
	FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA = ? AND TABLE_SCHEMA <> ?
	GROUP BY TABLE_NAME, GRANTEE, IS_GRANTABLE
	UNION ALL SELECT PRIVILEGE_TYPE, 'TABLE', TABLE_NAME, GRANTEE, IS_GRANTABLE, COLUMN_NAME
	FROM information_schema.COLUMN_PRIVILEGES WHERE TABLE_SCHEMA = ? AND TABLE_SCHEMA <> ?
	UNION ALL SELECT REPLACE(REPLACE(REPLACE(UPPER(Proc_priv), ',GRANT', ''), 'GRANT', 'USAGE'), ',', ', '),
		UPPER(Routine_type), Routine_name,
		CONCAT(QUOTE(User), '@', QUOTE(Host)), IF(Proc_priv LIKE '%Grant%', 'YES', 'NO'), ''
	FROM mysql.procs_priv WHERE Db = ? AND Db <> ?
	ORDER BY 4, 2, 3, 6, 1`

// Grants are the statements that give the accounts of the game in a database of another name what they may do in this
// one. unseen is "", or says which right this account needs to see them. SQLite has no accounts.
func (s *Schema) Grants(ctx context.Context, on *Connection, name string) (
	statements []string, unseen string, err error) {
	if s.Engine == sqlite {
		return nil, "", nil
	}
	_, err = on.Number(ctx, "SELECT COUNT(*) FROM mysql.user, mysql.procs_priv", false)
	if sqldb.Says(err, sqldb.LacksARight) {
		return nil, "other accounts are hidden from this one: GRANT SELECT ON mysql.* TO " + account(s.self) + ";", nil
	}
	var names []any
	for range strings.Count(gameGrants, "?") / 2 {
		names = append(names, s.database, name)
	}
	if err == nil {
		err = on.Rows(ctx, gameGrants, false, names, func(row []any) (bool, error) {
			rights, kind, object := Text(row[0]), Text(row[1]), Text(row[2])
			grantee, where := strings.TrimSuffix(Text(row[3]), "@''"), quote(escapeName(name))+".*" // a role has no host
			if kind != "" {
				where = kind + " " + quote(name) + "." + quote(object)
			}
			if column := Text(row[5]); column != "" {
				rights += " (" + quote(column) + ")"
			}
			grant := "GRANT " + rights + " ON " + where + " TO " + grantee
			if Text(row[4]) == "YES" {
				grant += " WITH GRANT OPTION"
			}
			statements = append(statements, grant+";")
			return true, nil
		})
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the grants of %q: %w", on.Name, err)
	}
	return statements, "", nil
}
