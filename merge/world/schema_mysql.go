package world

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/sqldb"
	"mergesafe/internal/sqltext"
)

const (
	mysqlDatabaseObject = `SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME, VERSION(), @@lower_case_table_names, CURRENT_USER(), @@div_precision_increment
		FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = DATABASE()`
	mysqlOthers = `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME <> COALESCE(DATABASE(), '')
		AND SCHEMA_NAME NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys') ORDER BY SCHEMA_NAME`
	mysqlTableObjects = `SELECT IF(TABLE_TYPE = 'SEQUENCE', 'sequence', 'table'), TABLE_NAME, '',
			IF(ENGINE = 'InnoDB' AND ROW_FORMAT IN ('Compact', 'Redundant'), UPPER(ROW_FORMAT), ''),
			IF(TABLE_TYPE IN ('BASE TABLE', 'SEQUENCE'), LOWER(COALESCE(ENGINE, '')), TABLE_TYPE)
		FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE '#mysql50#%'
			AND TABLE_TYPE NOT IN ('VIEW', 'TEMPORARY')
		ORDER BY TABLE_TYPE = 'SEQUENCE' DESC, TABLE_NAME`
	mysqlRoutineObjects = `SELECT LOWER(ROUTINE_TYPE), ROUTINE_NAME, '', '', '' FROM information_schema.ROUTINES
		WHERE ROUTINE_SCHEMA = DATABASE() ORDER BY ROUTINE_TYPE LIKE 'PACKAGE%' DESC, ROUTINE_TYPE, ROUTINE_NAME`
	mysqlViews = `SELECT 'view', TABLE_NAME, '', '', '' FROM information_schema.TABLES
		WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'VIEW' ORDER BY TABLE_NAME`
	// By TRIGGER_SCHEMA, which is the same, MariaDB would open the tables of all databases.
	mysqlTriggers = `SELECT 'trigger', TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_ORDER, '' FROM information_schema.TRIGGERS
		WHERE EVENT_OBJECT_SCHEMA = DATABASE() ORDER BY EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING, ACTION_ORDER`
	mysqlEventObjects = `SELECT 'event', EVENT_NAME, '', '', IF(ON_COMPLETION = 'NOT PRESERVE' AND
			CONVERT_TZ(COALESCE(EXECUTE_AT, ENDS), TIME_ZONE, '+00:00') < UTC_TIMESTAMP(), 'over', '')
		FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() ORDER BY EVENT_NAME`
)

const mysqlLibraries = "SELECT LIBRARY_NAME FROM information_schema.LIBRARIES WHERE LIBRARY_SCHEMA = DATABASE()"

// ownRows are the engines whose tables keep their rows in the database.
var ownRows = []string{"innodb", "aria", "myisam", "memory", "csv", "archive", "rocksdb"}

func quote(name string) string { return sqldb.MySQL.Quote(name) }

func (s *reader) readMySQL(ctx context.Context) error {
	if err := s.readDatabase(ctx); err != nil {
		return err
	}
	all, err := s.list(ctx)
	if err != nil {
		return err
	}
	libraries, err := s.on.Texts(ctx, mysqlLibraries)
	if err != nil && !sqldb.Says(err, sqldb.Refused) { // other servers have none
		return err
	}
	for _, name := range libraries {
		s.cannot(&Object{Kind: "library", Name: name}, "it is not copied", "drop it, and create it again after the merge")
	}
	return s.readObjects(ctx, all)
}

// list lists the objects, without what they are.
func (s *reader) list(ctx context.Context) (all []Object, err error) {
	for _, query := range []string{mysqlTableObjects, mysqlRoutineObjects, mysqlViews, mysqlTriggers, mysqlEventObjects} {
		err := s.on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
			o := Object{Kind: Kind(Text(row[0])), Name: Text(row[1]),
				Table: Text(row[2]), Place: Text(row[3])}
			switch note := Text(row[4]); {
			case o.ours():
				return true, nil
			case note == "over":
				s.cannot(&o, "its last time has passed: a database server does not create it", "DROP EVENT "+quote(o.Name)+";")
			case note == "SYSTEM VERSIONED":
				s.cannot(&o, "it is system-versioned: its history cannot be copied",
					"ALTER TABLE "+quote(o.Name)+" DROP SYSTEM VERSIONING;")
			case query == mysqlTableObjects && !slices.Contains(ownRows, note):
				s.cannot(&o, fmt.Sprintf("its engine %q keeps no rows in this database", note),
					"drop it, and create it again after the merge")
			}
			all = append(all, o)
			return true, nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readDatabase reads what belongs to the database as a whole, and to its server.
func (s *reader) readDatabase(ctx context.Context) error {
	err := s.readServer(ctx)
	if err != nil {
		return err
	}
	if s.others, err = s.on.Texts(ctx, mysqlOthers); err != nil {
		return err
	}
	if s.database == serverDatabase { // asked for the server alone
		return nil
	}
	row, err := one(ctx, s.on, "SHOW CREATE DATABASE "+quote(s.database))
	if err == nil {
		create := Text(row[1])
		s.Options = strings.TrimSpace(create[sqltext.MySQL(create)[2].End():]) // CREATE DATABASE name
	}
	return err
}

// readServer reads what has to be known of the server and the database to read one object.
func (s *reader) readServer(ctx context.Context) error {
	if _, err := s.on.Exec(ctx, "session", "SET SESSION sql_quote_show_create = 1", false); err != nil {
		return err
	}
	row, err := one(ctx, s.on, mysqlDatabaseObject)
	if err != nil {
		return err
	}
	version := Text(row[2])
	if s.Engine = engineMySQL; strings.Contains(version, "MariaDB") {
		s.Engine = mariadb
	}
	s.Version = version[:strings.LastIndex(version[:strings.IndexByte(version+"-", '-')], ".")]
	s.database, s.collation, s.lowerCase = Text(row[0]), Text(row[1]), Text(row[3])
	s.self, s.digits = Text(row[4]), Text(row[5])
	return nil
}

// one reads the row of a query.
func one(ctx context.Context, on *Connection, query string) (found []any, err error) {
	err = on.Rows(ctx, query, false, nil, func(row []any) (bool, error) {
		found = slices.Clone(row)
		return true, nil
	})
	if err == nil && found == nil {
		err = fmt.Errorf("no answer to %s", query)
	}
	return found, err
}

// unqualified takes the name of the database out of calls such as nextval(db.sequence), where a server puts it in.
func (s *reader) unqualified(sql string) string {
	all := sqltext.MySQL(sql)
	for i := len(all) - 1; i >= 4; i-- {
		call := all[i-4]
		if all[i-1].Text == "." && all[i-2].Name() == s.database && all[i-3].Text == "(" &&
			(call.Keyword("nextval") || call.Keyword("lastval") || call.Keyword("setval")) {
			sql = sql[:all[i-2].Start] + sql[all[i].Start:]
		}
	}
	return sql
}

// readObjects reads the statements of objects, in the bytes in which the server keeps them.
func (s *reader) readObjects(ctx context.Context, all []Object) (err error) {
	if _, err := s.on.Exec(ctx, "session", "SET SESSION character_set_results = NULL", false); err != nil {
		return err
	}
	defer func() {
		if _, failed := s.on.Exec(ctx, "session", "SET SESSION character_set_results = utf8mb4", false); failed != nil {
			s.on.Drop()
			err = failed
		}
	}()
	for i := range all {
		o := &all[i]
		told, err := one(ctx, s.on, "SHOW CREATE "+strings.ToUpper(string(o.Kind))+" "+quote(o.Name))
		if err == nil {
			err = s.describe(ctx, o, told)
		}
		if sqldb.Says(err, sqldb.LacksARight) && o.Kind != Table && o.Kind != Sequence {
			err = nil
		}
		if err != nil {
			return err
		}
		if o.Kind != Table {
			s.Objects = append(s.Objects, *o)
		}
		if o.SQL == "" {
			s.cannot(o, "the account may not read its statement", s.rightToRead(o))
		}
	}
	return nil
}

// tryGenerated notes that a table of MariaDB has an index over a column, or a stored one, that is computed otherwise in another
// sql_mode, such as a subtraction from an UNSIGNED number: only sessions of that mode can make it. The server warns of it whenever
// its catalogue opens the table.
func (s *reader) tryGenerated(ctx context.Context, o *Object) error {
	_, err := s.on.Texts(ctx, "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", o.Name)
	if err == nil {
		err = s.on.warned(ctx)
	}
	switch {
	case sqldb.Says(err, sqldb.ModeBound):
		s.cannot(o, "in another sql_mode, the server computes a generated column of it otherwise: "+err.Error(),
			"compute the column without that, as by CAST(... AS SIGNED) - 5, or drop it, or its index, until the merge is done")
	case !sqldb.Says(err, sqldb.Refused): // another warning says nothing of how the table is made
		return err
	}
	return nil
}

// describe takes what SHOW CREATE tells of an object.
func (s *reader) describe(ctx context.Context, o *Object, told []any) error {
	statement, client, mode, zone := 2, 3, Text(told[1]), ""
	switch o.Kind {
	case Table, Sequence, View:
		statement, client, mode = 1, 2, "" // the server writes the statement of a view, in no mode
	case Event:
		statement, client, zone = 3, 4, ", time_zone = '"+Text(told[2])+"'"
	}
	if told[statement] == nil {
		return nil
	}
	o.SQL = s.unqualified(Text(told[statement]))
	if client < len(told) {
		o.Settings = fmt.Sprintf("sql_mode = '%s', character_set_client = %s, collation_connection = %s%s",
			mode, Text(told[client]), Text(told[client+1]), zone)
	}
	switch o.Kind {
	case Table:
		s.addTable(o.Name, o.SQL, o.Place)
		if s.Engine == mariadb && strings.Contains(o.SQL, " GENERATED ALWAYS AS (") {
			return s.tryGenerated(ctx, o)
		}
	case Sequence:
		values, err := one(ctx, s.on, "SELECT * FROM "+quote(o.Name))
		for i, v := range values {
			o.Counted += strings.Repeat(", ", min(i, 1)) + Text(v)
		}
		return err
	case View:
		return s.tryView(ctx, o)
	default:
		o.Collation = Text(told[client+2])
	}
	if o.Kind == Event { // ON COMPLETION PRESERVE ENABLE, or DISABLE, or DISABLE ON REPLICA
		all := sqltext.MySQL(o.SQL)
		first := 1 + slices.IndexFunc(all, func(t sqltext.Token) bool { return t.Keyword("PRESERVE") })
		last := first
		if all[first+1].Keyword("ON") {
			last += 2
		}
		o.State = o.SQL[all[first].Start:all[last].End()]
		o.SQL = o.SQL[:all[first].Start] + "DISABLE" + o.SQL[all[last].End():]
	}
	return nil
}

// tryView notes a view that cannot be read.
func (s *reader) tryView(ctx context.Context, o *Object) error {
	name := s.on.Dialect().Quote(o.Name)
	err := s.on.Rows(ctx, "SELECT 1 FROM "+name+" LIMIT 0", false, nil, func([]any) (bool, error) { return true, nil })
	if err != nil && (sqldb.Says(err, sqldb.Refused) || sqldb.Says(err, sqldb.LacksARight)) {
		s.cannot(o, "it cannot be read: "+err.Error(), "DROP VIEW "+name+";")
		return nil
	}
	return err
}

// rightToRead is the statement that lets the account see what an object does.
func (s *reader) rightToRead(o *Object) string {
	right := "SELECT ON mysql.proc"
	if o.Kind == View {
		right = "SHOW VIEW ON " + quote(s.database) + ".*"
	} else if s.Engine == engineMySQL {
		right = "SHOW_ROUTINE ON *.*"
	}
	return "GRANT " + right + " TO " + account(s.self) + ";"
}
