package transfer

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/undo"
)

// At every moment the status says what is there, and looking changes nothing.
func TestLookUp(t *testing.T) {
	servertest.NotShort(t)
	onEach(t, func(t *testing.T, e engine) {
		target := gameWorld(t, e, "s1", 1, 20, "anna")
		sources := []rowio.Database{gameWorld(t, e, "s2", 2, 1500, "bert"), gameWorld(t, e, "s3", 3, 11, "carl")}
		p := mustPlan(t, target, sources, planner.PlanOptions{})
		look := func(state ledger.State, copied, removed int64, guarded, fenced bool) {
			t.Helper()
			before := dump(t, target) + dump(t, sources[0])
			s, err := apply.LookUp(t.Context(), p, target, sources)
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != p.ID || s.State != state || s.Copied() != copied || s.Removed() != removed {
				t.Errorf("%+v; want %s with %d copied and %d removed", s, state, copied, removed)
			}
			want := []apply.FenceStatus{{Source: "s1", Server: "1", Fenced: guarded}, {Source: "s2", Server: "2", Fenced: fenced}, {Source: "s3", Server: "3", Fenced: fenced}}
			if diff := cmp.Diff(want, s.Fences); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, dump(t, target)+dump(t, sources[0])); diff != "" {
				t.Errorf("looking changed something:\n%s", diff)
			}
		}
		look(ledger.StateNone, 0, 0, false, false)

		// The first batch is of 1000 rows.
		interrupted := func(step string) (job.Options, job.Hooks) {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			return job.Options{Progress: func(p job.Progress) {
				if p.Step == step && p.Rows > 0 {
					cancel()
				}
			}, RetryFor: -1}, job.Hooks{Clock: fixedClock, Fail: func(string) error { return ctx.Err() }}
		}
		options, hooked := interrupted(ledger.StepCopy)
		if _, err := apply.ApplyWith(t.Context(), p, target, sources, options, hooked); err == nil {
			t.Fatal("nothing went wrong")
		}
		n := number(t, target, "SELECT COUNT(*) FROM players") - 20 + number(t, target, "SELECT COUNT(*) FROM guilds") - 2
		if n == 0 {
			t.Fatal("nothing was copied")
		}
		look(ledger.StateCopying, n, 0, true, true)
		if _, err := apply.Apply(t.Context(), p, target, sources, job.Options{}); err != nil {
			t.Fatal(err)
		}
		look(ledger.StateCopied, p.Rows(), 0, false, true)
		options, hooked = interrupted(ledger.StepUndo)
		if _, err := undo.UndoWith(t.Context(), p, target, sources, undo.UndoOptions{Options: options}, hooked); err == nil {
			t.Fatal("nothing went wrong")
		}
		left := number(t, target, "SELECT (SELECT COUNT(*) FROM players) + (SELECT COUNT(*) FROM items) + (SELECT COUNT(*) FROM guilds) + (SELECT COUNT(*) FROM guild_members)") - 20 - 60 - 2 - 2
		if left == p.Rows() {
			t.Fatal("nothing was removed")
		}
		look(ledger.StateUndoing, p.Rows(), p.Rows()-left, true, true)
		if _, err := undo.Undo(t.Context(), p, target, sources, undo.UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		look(ledger.StateNone, 0, 0, false, false)
	})
}
