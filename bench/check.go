package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"mergesafe/merge"
	"mergesafe/merge/sqlsource"
)

// Names that the goals use.
const (
	checkKeys      = "exact check of BINARY(10) keys"
	checkNames     = "exact check of names"
	checkComposite = "exact check of keys of two columns"
	checkBlobs     = "exact check of BLOB keys"
)

// checkGoals are ratios of rows per second.
func checkGoals() []goal {
	return []goal{
		{of: checkKeys, least: 0.5},
		{of: checkNames, least: 0.5},
		{of: checkComposite, least: 0.5},
		{of: checkBlobs, least: 0.6},
	}
}

// Limits of what a check may take.
const (
	checkMemory = 100 << 20       // bytes, for 20 sources
	checkTables = 3 * time.Second // for 97 tables of 5 sources
)

const checkPace = 3 // rounds: each takes seconds

// worlds are databases with one table each, which a check is made of.
type worlds struct {
	db   *sql.DB  // the first of them
	dsns []string // as sqlsource takes them
	rows int      // in each
}

// counted is the time that the database needs to count the rows of a table.
func (w *worlds) counted(ctx context.Context, name, table string) candidate {
	return candidate{name: name, n: w.rows, run: func(n int) error {
		var got int
		if err := w.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&got); err != nil {
			return err
		}
		return wholeScan(got, n)
	}}
}

// bare is a scan by the driver itself that looks at nothing.
func (w *worlds) bare(ctx context.Context, name, query string) candidate {
	return candidate{name: name, n: w.rows, run: func(n int) error {
		conn, err := w.db.Conn(ctx)
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
		return errors.Join(err, wholeScan(got, n))
	}}
}

func wholeScan(got, want int) error {
	if got != want {
		return fmt.Errorf("read %d rows of %d", got, want)
	}
	return nil
}

// checked is the exact part of a check: what comes after schemas and counts,
// which are there in seconds.
func (w *worlds) checked(ctx context.Context, name, note string) candidate {
	return candidate{name: name, note: note, n: w.rows * len(w.dsns), elapsed: func(n int) (time.Duration, error) {
		got, err := check(ctx, w.dsns)
		if err == nil {
			err = got.clean(n)
		}
		return got.exact, err
	}}
}

// outcome is what a check found, and how long it took.
type outcome struct {
	read, twice  int64         // keys
	whole, exact time.Duration // with and without what comes before the keys are read
}

// clean returns an error unless n keys were read and none is there twice.
func (o outcome) clean(n int) error {
	if o.twice > 0 {
		return &wrong{fmt.Sprintf("a check found %d keys twice where there is none", o.twice)}
	}
	return wholeScan(int(o.read), n)
}

// check opens the databases and checks them.
func check(ctx context.Context, dsns []string) (o outcome, err error) {
	var sources []merge.Source
	for i, dsn := range dsns {
		s, err := sqlsource.Open(ctx, fmt.Sprintf("s%d", i+1), dsn)
		if err != nil {
			return o, err
		}
		defer s.Close()
		sources = append(sources, s)
	}
	began := time.Now()
	keys := began
	report, err := merge.Check(ctx, sources, merge.Options{Quick: func(*merge.Report) { keys = time.Now() }})
	if err != nil {
		return o, err
	}
	o.whole, o.exact = time.Since(began), time.Since(keys)
	for _, r := range report.Results {
		if r.Code == merge.CodeKeyCollision {
			o.read += r.Read
			o.twice += r.Count
		}
	}
	return o, nil
}

// beside measures a check beside its reference.
func (w *worlds) beside(ctx context.Context, o options, s *section, reference, checked candidate) error {
	if !o.wants(s.title, checked.name) {
		return nil
	}
	o.log("%s: %s", s.title, checked.name)
	found, err := measure(ctx, pace{rounds: checkPace}, reference, []candidate{checked})
	if err != nil {
		return err
	}
	s.rows = append(s.rows, rows([]candidate{reference, checked}, found, checkGoals(), true)...)
	return nil
}

// memoryRow is the most memory of this process that was in use while f ran.
func memoryRow(what, note string, f func() error) (row, error) {
	var most atomic.Uint64
	look := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most.Store(max(most.Load(), m.HeapInuse+m.StackInuse))
	}
	runtime.GC()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				look()
			case <-done:
				tick.Stop()
				return
			}
		}
	}()
	err := f()
	close(done)
	<-stopped
	look()
	return row{
		what: what, measured: fmt.Sprintf("%.0f MiB", float64(most.Load())/(1<<20)), note: note,
		goal: fmt.Sprintf("≤ %d MiB", checkMemory>>20), holds: verdict(most.Load() <= checkMemory),
	}, err
}
