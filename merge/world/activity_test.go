package world

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/merge/catalog"
)

// activityOf reads the activity of a table with these values in a column of a type.
func activityOf(ctx context.Context, t *testing.T, dsn, columnType string, now time.Time, values ...string) (Activity, error) {
	t.Helper()
	db, err := sqldb.Dial(ctx, dsn, sqldb.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		"DROP TABLE IF EXISTS players", "CREATE TABLE players (id INTEGER NOT NULL PRIMARY KEY, seen " + columnType + ")",
	} {
		if _, err := db.Exec(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range values {
		if _, err := db.Exec(ctx, fmt.Sprintf("INSERT INTO players VALUES (%d, %s)", i+1, v)); err != nil {
			t.Fatalf("%s: %v", v, err)
		}
	}
	s, err := Open(ctx, "w", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Activity(ctx, "players", "seen", now)
}

// Every form of a time is read as the same moment, beside values that are none.
func TestActivity(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 3, 9, 8, 0, time.UTC)
	moments := []time.Time{
		now, now.Add(-time.Hour), now.Add(-23 * time.Hour), now.Add(23 * time.Hour), // a clock that is ahead
		now.Add(-25 * time.Hour), now.Add(-29 * 24 * time.Hour), now.Add(-31 * 24 * time.Hour),
	}
	want := Activity{Rows: 7, Before: 1}
	want.Days[0], want.Days[1], want.Days[29] = 4, 1, 1
	number := func(per int64) func(time.Time) string {
		return func(m time.Time) string { return fmt.Sprint(m.Unix() * per) }
	}
	layout := func(l string) func(time.Time) string {
		return func(m time.Time) string { return "'" + m.Format(l) + "'" }
	}
	julian := func(m time.Time) string { return fmt.Sprintf("%.6f", float64(m.Unix()+1)/86400+2440587.5) }
	const text = "2006-01-02 15:04:05"
	never := []string{"NULL", "0", "-1"}
	for _, tt := range []struct {
		engine, columnType string
		write              func(time.Time) string
		others             []string // that are no times, or odd ones
		never, odd         int64
	}{
		{"sqlite", "BIGINT", number(1), append(never, "4711"), 3, 1},
		{"sqlite", "INT", number(1000), append(never, "9223372036854775807"), 3, 1},
		{"sqlite", "INT", number(1_000_000), never, 3, 0},
		{"sqlite", "TEXT", layout(text), []string{"NULL", "''", "'never'", "'2099-01-01 00:00:00'"}, 3, 1},
		{"sqlite", "TEXT", layout(time.RFC3339), nil, 0, 0},
		{"sqlite", "TEXT", number(1), nil, 0, 0},
		{"sqlite", "DATETIME", layout(text), append(never, "'x'"), 4, 0},
		{"sqlite", "TIMESTAMP", number(1), never, 3, 0},
		{"sqlite", "REAL", julian, never, 3, 0},
		{"sqlite", "REAL", number(1), nil, 0, 0},
		{"mysql", "INT UNSIGNED", number(1), []string{"NULL", "0", "4294967295"}, 2, 1},
		{"mysql", "BIGINT UNSIGNED", number(1000), []string{"NULL", "0", "18446744073709551615"}, 3, 0},
		{"mysql", "DECIMAL(20)", number(1000), never, 3, 0},
		{"mysql", "DOUBLE", number(1), never, 3, 0},
		{"mysql", "DATETIME(3)", layout(text), []string{"NULL", "'1980-01-01'"}, 1, 1},
		{"mysql", "TIMESTAMP NULL", layout(text), []string{"NULL"}, 1, 0},
	} {
		t.Run(tt.engine+" "+tt.columnType, func(t *testing.T) {
			dsn := "sqlite:" + t.TempDir() + "/w.db"
			if tt.engine == "mysql" {
				dsn = "mysql:" + servertest.DSN(t)
			}
			var values []string
			for _, m := range moments {
				values = append(values, tt.write(m))
			}
			got, err := activityOf(t.Context(), t, dsn, tt.columnType, now, append(values, tt.others...)...)
			want := want
			want.Rows += int64(len(tt.others))
			want.Never, want.Odd = tt.never, tt.odd
			if err != nil || got != want {
				t.Errorf("got %+v, %v; want %+v", got, err, want)
			}
		})
	}
}

func TestActivityOfNoTimes(t *testing.T) {
	t.Parallel()
	got, err := activityOf(t.Context(), t, "mysql:"+servertest.DSN(t), "VARCHAR(20)", time.Now(), "'x'")
	if u, ok := err.(*catalog.UnsupportedError); !ok && !strings.Contains(fmt.Sprint(err), "varchar(20) does not hold times") {
		t.Errorf("got %+v, %v, %v", got, err, u)
	}
}
