package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"mergesafe/internal/garbage"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/declare"
	"mergesafe/merge/sqlsource"
	verdicts "mergesafe/merge/verdict"
)

const checkRounds = 3 // each takes seconds

// worlds are databases with the same tables, which a check is made of.
type worlds struct {
	dbs  []*sql.DB
	dsns []string // as sqlsource takes them
	rows int      // in each
}

// add fills one more database.
func (w *worlds) add(ctx context.Context, m *measuring, driver, dsn string, statements ...string) {
	db, err := sql.Open(driver, dsn)
	m.must(err)
	m.cleanups = append(m.cleanups, db.Close)
	m.must(execute(ctx, db, statements...))
	w.dbs, w.dsns = append(w.dbs, db), append(w.dsns, driver+":"+dsn)
}

// counted is the time that the first database needs to count the rows of a table.
func (w *worlds) counted(ctx context.Context, name, query string) candidate {
	return candidate{name: name, n: w.rows, run: func(n int) error {
		var got int
		if err := w.dbs[0].QueryRowContext(ctx, query).Scan(&got); err != nil {
			return err
		}
		return wholeScan(got, n)
	}}
}

// bare is a scan of the first database by the driver itself that looks at
// nothing.
func (w *worlds) bare(ctx context.Context, name, query string) candidate {
	return candidate{name: name, n: w.rows, run: func(n int) error { return bareScan(ctx, w.dbs[0], query, n) }}
}

// bareAll are such scans of all databases at the same time.
func (w *worlds) bareAll(ctx context.Context, name, query string) candidate {
	return candidate{name: name, n: w.rows * len(w.dbs), run: func(int) error {
		_, err := together(len(w.dbs), func(i int) error { return bareScan(ctx, w.dbs[i], query, w.rows) })
		return err
	}}
}

func bareScan(ctx context.Context, db *sql.DB, query string, rows int) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	got := 0
	err = conn.Raw(func(conn any) error {
		rows, err := conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
		if err != nil {
			return err
		}
		defer rows.Close()
		for dest := make([]driver.Value, len(rows.Columns())); ; got++ {
			if err := rows.Next(dest); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	return errors.Join(err, wholeScan(got, rows))
}

func wholeScan(got, want int) error {
	if got != want {
		return fmt.Errorf("read %d rows of %d", got, want)
	}
	return nil
}

// checked is the exact part of a check: what comes after schemas and counts,
// which are there in seconds. The goal is a ratio of rows per second.
func (w *worlds) checked(ctx context.Context, name string, least float64) candidate {
	return candidate{
		name: name, note: fmt.Sprintf("%d × %d rows", len(w.dsns), w.rows), goals: []goal{{least: least}},
		n: w.rows * len(w.dsns), elapsed: func(n int) (time.Duration, error) {
			got, err := check(ctx, w.dsns)
			if err == nil {
				err = got.clean(n)
			}
			return got.rules[verdicts.CodeKeyCollision], err
		},
	}
}

// undeclared is the rule for undeclared columns alone: it reads the keys and then the
// columns. It may cost as much as one ordered scan of the columns, on top of that scan.
func (w *worlds) undeclared(ctx context.Context, name string) candidate {
	return candidate{
		name: name, note: fmt.Sprintf("%d × %d rows", len(w.dsns), w.rows), goals: []goal{{least: 0.55}},
		n: w.rows * len(w.dsns), elapsed: func(int) (time.Duration, error) {
			got, err := check(ctx, w.dsns)
			return got.rules[verdicts.CodeReferenceUndeclared], err
		},
	}
}

// outcome is what a check found, and how long it took.
type outcome struct {
	read, twice int64 // keys
	whole       time.Duration
	rules       map[string]time.Duration // without what comes before the keys are read, by code
}

// clean returns an error unless n keys were read and none is there twice.
func (o outcome) clean(n int) error {
	if o.twice > 0 {
		return &wrong{fmt.Sprintf("a check found %d keys twice, but no key is there twice", o.twice)}
	}
	return wholeScan(int(o.read), n)
}

// asTheTools makes the garbage collector run as in mergecheck, for what comes after it.
var asTheTools = sync.OnceFunc(func() { garbage.Allow(garbage.Allowance) })

// check opens the databases and checks them. The time until a batch was read is that of the rule that reads it.
func check(ctx context.Context, dsns []string) (o outcome, err error) {
	var sources []catalog.Source
	for i, dsn := range dsns {
		s, err := sqlsource.Open(ctx, fmt.Sprintf("s%d", i+1), dsn)
		if err != nil {
			return o, err
		}
		defer s.Close()
		sources = append(sources, s)
	}
	began := time.Now()
	latest := began
	o.rules = make(map[string]time.Duration)
	progress := func(p declare.Progress) {
		now := time.Now()
		o.rules[p.Code] += now.Sub(latest)
		latest = now
	}
	report, err := merge.Check(ctx, sources, declare.Options{Progress: progress}, func(*verdicts.Report) { latest = time.Now() })
	if err != nil {
		return o, err
	}
	o.whole = time.Since(began)
	for _, r := range report.Results {
		if r.Code == verdicts.CodeKeyCollision {
			o.read += r.Read
			o.twice += r.Count
		}
	}
	return o, nil
}

// often calls f again and again until the function that it returns is called,
// and once more then.
func often(pause time.Duration, f func()) (stop func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for running := true; running; {
			select {
			case <-tick.C:
			case <-done:
				running = false
			}
			f()
		}
	}()
	return func() {
		close(done)
		<-stopped
	}
}

func sqliteCheck(ctx context.Context, o options) ([]section, error) {
	asTheTools()
	const exact = "exact check of BLOB keys"
	return o.measureSection("Check before a merge on SQLite",
		"Rows a second, of both databases together; the ratio is to a scan of the driver that looks at nothing.",
		[]string{exact}, func(m *measuring) {
			w := &worlds{rows: o.checkRows}
			m.log("filling 2 tables with %d rows", w.rows)
			for world := range 2 {
				w.add(ctx, m, "sqlite", filepath.Join(o.dir, fmt.Sprintf("s%d.db", world+1)),
					"CREATE TABLE t (id BLOB PRIMARY KEY) WITHOUT ROWID",
					fmt.Sprintf(`WITH RECURSIVE numbers(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < %d)
						INSERT INTO t SELECT unhex(printf('%%011x%%05x%%04x', 1000000000 + seq * 2 + %[2]d, %[2]d, seq %% 65536)) FROM numbers`, w.rows, world+1))
			}
			m.compare(ctx, pace{rounds: checkRounds}, true, w.bare(ctx, "bare scan of the keys", "SELECT id FROM t ORDER BY id"), w.checked(ctx, exact, 0.6))
		})
}
