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
// types of the first SELECT count; the types of the columns and what the driver makes of a time in
// MySQL. The verbs are the columns and the table.
const (
	sqliteTime = "SELECT %s FROM `%s` WHERE 0 UNION ALL SELECT ?"
	mysqlTime  = "SELECT %[1]s,UTC_TIMESTAMP() FROM (SELECT 1) AS one " +
		"LEFT JOIN (SELECT %[1]s FROM `%[2]s` LIMIT 0) AS none ON TRUE LIMIT 1"
	postgresTime = "SELECT %s FROM `%s` LIMIT 0"
)

// timesComeBack returns an error if the driver would not read a time from one of the columns that
// are to hold times: every row could be inserted, and none could be read.
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
		write := "declare it DATETIME(3)"
		switch {
		case s.Dialect() == sqldb.PostgreSQL && declared == "TIMESTAMPTZ":
			continue
		case s.Dialect() == sqldb.PostgreSQL: // a TIMESTAMP would be read in another zone than it was written in
			write = "declare it TIMESTAMPTZ(3)"
		case s.Dialect() == sqldb.MySQL && slices.Contains([]string{"DATE", "DATETIME", "TIMESTAMP"}, declared):
			if isTime(values[len(names)]) {
				continue
			}
			write = "add parseTime=true to the DSN of the pool"
		case s.Dialect() == sqldb.SQLite && isTime(values[i]):
			continue
		case s.Dialect() == sqldb.SQLite && s.DB().Adopted():
			write = "declare it DATETIME, or open the database with store.Open, which reads DATETIME(3), too"
		}
		return fmt.Errorf("store: table %q of %s: a time in the column %q, the field %s, "+
			"could be written and not read: the column is %s; %s",
			t.name, reflect.TypeFor[R](), strings.Trim(c.name, "`"), c.field, cmp.Or(declared, "of no type"), write)
	}
	return nil
}
