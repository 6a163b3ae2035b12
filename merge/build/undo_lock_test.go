package build_test

import (
	"context"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What a client commits while an undo runs is never lost: at each point it is refused to the client, as the
// table is locked or gone, or the undo is refused and drops nothing. Without a registry nothing else keeps a game out.
func TestUndoWhileOthersWrite(t *testing.T) {
	servertest.NotShort(t)
	servertest.OnMySQLToo(t, func(t *testing.T) {
		e := worldtest.Engines()[1]
		for _, registry := range []bool{false, true} {
			wrote, kept := 0, 0
			for n, met := 0, true; met; n += servertest.Scale(23, 1) {
				write := "INSERT INTO things (id, note) VALUES (777, 'late')"
				all, options := []world.Database{worldtest.ManyRows(t, e, "s1", 1, 5), worldtest.ManyRows(t, e, "s2", 100, 5)}, worldtest.ManyOptions
				if registry {
					write = "UPDATE items SET count = count + 1"
					all, options = []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}, planner.PlanOptions{}
				}
				if !registry {
					worldtest.Exec(t, all[0], "CREATE VIEW seen AS SELECT note FROM things")
					worldtest.Exec(t, all[1], "CREATE VIEW seen AS SELECT note FROM things")
				}
				p, into := worldtest.MergeOf(t, e, all, options)
				worldtest.Opened(t, p, into, all)
				client, err := worldtest.Pool(t, into).Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := client.ExecContext(t.Context(), "SET SESSION lock_wait_timeout = 1"); err != nil {
					t.Fatal(err)
				}
				points, last := 0, ""
				var refused error
				met = false
				_, err = build.UndoWith(t.Context(), p, into, all, build.UndoOptions{Options: patient}, job.Hooks{Fail: func(point string) error {
					if points++; points-1 == n {
						met, last = true, point
						_, refused = client.ExecContext(context.WithoutCancel(t.Context()), write)
					}
					return nil
				}})
				client.Close()
				there, lookErr := worldtest.ExistsNow(t.Context(), into)
				switch {
				case lookErr != nil:
					t.Fatal(lookErr)
				case !met:
				case refused == nil:
					wrote++
					if !there {
						t.Errorf("point %d (%s): the write is lost: %v", n, last, err)
					}
					worldtest.RefusedBecause(t, "undo", "changes there would be lost", err)
				case err != nil || there:
					t.Errorf("point %d (%s): the client was refused: %v; but the undo: %v", n, last, refused, err)
				default:
					kept++
				}
			}
			t.Logf("registry %t: written at %d points, kept out at %d", registry, wrote, kept)
			if wrote == 0 || kept == 0 {
				t.Errorf("registry %t: written at %d points, kept out at %d: want both", registry, wrote, kept)
			}
		}
	})
}
