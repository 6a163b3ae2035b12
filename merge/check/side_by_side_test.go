package check_test

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"
	"testing"

	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/verdict"
)

// meeting is a database whose first scan begins only when that of the other has begun.
type meeting struct {
	*mergetest.Database
	begun *sync.WaitGroup
	once  *sync.Once
	err   error // of its first scan
}

func (m meeting) Scan(ctx context.Context, scan catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	first := false
	m.once.Do(func() { first = true })
	if !first {
		return m.Database.Scan(ctx, scan)
	}
	m.begun.Done()
	m.begun.Wait()
	if m.err != nil {
		return func(yield func(*catalog.Batch, error) bool) { yield(nil, m.err) }
	}
	return m.Database.Scan(ctx, scan)
}

// Databases whose rows are not compared with each other are read at the same time, and
// what goes wrong in one of them ends the check.
func TestDatabasesAreReadSideBySide(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("one processor reads one database at a time")
	}
	for _, broken := range []error{nil, errors.New("the disk is gone")} {
		begun := new(sync.WaitGroup)
		begun.Add(2)
		a, b := meeting{oldWorld("a", 30), begun, new(sync.Once), nil}, meeting{oldWorld("b", 20), begun, new(sync.Once), broken}
		report, err := merge.Check(t.Context(), []catalog.Source{a, b}, oldWords())
		if broken == nil && (err != nil || report.Verdict != verdict.Pass) {
			t.Errorf("%v: %v", err, notPassed(report))
		}
		if failed, is := errors.AsType[*catalog.ReadError](err); broken != nil && (!is || failed.World != "b" || !errors.Is(err, broken)) {
			t.Errorf("got %v, want the error of b", err)
		}
	}
}
