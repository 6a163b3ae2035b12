package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// visit has a time in each form that a column may have.
type visit struct {
	ID    gameid.Of[visit]    `db:"id"`
	At    time.Time           `db:"at"`
	Maybe *time.Time          `db:"maybe"`
	Null  sql.NullTime        `db:"nulltime"`
	Any   sql.Null[time.Time] `db:"anytime"`
}

var visits = store.MustTable[gameid.Of[visit], visit]("visits")

var compareVisits = cmp.Comparer(func(a, b gameid.Of[visit]) bool { return a == b })

// createVisits makes the table with times of the type that is declared.
func createVisits(t testing.TB, db *store.DB, declared string) {
	t.Helper()
	exec(t, db, fmt.Sprintf(`CREATE TABLE visits (id BINARY(10) NOT NULL PRIMARY KEY,
		at %[1]s NOT NULL, maybe %[1]s NULL, nulltime %[1]s NULL, anytime %[1]s NULL)`, declared))
}

// A time that was inserted comes back to the millisecond and in UTC on every way that rows are
// read, whether the column is declared as MySQL or as SQLite calls it.
func TestTimes(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		names := []string{"DATETIME(3)", "TIMESTAMP(3)", "DATETIME(6)", "datetime(3)", "DateTime (3)", "Timestamp( 6 )"}
		if strings.HasPrefix(newDSN(), "postgres:") {
			names = []string{"TIMESTAMPTZ(3)", "timestamp (6) with time zone", "TIMESTAMPTZ"}
		}
		for _, declared := range names {
			t.Run(declared, func(t *testing.T) {
				dsn := newDSN()
				db := open(t, dsn)
				createVisits(t, db, declared)
				times(t, db, strings.HasPrefix(strings.ToLower(declared), "timestamp") && db.Dialect() == store.MySQL)
				v := visit{ID: storetest.ID[visit](1), At: born}
				must(t, visits.Insert(t.Context(), db, v))
				if got, err := visits.Get(t.Context(), openReadOnly(t, dsn), v.ID); err != nil || got != v {
					t.Errorf("read-only: got %+v, %v, want %+v", got, err, v)
				}
			})
		}
	})
	// What a database in SQLite has for an exact type, and MySQL without milliseconds.
	for _, declared := range []string{"DATETIME", "TIMESTAMP", "timestamp"} {
		t.Run("sqlite/"+declared, func(t *testing.T) {
			db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "game.db"))
			createVisits(t, db, declared)
			times(t, db, false)
		})
	}
}

// What is finer than a millisecond is dropped, in every database, by Insert and Update alike: servers would round it, one up
// and the other down, and SQLite would keep it.
func TestTimesAreWholeMilliseconds(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		db := open(t, newDSN())
		declared := "DATETIME(3)"
		if db.Dialect() == store.PostgreSQL {
			declared = "TIMESTAMPTZ(3)"
		}
		createVisits(t, db, declared)
		for _, at := range []time.Time{born.Add(999_999), born.Add(499_999), time.Date(1960, 1, 1, 0, 0, 0, 1_999_999, time.UTC)} {
			whole := at.Truncate(time.Millisecond)
			want := visit{At: whole, Maybe: &whole, Null: sql.NullTime{Time: whole, Valid: true}, Any: sql.Null[time.Time]{V: whole, Valid: true}}
			for _, write := range []func(visit) error{
				func(v visit) error { return visits.Insert(t.Context(), db, v) },
				func(v visit) error { return visits.Update(t.Context(), db, v, "at", "maybe", "nulltime", "anytime") },
			} {
				want.ID = storetest.ID[visit](1)
				must(t, write(visit{want.ID, at, &at, sql.NullTime{Time: at, Valid: true}, sql.Null[time.Time]{V: at, Valid: true}}))
				got, err := visits.Get(t.Context(), db, want.ID)
				must(t, err)
				if diff := cmp.Diff(want, got, compareVisits); diff != "" {
					t.Errorf("%s: %s", at, diff)
				}
			}
			exec(t, db, "DELETE FROM visits")
		}
	})
}

// times writes and reads visits of several times; narrow says that the column takes only those of
// the type TIMESTAMP of MySQL.
func times(t *testing.T, db *store.DB, narrow bool) {
	t.Helper()
	ctx := t.Context()
	all := []time.Time{
		born,
		time.UnixMilli(1001).UTC(),
		time.Date(2001, 9, 9, 1, 46, 39, 999e6, time.UTC),
		time.Date(2026, 10, 25, 0, 30, 0, 1e6, time.UTC), // an hour that many local times have twice
		time.Date(2026, 10, 25, 12, 30, 0, 0, time.UTC),
	}
	if !narrow {
		all = append(all, time.Date(1000, 1, 1, 0, 0, 0, 1e6, time.UTC), time.Unix(0, 0).UTC(),
			time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC))
	}
	var want []visit
	for i, at := range all {
		v := visit{ID: storetest.ID[visit](i + 1), At: at}
		if i%2 == 0 {
			v.Maybe, v.Null, v.Any = &at, sql.NullTime{Time: at, Valid: true}, sql.Null[time.Time]{V: at, Valid: true}
		}
		want = append(want, v)
	}
	must(t, visits.Insert(ctx, db, want...))
	check := func(what string, got []visit, err error) {
		t.Helper()
		must(t, err)
		if diff := cmp.Diff(want, got, compareVisits); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	read := func(on store.Session) {
		t.Helper()
		check("Each", collect(t, visits.Each(ctx, on, "TRUE")), nil)
		found, err := visits.Where(ctx, on, "id IS NOT NULL ORDER BY id")
		check("Where", found, err)
		var selected, got []visit
		err = on.Select(ctx, &selected, "SELECT * FROM visits ORDER BY id")
		check("Select", selected, err)
		for _, v := range want {
			one, err := visits.Get(ctx, on, v.ID)
			must(t, err)
			got = append(got, one)
			var at time.Time
			if err := on.Get(ctx, &at, "SELECT at FROM visits WHERE id = ?", v.ID); err != nil || at != v.At {
				t.Errorf("Get of one column: %s, %v, want %s", at, err, v.At)
			}
			if v.At.After(time.UnixMilli(0)) { // by the moment: the text of another year could sort elsewhere
				if one, err = visits.One(ctx, on, "at = ?", v.At); err != nil || one.ID != v.ID {
					t.Errorf("by its time: %s, %v, want %s", one.ID, err, v.ID)
				}
			}
		}
		check("Get", got, nil)
	}
	read(db)
	must(t, db.InTx(ctx, func(tx *store.Tx) error { read(tx); return nil }))
	for i := range want { // the other way round, and in another zone
		at := all[len(all)-1-i]
		want[i].At, want[i].Maybe = at, &at
		changed := want[i]
		changed.At = at.In(time.FixedZone("", 3*3600))
		must(t, visits.Update(ctx, db, changed, "at", "maybe"))
	}
	read(db)
	exec(t, db, "DELETE FROM visits")
	exec(t, db, "INSERT INTO visits (id, at) VALUES (?, '2026-11-21 03:04:05.678')", storetest.ID[visit](1))
	if got, err := visits.Get(ctx, db, storetest.ID[visit](1)); err != nil || got.At != born {
		t.Errorf("a time that was written as text came as %v, %v, want %v", got.At, err, born)
	}
	exec(t, db, "DELETE FROM visits")
}

// In SQLite, whatever SQL wrote into a column is read from DATETIME(3) as the driver reads it from
// DATETIME.
func TestTimesOfSQL(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "game.db"))
	exec(t, db, "CREATE TABLE moments (a DATETIME, b DATETIME(3), c TIMESTAMP(6), d DATE(1))")
	values := []string{
		"NULL", "0", "-1", "1795229045678901", "1.5", "x'00'", "''", "'x'", "'12:00'", "'2026-02-30'", "CURRENT_TIMESTAMP",
		"'2026-11-21 03:04:05.678901 +0100 CET m=+0.000012'", "'2026-11-21 03:04:05.678 +0000 UTC'",
	}
	for _, between := range []string{" ", "T"} {
		for _, clock := range []string{"03:04", "03:04:05", "03:04:05.6", "03:04:05.678", "03:04:05.678901"} {
			for _, zone := range []string{"", "Z", "+00:00", "-09:30"} {
				values = append(values, "'2026-11-21"+between+clock+zone+"'")
			}
		}
	}
	for _, value := range append(values, "'2026-11-21'") {
		exec(t, db, "DELETE FROM moments")
		exec(t, db, "INSERT INTO moments SELECT v, v, v, v FROM (SELECT "+value+" AS v)")
		var got struct{ A, B, C, D any }
		must(t, db.Get(t.Context(), &got, "SELECT * FROM moments"))
		for _, other := range []any{got.B, got.C, got.D} {
			if diff := cmp.Diff(got.A, other); diff != "" { // of times cmp compares the moment
				t.Errorf("%s: %s", value, diff)
			}
		}
	}
}

// A column that a time would go into and not come back from is refused before a row is written,
// with what to declare instead.
func TestTimesRefused(t *testing.T) {
	onEach(t, func(t *testing.T, newDSN func() string) {
		for _, declared := range []string{"INTEGER", "BIGINT", "TEXT", "VARCHAR(40)", "TIME", "DOUBLE", "BLOB"} {
			t.Run(declared, func(t *testing.T) {
				db := open(t, newDSN())
				createVisits(t, db, declared)
				must(t, storetest.Second(store.MustTable[gameid.Of[visit], struct {
					ID gameid.Of[visit] `db:"id"`
				}]("visits").Count(t.Context(), db, "TRUE"))) // the row without its times is fit
				refusesTimes(t, db, map[bool]string{false: "DATETIME(3)", true: "TIMESTAMPTZ(3)"}[db.Dialect() == store.PostgreSQL])
			})
		}
	})
}

// A time that would come back as another one is refused: drivers count microseconds.
func TestTimesTooFar(t *testing.T) {
	onOne(t, func(t *testing.T, newDSN func() string) {
		db := open(t, newDSN())
		createVisits(t, db, "DATETIME(3)")
		for _, year := range []int{-600_000, 600_000} {
			far := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			err := visits.Insert(t.Context(), db, visit{ID: storetest.ID[visit](year & 1023), At: far})
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("year %d: got %v", year, err)
			}
		}
	})
}

func refusesTimes(t *testing.T, db *store.DB, write string) {
	t.Helper()
	err := visits.Insert(t.Context(), db, visit{ID: storetest.ID[visit](1), At: born})
	for _, want := range []string{`"visits"`, `"at"`, "store_test.visit", write} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Insert: %v, want %s in it", err, want)
		}
	}
	var n int
	if must(t, db.Get(t.Context(), &n, "SELECT COUNT(*) FROM visits")); n != 0 {
		t.Errorf("%d rows were written", n)
	}
}

// In a pool of the game's own the driver decides; what it cannot read back is refused, too.
func TestTimesWrapped(t *testing.T) {
	wrap := func(t *testing.T, driver, dsn string) *store.DB {
		t.Helper()
		pool, err := sql.Open(driver, dsn)
		must(t, err)
		t.Cleanup(func() { pool.Close() })
		dialect := map[string]store.Dialect{"sqlite": store.SQLite, "mysql": store.MySQL, "pgx": store.PostgreSQL}[driver]
		db, err := store.Wrap(t.Context(), pool, dialect)
		must(t, err)
		return db
	}
	const micros = "&_time_integer_format=unix_micro"
	for _, params := range []string{"", "&_time_format=sqlite", "&_inttotime=1" + micros, micros} {
		for _, declared := range []string{"DATETIME", "TIMESTAMP", "DATETIME(3)", "TEXT", "INTEGER"} {
			t.Run(fmt.Sprintf("sqlite/%s/%s", params, declared), func(t *testing.T) {
				db := wrap(t, "sqlite", "file:"+filepath.Join(t.TempDir(), "game.db")+"?_pragma=busy_timeout(5000)"+params)
				createVisits(t, db, declared)
				if slices.Contains([]string{"DATETIME", "TIMESTAMP"}, declared) && params != micros {
					must(t, visits.Insert(t.Context(), db, visit{ID: storetest.ID[visit](1), At: born}))
					got, err := visits.Get(t.Context(), db, storetest.ID[visit](1))
					if err != nil || got.At != born {
						t.Errorf("got %v, %v, want %v", got.At, err, born)
					}
					return
				}
				refusesTimes(t, db, "DATETIME")
			})
		}
	}
	t.Run("mysql", func(t *testing.T) {
		cfg, err := mysql.ParseDSN(servertest.DSN(t))
		must(t, err)
		cfg.ParseTime = false
		db := wrap(t, "mysql", cfg.FormatDSN())
		createVisits(t, db, "DATETIME(3)")
		refusesTimes(t, db, "parseTime=true")
		cfg.ParseTime = true
		for name, refused := range map[string]bool{"Asia/Shanghai": false, "Europe/Berlin": true} {
			cfg.Loc, err = time.LoadLocation(name)
			must(t, err)
			if db = wrap(t, "mysql", cfg.FormatDSN()); refused {
				refusesTimes(t, db, "loc="+name)
			} else {
				comeBack(t, db)
			}
		}
	})
	t.Run("mysql/TIMESTAMP", func(t *testing.T) {
		t.Setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3") // of the server
		server := servertest.Private(t)
		dsn, err := server.Database(t.Context())
		must(t, err)
		cfg, err := mysql.ParseDSN(dsn)
		must(t, err)
		cfg.ParseTime = true
		db := wrap(t, "mysql", cfg.FormatDSN())
		createVisits(t, db, "TIMESTAMP(3)")
		refusesTimes(t, db, "DATETIME(3)")
		cfg.Params = map[string]string{"time_zone": "'+08:00'"}
		comeBack(t, wrap(t, "mysql", cfg.FormatDSN()))
	})
	t.Run("postgres", func(t *testing.T) {
		db := wrap(t, "pgx", servertest.PostgresDSN(t))
		createVisits(t, db, "TIMESTAMPTZ(3)")
		comeBack(t, db)
	})
}

// comeBack inserts the two times that a clock in Berlin shows alike, and reads them.
func comeBack(t *testing.T, db *store.DB) {
	t.Helper()
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	for i, at := range []time.Time{first, first.Add(time.Hour)} {
		want := visit{storetest.ID[visit](i), at, &at, sql.NullTime{Time: at, Valid: true}, sql.Null[time.Time]{V: at, Valid: true}}
		must(t, visits.Insert(t.Context(), db, want))
		got, err := visits.Get(t.Context(), db, want.ID)
		if diff := cmp.Diff(want, got, compareVisits); err != nil || diff != "" || got.At != want.At {
			t.Errorf("%v, %s", err, diff)
		}
		for _, got := range []time.Time{got.At, *got.Maybe, got.Null.Time, got.Any.V} {
			if got.Location() != time.UTC {
				t.Errorf("a time came back in %s", got.Location())
			}
		}
	}
	exec(t, db, "DELETE FROM visits")
}
