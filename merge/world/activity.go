package world

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"mergesafe/merge/catalog"
)

// ActiveDays is how many days [Activity] tells apart.
const ActiveDays = 30

// Activity is when the rows of a table were last in use.
type Activity struct {
	Rows int64 // of the table

	// Days are the rows by their time: Days[0] those of the last 24 hours, or up to a day
	// ahead of the clock, Days[1] those of the 24 hours before, and so on.
	Days [ActiveDays]int64

	Before int64 // the rows with an earlier time, from 1990 on
	Never  int64 // those without a time: NULL, 0, a negative number, or a text that is not a time
	Odd    int64 // those with a time before 1990 or in the future
}

// Activity reads from a column of times when the rows of a table were last in use. The
// values are seconds, milliseconds or microseconds since 1970, which are distinguished by how
// large each is; or, by the type of the column or of the value, dates with or without a time
// of day, in UTC unless a text says otherwise; in SQLite also Julian days with a fraction. A
// column of any other type is a [*catalog.UnsupportedError].
func (s *Source) Activity(ctx context.Context, table, column string, now time.Time) (a Activity, err error) {
	err = s.ask(ctx, "activity", func(schema *schema) error {
		c, err := schema.column(table, column)
		if err != nil {
			return err
		}
		seconds, divide := s.dialect.seconds(c)
		if seconds == "" {
			return &catalog.UnsupportedError{Table: table, Column: column, Reason: fmt.Sprintf("a column of type %s does not hold times", c.Type)}
		}
		query := fmt.Sprintf(activity, divide, seconds, s.dialect.Quote(table), now.Unix(), ActiveDays)
		var day sql.NullInt64
		var n int64
		return each(ctx, s.conn, query, func() {
			a.Rows += n
			switch {
			case !day.Valid:
				a.Never += n
			case day.Int64 == oddDay:
				a.Odd += n
			case day.Int64 >= ActiveDays:
				a.Before += n
			default:
				a.Days[max(day.Int64, 0)] += n
			}
		}, &day, &n)
	})
	return a, err
}

// activity counts rows by the number of days before a moment; NULL stands for no time.
const activity = `SELECT CASE WHEN seconds IS NULL OR seconds <= 0 THEN NULL
		WHEN seconds < 631152000 OR seconds > %[4]d + 86400 THEN -2
		WHEN seconds > %[4]d THEN 0
		WHEN seconds <= %[4]d - 86400 * %[5]d THEN %[5]d
		ELSE (%[4]d - seconds) %[1]s 86400 END AS day, COUNT(*)
	FROM (SELECT %[2]s AS seconds FROM %[3]s AS r) AS times GROUP BY day`

const oddDay = -2

// unixSeconds is a number as seconds since 1970, whatever its unit: 1e11 seconds are in the
// year 5138, 1e11 milliseconds in 1973.
const unixSeconds = "CASE WHEN %[1]s >= 100000000000000 THEN %[1]s %[2]s 1000000 WHEN %[1]s >= 100000000000 THEN %[1]s %[2]s 1000 ELSE %[1]s END"

func (d sqliteDialect) seconds(c *column) (expr, divide string) {
	const julian = `CAST((%[1]s - 2440587.5) * 86400 AS INTEGER)`
	ref := d.ref(c)
	number := fmt.Sprintf(unixSeconds, "CAST("+ref+" AS INTEGER)", "/")
	return fmt.Sprintf(`CASE typeof(%[1]s) WHEN 'integer' THEN %[2]s
		WHEN 'real' THEN CASE WHEN %[1]s BETWEEN 2400000 AND 2500000 THEN `+julian+` ELSE %[2]s END
		WHEN 'text' THEN CASE WHEN %[1]s <> '' AND %[1]s NOT GLOB '*[^0-9]*' THEN %[2]s ELSE CAST(strftime('%%s', %[1]s) AS INTEGER) END END`, ref, number), "/"
}

func (d *mysqlDialect) seconds(c *column) (expr, divide string) {
	switch c.kind {
	case integer, decimal, real:
		if c.bits {
			return "", ""
		}
		return fmt.Sprintf(unixSeconds, "CAST("+d.ref(c)+" AS SIGNED)", "DIV"), "DIV"
	case moment:
		return "TIMESTAMPDIFF(SECOND, '1970-01-01', " + d.ref(c) + ")", "DIV"
	default:
		return "", ""
	}
}
