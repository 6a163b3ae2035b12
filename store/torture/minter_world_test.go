//go:build linux

package torture

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"mergesafe/gameid"
	"mergesafe/store"
)

// World is a set of processes that must not mint an ID twice, and their logs.
type World struct {
	t   testing.TB
	dir string

	mu      sync.Mutex
	started int
	faults  int
}

// NewWorld makes a world for one test. Its processes end with the test.
func NewWorld(t testing.TB) *World { return &World{t: t, dir: t.TempDir()} }

// Start starts a process. It counts as later than every process started before: its
// IDs must be greater than those of earlier processes with the same server.
func (w *World) Start(cfg Config) *Process {
	w.t.Helper()
	w.mu.Lock()
	w.started++
	name := fmt.Sprintf("*-%06d", w.started)
	w.mu.Unlock()
	return start(w.t, order{Config: cfg, Log: filepath.Join(w.dir, name)})
}

// Fault counts a fault that the test made.
func (w *World) Fault() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults++
}

// Tally is what a world came to.
type Tally struct {
	Processes, Faults, IDs int
	Duplicates             int // IDs that are in the logs more than once
	Disorder               int // IDs that are not greater than one before them
	Numbers, Repeated      int // short numbers, and those that came more than once
	Rows, Lost             int // players that the database confirmed, and those that it has no more
	Torn                   int // logs that end within an ID, of processes that were killed at that moment
}

func (t Tally) String() string {
	return fmt.Sprintf("%d processes, %d faults, %d IDs, %d duplicates, %d order violations, %d numbers, %d twice, %d confirmed players, %d lost",
		t.Processes, t.Faults, t.IDs, t.Duplicates, t.Disorder, t.Numbers, t.Repeated, t.Rows, t.Lost)
}

// Check reads all logs and fails the test for every ID that should not be
// there. All processes must have ended. Where the world has a database, every
// ID in its rows must be in the logs, and every player that it confirmed must be
// there.
func (w *World) Check(db *store.DB) Tally {
	w.t.Helper()
	logs, err := readLogs(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	tally := logs.check(w.t.Errorf)
	tally.Processes, tally.Faults = w.started, w.faults
	w.checkNumbers(&tally)
	if tally.IDs == 0 {
		w.t.Error("nothing was minted, so nothing was tested")
	}
	if db != nil {
		w.checkRows(db, &logs)
		w.checkConfirmed(db, &tally)
	}
	w.t.Log(tally)
	return tally
}

func (w *World) checkRows(db *store.DB, logs *logs) {
	w.t.Helper()
	for _, table := range []string{"players", "items"} {
		ids, missing := w.stored(db, table), 0
		for _, id := range ids {
			if !logs.has(id) {
				missing++
			}
		}
		if missing > 0 {
			w.t.Errorf("%d of %d IDs in %s are in no log", missing, len(ids), table)
		}
	}
}

// stored are the IDs of the rows of a table.
func (w *World) stored(db *store.DB, table string) (ids []gameid.ID) {
	w.t.Helper()
	if err := db.Select(w.t.Context(), &ids, "SELECT id FROM "+table); err != nil {
		w.t.Fatal(err)
	}
	return ids
}
