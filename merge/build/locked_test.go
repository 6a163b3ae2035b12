package build_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/internal/worldregistry"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// Who reads a table that another connection has locked does not wait for it in silence: each command ends, and says which
// connection that may be, or how to find it. Who writes can be begun again.
func TestLockedTableIsTold(t *testing.T) {
	servertest.NotShort(t)
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		now := job.Options{RetryFor: -1}
		var all sync.WaitGroup
		// locked locks a table of one database of a merge, and begins the commands there.
		locked := func(made, inNew bool, table string, commands ...string) {
			t.Helper()
			worlds := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 5, "anna"), worldtest.GameWorld(t, e, "s2", 2, 5, "bert")}
			p, into := worldtest.PlanOf(t, e, worlds, planner.PlanOptions{})
			if made {
				worldtest.MustApply(t, p, into, worlds)
			}
			d := worlds[1]
			if inNew {
				d = into
			}
			pool := worldtest.Pool(t, d)
			conn, err := pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(); pool.Close() })
			var id int
			if err := conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ExecContext(t.Context(), "LOCK TABLES "+table+" WRITE"); err != nil {
				t.Fatal(err)
			}
			run := map[string]func() error{
				"plan":   func() error { _, err := planner.NewPlan(t.Context(), into, worlds, planner.PlanOptions{}); return err },
				"status": func() error { _, err := build.LookUp(t.Context(), p, into, worlds); return err },
				"apply":  func() error { _, err := build.Apply(t.Context(), p, into, worlds, now); return err },
				"verify": func() error { _, err := prove.Verify(t.Context(), p, into, worlds, now); return err },
				"open": func() error {
					_, err := build.Open(t.Context(), p, into, worlds, build.Options{Options: now})
					return err
				},
				"undo": func() error {
					_, err := build.Undo(t.Context(), p, into, worlds, build.UndoOptions{Options: now})
					return err
				},
			}
			for _, name := range commands {
				all.Go(func() {
					err := run[name]()
					text := fmt.Sprint(err)
					named := strings.Contains(text, fmt.Sprintf("connection %d of ", id)) || strings.Contains(text, "PROCESS privilege") // TestHolderIsNamed says which
					if !named || !strings.Contains(text, "KILL") {
						t.Errorf("%s, while %s of %s is locked by connection %d: %v", name, table, d.Name, id, err)
					}
					if name != "plan" && name != "status" && !errors.Is(err, record.ErrStopped) {
						t.Errorf("%s is not to be begun again: %v", name, err)
					}
				})
			}
		}
		locked(false, false, "players", "plan")
		locked(false, false, "players", "apply")
		locked(false, false, worldregistry.Table, "plan")
		locked(false, false, worldregistry.Table, "status", "apply")
		locked(true, false, worldregistry.Table, "status", "verify", "open", "undo")
		locked(true, true, record.RecordTable, "status", "verify", "open", "undo")
		all.Wait()
	})
}
