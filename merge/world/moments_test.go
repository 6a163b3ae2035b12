package world

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/verdict"
)

// SQLite refuses a row if a CHECK or an index computes the present time from it: date(d) of 'now'. The check says NOT
// VERIFIED of such rows, and where it cannot find them: SQLite takes one if it need not compute that.
func TestMomentsOfSQLite(t *testing.T) {
	t.Parallel()
	for definition, c := range map[string]struct {
		values []string
		want   verdict.Verdict
	}{
		"d TEXT CHECK (date(d) > '2000')":                              {[]string{"'2024-01-01'", "'auto'", "'utc'", "NULL", "'NOW'", "x'6e6f77'", "'subsec'"}, verdict.NotVerified},
		"d TEXT CHECK (d = 'now' OR date(d) > '2000')":                 {[]string{"'now'"}, verdict.NotVerified},
		"d TEXT CHECK (date(d) BETWEEN '2000' AND '2001-01-01')":       {[]string{"'2000-05-05'", "'now'"}, verdict.Fail},
		"d TEXT CHECK (Date(ev.d) > '2000')":                           {[]string{"'2024-01-01'"}, verdict.Pass},
		"d TEXT CHECK (datetime('2024-01-01', \"d\") > '2000')":        {[]string{"'+1 day'", "'subsec'", "'now'", "'localtime'", "'UTC'"}, verdict.NotVerified},
		"d TEXT CHECK (strftime('%s', d) > 0 AND unixepoch(d) > 0)":    {[]string{"'2024-01-01'"}, verdict.Pass},
		"d TEXT CHECK (date(trim(d)) > '2000')":                        {[]string{"' now '"}, verdict.NotVerified},
		"d TEXT CHECK (date(d, 'utc') > '2000')":                       {[]string{"NULL"}, verdict.NotVerified},
		"d TEXT CHECK (strftime('%s') > 0 OR d IS NULL)":               {[]string{"NULL"}, verdict.NotVerified},
		"d TEXT); CREATE INDEX ix ON ev (date(d)":                      {[]string{"'2024-01-01'", "'now'"}, verdict.NotVerified},
		"d TEXT); CREATE INDEX ix ON ev (time(d), d":                   {[]string{"'2024-01-01'"}, verdict.Pass},
		"d TEXT); CREATE INDEX ix ON ev (date(d || '')":                {[]string{"'now'"}, verdict.NotVerified},
		"d TEXT); CREATE INDEX ix ON ev (d) WHERE (julianday(d) > 5":   {[]string{"'2024-01-01'", "'now'"}, verdict.NotVerified},
		"d TEXT CHECK (d <> 'now' OR d IS NULL), time TEXT, date TEXT": {[]string{"'2024-01-01', 'now', 'now'"}, verdict.Pass},
	} {
		target, source := newSQLiteWorld(t), newSQLiteWorld(t)
		target.exec(t, "CREATE TABLE ev ("+definition+")")
		columns := "d TEXT"
		if c.values[0] == "'2024-01-01', 'now', 'now'" {
			columns += ", time TEXT, date TEXT"
		}
		source.exec(t, "CREATE TABLE ev ("+columns+")")
		refused := int64(0)
		for _, v := range c.values {
			source.exec(t, "INSERT INTO ev VALUES ("+v+")")
			if _, err := target.db.ExecContext(t.Context(), "INSERT INTO ev VALUES ("+v+")"); err != nil {
				refused++
			}
		}
		got, rows := verdict.Pass, int64(0)
		for _, r := range checkAll(t, target, source) {
			if r.Verdict != verdict.Pass {
				got = r.Verdict
			}
			rows += r.Count
		}
		if got != c.want || got != verdict.NotVerified && rows != refused {
			t.Errorf("%s: %s of %d rows, want %s of %d", definition, got, rows, c.want, refused)
		}
		for _, r := range checked(t, source, target).Results { // there it is no constraint that a world lacks
			if text := fmt.Sprint(r.Gaps); r.Code == verdict.CodeSchemaCheck && strings.Contains(text, "lower(CAST(") {
				t.Errorf("%s: %s", definition, text)
			}
		}
	}
}
