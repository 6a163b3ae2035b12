//go:build linux

package build_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/planner"
	"mergesafe/merge/record"
	"mergesafe/merge/rules"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// child is what a process that will be killed is to do.
type child struct {
	Plan    string // path
	Names   []string
	DSNs    []string
	KillAt  int64 // which point
	Undo    bool
	Batches time.Duration
}

const childEnv = "MERGESAFE_TRANSFER_CHILD"

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		os.Exit(runChild(text))
	}
	os.Exit(m.Run())
}

// runChild merges, or undoes a merge, until it kills itself.
func runChild(text string) int {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	f, err := os.Open(c.Plan)
	if err != nil {
		panic(err)
	}
	p, err := plan.ReadPlan(f)
	if err != nil {
		panic(err)
	}
	var all []world.Database
	for i, name := range c.Names {
		all = append(all, world.Database{Name: name, DSN: c.DSNs[i]})
	}
	hooked := job.Hooks{Clock: worldtest.FixedClock, Batch: c.Batches, Fail: worldtest.At(c.KillAt, func() error {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	})}
	if c.Undo {
		_, err = build.UndoWith(context.Background(), p, all[0], all[1:], build.UndoOptions{}, hooked)
	} else {
		_, err = build.ApplyWith(context.Background(), p, all[0], all[1:], job.Options{}, hooked)
	}
	if err != nil && !errors.Is(err, record.ErrNoMerge) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killed runs a child and reports whether it was killed before its end. The new database comes first.
func killed(t *testing.T, p *plan.Plan, all []world.Database, killAt int64, undo bool) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan.json")
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(p.Write(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	c := child{Plan: path, KillAt: killAt, Undo: undo, Batches: time.Microsecond} // many small batches
	for _, d := range all {
		c.Names, c.DSNs = append(c.Names, d.Name), append(c.DSNs, d.DSN)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := osexec.CommandContext(t.Context(), program, "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	if exit := new(osexec.ExitError); errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return true
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return false
}

// randomWorlds are two to four worlds with tables that are reset, and how to plan their
// merge.
func randomWorlds(t *testing.T, e worldtest.Engine, rnd *rand.Rand) ([]world.Database, planner.PlanOptions) {
	all, options := randomGame(t, e, rnd)
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.Name != "sqlite" {
		auto = "BIGINT PRIMARY KEY AUTO_INCREMENT"
	}
	for _, d := range all {
		worldtest.Exec(t, d, "CREATE TABLE online (id "+auto+", name VARCHAR(20) UNIQUE)",
			"CREATE TABLE visits (n BIGINT NOT NULL PRIMARY KEY, prev BIGINT, FOREIGN KEY (prev) REFERENCES visits (n))")
		for k := range rnd.IntN(30) {
			n := 9_000_000_000_000_000 + int64(k) // which nothing else names
			worldtest.Exec(t, d, fmt.Sprintf("INSERT INTO online VALUES (%d, 'n%d')", n, k), fmt.Sprintf("INSERT INTO visits VALUES (%d, %d)", n, n-int64(k%2)))
		}
	}
	options.Check.Tables = append(options.Check.Tables[:0:0], rules.TablePolicy{Tables: []string{"online", "visits"}, Policy: rules.PolicyReset})
	return all, options
}

// randomGame are worlds of players with some names in common, of keys that collide, or of
// odd tables.
func randomGame(t *testing.T, e worldtest.Engine, rnd *rand.Rand) ([]world.Database, planner.PlanOptions) {
	n := 2 + rnd.IntN(3)
	var all []world.Database
	if rnd.IntN(3) == 0 { // whose keys collide, and get new values
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint("w", i))
		}
		return worldtest.OldGame(t, e, names...), planner.PlanOptions{Check: worldtest.OldRules()}
	}
	if rnd.IntN(3) == 0 {
		for i := range n {
			all = append(all, worldtest.OddWorld(t, e, rnd, fmt.Sprint("w", i), i))
		}
		return all, worldtest.OddAllowed
	}
	for i := range n {
		all = append(all, worldtest.GameWorld(t, e, fmt.Sprint("w", i), gameid.ServerID(i+1), 1+rnd.IntN(60), []string{"same", "Same", "other"}[rnd.IntN(3)]))
	}
	keep := []plan.NamePolicy{
		{Table: "players", Column: "name", MaxLength: 32},
		{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepActive, By: "gold"},
		{Table: "players", Column: "name", MaxLength: 32, Keep: plan.KeepOlder, By: "gold", Template: "{source}-{name}"},
	}[rnd.IntN(3)]
	return all, planner.PlanOptions{Names: []plan.NamePolicy{keep}}
}

// A database server that is killed in the middle of a merge and started again
// is waited for, and the merge completes by itself.
func TestTortureDatabase(t *testing.T) {
	servertest.NotShort(t)
	server := servertest.Private(t)
	e := worldtest.EngineOn(server)
	worlds, kills := 1, 2
	if *worldtest.Long {
		worlds, kills = 10, 11
	}
	total := 0
	for w := range worlds {
		rnd := rand.New(rand.NewPCG(*worldtest.Seed+1, uint64(w)))
		all, options := randomWorlds(t, e, rnd)
		p, into := worldtest.PlanOf(t, e, all, options)
		var ofApply, ofUndo atomic.Int64 // points
		counting := func(points *atomic.Int64) job.Hooks {
			return job.Hooks{Clock: worldtest.FixedClock, Batch: time.Microsecond, Fail: func(string) error { points.Add(1); return nil }}
		}
		if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, counting(&ofApply)); err != nil {
			t.Fatal(err)
		}
		want := worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))
		if _, err := build.UndoWith(t.Context(), p, into, all, build.UndoOptions{}, counting(&ofUndo)); err != nil {
			t.Fatal(err)
		}
		// The server is killed at a random point, and up again when settled returns.
		kill := func(points *atomic.Int64) (killing job.Hooks, settled func()) {
			var dead atomic.Bool
			restarted := make(chan error, 1)
			killing = job.Hooks{Clock: worldtest.FixedClock, Batch: time.Microsecond, Fail: worldtest.At(rnd.Int64N(points.Load()), func() error {
				if err := server.Kill(); err != nil {
					return err
				}
				dead.Store(true)
				go func() { restarted <- server.Restart(t.Context()) }()
				return nil
			})}
			return killing, func() {
				if !dead.Load() {
					return
				}
				total++
				if err := <-restarted; err != nil {
					t.Fatal(err)
				}
			}
		}
		for range kills {
			killing, settled := kill(&ofApply)
			_, err := build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: time.Minute}, killing)
			settled()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, worldtest.RowsMade(t, p, worldtest.Clone(t, e, into))); diff != "" {
				t.Fatalf("world %d: not the result of a smooth run (-smooth +resumed):\n%s", w, diff)
			}
			killing, settled = kill(&ofUndo)
			_, err = build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: job.Options{RetryFor: time.Minute}}, killing)
			settled()
			if err != nil && !errors.Is(err, record.ErrNoMerge) {
				t.Fatal(err)
			}
			if there, err := worldtest.ExistsNow(t.Context(), into); err != nil || there {
				t.Fatalf("world %d: %s is there after its undo: %v", w, into.Name, err)
			}
		}
	}
	t.Logf("%d plans of seed %d, in each of which the database was killed at random points: %d kills", worlds, *worldtest.Seed+1, total)
	if *worldtest.Long && total < 200 {
		t.Errorf("killed %d times, want 200", total)
	}
}
