package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"mergesafe/internal/sqldb"
)

// timeTypes are the types of fields that hold a time.
var timeTypes = []reflect.Type{
	reflect.TypeFor[time.Time](), reflect.TypeFor[*time.Time](),
	reflect.TypeFor[sql.NullTime](), reflect.TypeFor[sql.Null[time.Time]](),
}

// One row and none of the table: what the driver makes of a time in SQLite, where the declared
// types of the first SELECT count; the types of the columns, what the driver makes of a time in MySQL, and
// NULL if the clock of the session is as far ahead in July as in January. The verbs are the columns and the table.
const (
	sqliteTime = "SELECT %s FROM `%s` WHERE 0 UNION ALL SELECT ?"
	mysqlTime  = "SELECT %[1]s,UTC_TIMESTAMP(),NULLIF(TIMESTAMPDIFF(SECOND,FROM_UNIXTIME(1767225600),FROM_UNIXTIME(1782864000)),15638400) FROM (SELECT 1) AS one " +
		"LEFT JOIN (SELECT %[1]s FROM `%[2]s` LIMIT 0) AS none ON TRUE LIMIT 1"
	postgresTime = "SELECT %s FROM `%s` LIMIT 0"
)

// timesComeBack returns an error if a time that is written to one of the columns for times could not be read
// again, or be read as another time: where clocks are set back in autumn, an hour occurs twice.
func (t *Table[K, R]) timesComeBack(ctx context.Context, s *sqldb.Session) error {
	if len(t.times) == 0 {
		return nil
	}
	var names []string
	var moments []any
	for _, c := range t.times {
		names, moments = append(names, c.name), append(moments, time.UnixMilli(1))
	}
	query := sqliteTime + strings.Repeat(",?", len(names)-1)
	switch s.Dialect() {
	case sqldb.MySQL:
		query, moments = mysqlTime, nil
	case sqldb.PostgreSQL:
		query, moments = postgresTime, nil
	}
	var types []*sql.ColumnType
	var values []any
	err := s.Query(ctx, sqldb.Seldom, func(rows *sql.Rows) (err error) {
		types, err = rows.ColumnTypes()
		values = make([]any, len(types))
		to := make([]any, len(types))
		for i := range to {
			to[i] = &values[i]
		}
		if err == nil && rows.Next() {
			err = rows.Scan(to...)
		}
		return err
	}, fmt.Sprintf(query, strings.Join(names, ","), t.name), moments...)
	if err != nil {
		return s.Fault("read "+t.name, err)
	}
	isTime := func(value any) bool { _, is := value.(time.Time); return is }
	for i, c := range t.times {
		declared := types[i].DatabaseTypeName()
		fails, write := "could be written but not read", "declare it DATETIME(3)"
		switch {
		case s.Dialect() == sqldb.PostgreSQL && declared == "TIMESTAMPTZ":
			continue
		case s.Dialect() == sqldb.PostgreSQL: // a TIMESTAMP would be read in another zone than it was written in
			write = "declare it TIMESTAMPTZ(3)"
		case s.Dialect() == sqldb.MySQL && slices.Contains([]string{"DATE", "DATETIME", "TIMESTAMP"}, declared):
			now, read := values[len(names)].(time.Time)
			switch {
			case !read:
				write = "add parseTime=true to the DSN of the pool"
			case seasonal(now.Location()):
				fails, write = "could come back as a different time", fmt.Sprintf("the pool has loc=%s, where an hour occurs twice in autumn: remove loc from its DSN", now.Location())
			case declared == "TIMESTAMP" && values[len(names)+1] != nil:
				fails, write = "could come back as a different time", "in the time zone of the sessions an hour occurs twice in autumn: add time_zone=%27%2B00:00%27 to the DSN of the pool, or declare it DATETIME(3)"
			default:
				continue
			}
		case s.Dialect() == sqldb.SQLite && isTime(values[i]):
			continue
		case s.Dialect() == sqldb.SQLite && s.DB().Adopted():
			write = "declare it DATETIME, or open the database with store.Open, which reads DATETIME(3), too"
		}
		return fmt.Errorf("store: table %q of %s: a time in the column %q, the field %s, "+
			"%s: the column is %s; %s",
			t.name, reflect.TypeFor[R](), strings.Trim(c.name, "`"), c.field, fails, cmp.Or(declared, "of no type"), write)
	}
	return nil
}

// seasonal reports whether clocks are set forward and back again in the course of a year.
func seasonal(zone *time.Location) bool {
	_, winter := time.Date(2026, 1, 1, 0, 0, 0, 0, zone).Zone()
	_, summer := time.Date(2026, 7, 1, 0, 0, 0, 0, zone).Zone()
	return winter != summer
}

// inUTC changes the time that p points to, one of timeTypes, to UTC: drivers return it in the zone of the pool, or
// of the machine.
func inUTC(p any) {
	switch p := p.(type) {
	case *time.Time:
		*p = p.UTC()
	case **time.Time:
		if *p != nil {
			**p = (*p).UTC()
		}
	case *sql.NullTime:
		p.Time = p.Time.UTC()
	case *sql.Null[time.Time]:
		p.V = p.V.UTC()
	}
}
