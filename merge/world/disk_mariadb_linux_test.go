package world_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/smalldisk"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
	"mergesafe/store"
)

// A disk that gets full under MariaDB, before or while a merge writes, or before its undo, stops it,
// resumable. With room again it resumes, by the same call or by itself, to the end that it has without.
func TestDiskFullMariaDB(t *testing.T) {
	servertest.NotShort(t)
	s := newSmallServer(t)
	const rows = 10_000
	all := []world.Database{worldtest.ManyRows(t, s.engine(), "a", 1, 10), worldtest.ManyRows(t, s.engine(), "b", 100_000, rows)}
	p, into := worldtest.PlanOf(t, s.engine(), all, worldtest.ManyOptions)
	there := func() bool {
		t.Helper()
		there, err := worldtest.ExistsNow(t.Context(), into)
		if err != nil {
			t.Fatal(err)
		}
		return there
	}
	copied := func() int64 { return max(0, worldtest.Number(t, into, "SELECT COUNT(*) FROM things")-10) }
	quick := job.Hooks{Clock: worldtest.FixedClock, Batch: time.Millisecond}
	apply := func(o job.Options) error {
		_, err := build.ApplyWith(t.Context(), p, into, all, o, quick)
		return err
	}
	undo := func(o job.Options) error {
		_, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: o}, quick)
		if errors.Is(err, record.ErrNoMerge) { // it had come to its end
			err = nil
		}
		return err
	}
	if err := apply(job.Options{}); err != nil {
		t.Fatal(err)
	}
	made := worldtest.Dump(t, into, record.ProgressTable)
	if err := undo(job.Options{}); err != nil {
		t.Fatal(err)
	}

	points := []int64{0, rows / 2} // after so many rows the disk gets full
	if *worldtest.Long {
		points = []int64{0, 1, rows / 4, rows / 2, rows * 3 / 4}
	}
	for _, after := range points {
		for _, retry := range []time.Duration{-1, time.Minute} {
			if !*worldtest.Long && (after == 0) == (retry > 0) {
				continue // half of them
			}
			t.Run(fmt.Sprintf("merge, after %d rows, retry %s", after, retry), func(t *testing.T) {
				filled, retried := false, false
				if after == 0 {
					filled = true
					s.fill(t)
				}
				err := apply(job.Options{
					RetryFor: retry,
					Pause: func(context.Context) error {
						if !filled && copied() >= after {
							filled = true
							s.fill(t)
						}
						s.crowd()
						return nil
					},
					Retrying: func(error) {
						retried = true
						s.free(t)
					},
				})
				if !filled {
					t.Fatal("the disk was not filled")
				}
				switch {
				case retry > 0 && (err != nil || !retried):
					t.Fatalf("it did not resume by itself: retried %t, %v", retried, err)
				case retry < 0 && (!errors.Is(err, record.ErrStopped) || !errors.Is(store.Translate(err), store.ErrUnavailable)):
					t.Fatalf("with a full disk: %v", err)
				case retry < 0:
					s.free(t)
					if after > 0 {
						if n := copied(); n < after || n >= rows {
							t.Errorf("%d of %d rows were copied when it stopped", n, rows)
						}
					}
					if err := apply(job.Options{}); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(made, worldtest.Dump(t, into, record.ProgressTable)); diff != "" {
					t.Fatalf("not the result of a smooth run (-smooth +full):\n%s", diff)
				}
				worldtest.Proved(t, p, into, all)
			})
			t.Run(fmt.Sprintf("undo, retry %s", retry), func(t *testing.T) {
				if err := apply(job.Options{}); err != nil { // if the merge failed
					t.Fatal(err)
				}
				s.fill(t)
				err := undo(job.Options{RetryFor: retry, Retrying: func(error) { s.free(t) }})
				s.free(t)
				switch {
				case retry > 0 && err != nil:
					t.Fatalf("it did not resume by itself: %v", err)
				case err != nil && (!errors.Is(err, record.ErrStopped) || !errors.Is(store.Translate(err), store.ErrUnavailable)):
					t.Fatalf("with a full disk: %v", err)
				case err != nil:
					if err := undo(job.Options{}); err != nil {
						t.Fatal(err)
					}
				}
				if there() {
					t.Errorf("%s is there after its undo", into.Name)
				}
			})
		}
	}
	t.Logf("the server died %d times", s.deaths)
}

// smallServer is a MariaDB on a disk that can be filled.
type smallServer struct {
	*servertest.Server
	disk    *smalldisk.Disk
	scratch world.Database // another database on it
	deaths  int            // how often the full disk was too much for the server

	// While the disk is full, reader keeps InnoDB from tidying up what writer
	// changes.
	reader, writer *sql.DB
}

func newSmallServer(t *testing.T) *smallServer {
	t.Helper()
	s := new(smallServer)
	// Its files grow by little at a time, and should it die it does so at once.
	s.disk, s.Server = smalldisk.MariaDB(t, "150m", "--innodb-autoextend-increment=1", "--skip-stack-trace")
	s.scratch = worldtest.ManyRows(t, s.engine(), "scratch", 1, 1000)
	return s
}

func (s *smallServer) engine() worldtest.Engine { return worldtest.EngineOn(s.Server) }

// fill takes all room on the disk but a little, and then what InnoDB has put by
// for its undo log.
func (s *smallServer) fill(t *testing.T) {
	t.Helper()
	s.reader = worldtest.Pool(t, s.scratch)
	s.reader.SetMaxOpenConns(1)
	if _, err := s.reader.Exec("START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		t.Fatal(err)
	}
	if err := s.disk.Fill(48 << 10); err != nil {
		t.Fatal(err)
	}
	s.writer = worldtest.Pool(t, s.scratch)
	s.crowd()
}

// crowd takes what InnoDB has tidied up since, if the disk is full.
func (s *smallServer) crowd() {
	for s.writer != nil {
		if _, err := s.writer.Exec("UPDATE things SET n = n + 1"); err != nil {
			return
		}
	}
}

// free gives room again, and starts the server if it died.
func (s *smallServer) free(t *testing.T) {
	t.Helper()
	if err := s.disk.Free(); err != nil {
		t.Fatal(err)
	}
	if s.reader != nil {
		s.reader.Close()
		s.writer.Close()
		s.reader, s.writer = nil, nil
	}
	db := worldtest.Pool(t, s.scratch)
	defer db.Close()
	if db.PingContext(t.Context()) == nil {
		return
	}
	s.deaths++
	if err := errors.Join(s.Kill(), s.Restart(t.Context())); err != nil {
		t.Fatal(err)
	}
}
