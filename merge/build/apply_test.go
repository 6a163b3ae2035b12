package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// twoLarge are worlds of one table, of which two take several batches.
func twoLarge(t *testing.T, e worldtest.Engine) []world.Database {
	return []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 5000), worldtest.ManyRows(t, e, "c", 200_000, 4000)}
}

// thereOf is how many rows of each world of twoLarge are in the new database.
func thereOf(t *testing.T, into world.Database) (parts []job.PartResult, all int64) {
	t.Helper()
	there, err := worldtest.ExistsNow(t.Context(), into)
	if err != nil {
		t.Fatal(err)
	}
	for i, world := range []string{"a", "b", "c"} {
		n := int64(0)
		if there {
			n = worldtest.Number(t, into, fmt.Sprintf("SELECT COUNT(*) FROM things WHERE id BETWEEN %d AND %d", i*100_000, (i+1)*100_000-1))
		}
		parts, all = append(parts, job.PartResult{Table: "things", World: world, Rows: n}), all+n
	}
	return parts, all
}

// An apply that stops, is refused or fails says beside the error what is in the
// new database, also of earlier calls.
func TestApplyResult(t *testing.T) {
	e := worldtest.OnSQLite(t)
	all := twoLarge(t, e)
	p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
	check := func(want error, resumed bool, result *build.Result, err error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
		parts, rows := thereOf(t, into)
		if result == nil || result.ID != p.ID || result.Resumed != resumed || result.Rows != rows {
			t.Fatalf("%+v; in the new database are %v", result, parts)
		}
		if diff := cmp.Diff(parts, result.Parts); diff != "" {
			t.Errorf("-there +result:\n%s", diff)
		}
	}

	worldtest.Exec(t, all[1], "ALTER TABLE things ADD COLUMN extra INTEGER")
	result, err := build.Apply(t.Context(), p, into, all, job.Options{})
	worldtest.Exec(t, all[1], "ALTER TABLE things DROP COLUMN extra")
	if refused := new(record.RefusedError); !errors.As(err, &refused) {
		t.Fatal(err)
	}
	check(err, false, result, err)

	ctx, cancel := context.WithCancel(t.Context())
	result, err = build.ApplyWith(ctx, p, into, all, job.Options{Progress: func(now job.Progress) {
		if now.Rows > 0 {
			cancel()
		}
	}}, job.Hooks{Batch: time.Nanosecond})
	check(record.ErrStopped, false, result, err)
	copied := result.Rows
	if copied == 0 || copied >= p.Rows() {
		t.Fatalf("%d rows were copied when it stopped", copied)
	}

	// The new database is lost at the second batch.
	result, err = build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: 1, RetryFor: -1}, job.Hooks{Batch: time.Nanosecond, Fail: worldtest.Second("before checkpoint")})
	check(record.ErrStopped, true, result, err)
	if result.Rows == 0 {
		t.Error("it lost the new database before the first batch")
	}

	// The new database cannot be read: nothing is known.
	result, err = build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: -1}, job.Hooks{Fail: func(string) error { return driver.ErrBadConn }})
	if !errors.Is(err, record.ErrStopped) || result != nil {
		t.Errorf("%+v, %v", result, err)
	}

	// The table was not finished, so it is filled again, from the first row.
	var end job.Progress
	result, err = build.Apply(t.Context(), p, into, all, job.Options{Progress: func(now job.Progress) {
		if now.Step == record.StepCopy {
			end = now
		}
	}})
	check(nil, true, result, err)
	if result.Rows != p.Rows() || result.Before || end.Rows != p.Rows() || end.Before != 0 {
		t.Errorf("%+v, and at the end %+v; want %d rows", result, end, p.Rows())
	}
	result, err = build.Apply(t.Context(), p, into, all, job.Options{})
	if check(nil, true, result, err); !result.Before {
		t.Error("it does not say that nothing was left to do")
	}
}
