package build_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// meeting holds workers until so many of them are about to write rows.
type meeting struct {
	mu                   sync.Mutex
	inside, most, wanted int
	met                  chan struct{}
}

func newMeeting(wanted int) *meeting { return &meeting{wanted: wanted, met: make(chan struct{})} }

func (m *meeting) fail(point string) error {
	switch point {
	case "before insert":
		m.mu.Lock()
		m.inside++
		if m.inside == m.wanted && m.most < m.wanted {
			close(m.met)
		}
		m.most = max(m.most, m.inside)
		m.mu.Unlock()
		select {
		case <-m.met:
		case <-time.After(time.Minute):
			return errors.New("the others did not come")
		}
	case "after insert":
		m.mu.Lock()
		m.inside--
		m.mu.Unlock()
	}
	return nil
}

// held reports whether so many came together, and no more where it is one. With
// several, one that has to try again is counted twice.
func (m *meeting) held() bool { return m.most == m.wanted || m.wanted > 1 && m.most > m.wanted }

// Rows of several worlds, and several ranges of one, are copied at the same time if the new database takes several
// writers, and only then.
func TestParallel(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ManyWorlds(t, e)
		for _, c := range []struct {
			rows     int64 // of a range
			parallel int
			copies   int // at a time, of MariaDB
		}{
			{10_000, 1, 1},
			{10_000, 0, 4}, // as many as there are worlds
			{100, 0, job.DefaultParallel},
			{100, 2, 2},
		} {
			if e.Name == "sqlite" {
				c.copies = 1
			}
			options := worldtest.ManyOptions
			options.RangeRows = c.rows
			p, into := worldtest.PlanOf(t, e, all, options)
			m := newMeeting(c.copies)
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{Parallel: c.parallel}, job.Hooks{Fail: m.fail}); err != nil {
				t.Fatal(err)
			}
			if !m.held() {
				t.Errorf("%+v: %d at a time", c, m.most)
			}
			if c.parallel == 2 {
				worldtest.Proved(t, p, into, all)
			}
		}
	})
}

// Where one of several finds something wrong, that is what is returned, and the
// others end as well.
func TestParallelError(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ManyWorlds(t, e)
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		worldtest.Exec(t, all[2], "UPDATE things SET note = 'changed' WHERE id = 200500")
		_, err := build.Apply(t.Context(), p, into, all, job.Options{Parallel: 3})
		changed := new(record.ChangedError)
		if !errors.As(err, &changed) || changed.Database != "c" {
			t.Errorf("got %v, want that c was changed", err)
		}
	})
}

// One thing is called back at a time, by one goroutine, and the rows that
// are told of go up to the total, also where a part is begun anew.
func TestParallelCallbacks(t *testing.T) {
	servertest.NotShort(t)
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := []world.Database{worldtest.ManyRows(t, e, "a", 1, 10), worldtest.ManyRows(t, e, "b", 100_000, 3000), worldtest.ManyRows(t, e, "c", 200_000, 3000)}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ManyOptions)
		var inside, commits atomic.Int64
		var last job.Progress
		ends := make(map[string]job.Progress) // of each step
		alone := func() {
			if inside.Add(1) != 1 {
				t.Error("called while something was called")
			}
			for range 100 {
				runtime.Gosched()
			}
			inside.Add(-1)
		}
		options := job.Options{
			RetryFor: time.Minute,
			Pause:    func(context.Context) error { alone(); return nil },
			Progress: func(now job.Progress) { alone(); last, ends[now.Step] = now, now },
			Retrying: func(error) { alone() },
		}
		hooked := job.Hooks{Batch: time.Microsecond, Fail: func(point string) error {
			if point == "before commit" && commits.Add(1)%4 == 0 { // some batches of every part are there
				return driver.ErrBadConn
			}
			return nil
		}}
		if _, err := build.ApplyWith(t.Context(), p, into, all, options, hooked); err != nil {
			t.Fatal(err)
		}
		copied := ends[record.StepCopy]
		if last.Step != record.StepFinish || last.Rows != 0 || copied.Rows != 6010 || copied.Total != 6010 || commits.Load() < 8 {
			t.Errorf("at the end: %+v, copied %+v, with %d commits", last, copied, commits.Load())
		}
	})
}
