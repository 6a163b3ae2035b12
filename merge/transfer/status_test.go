package transfer

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// At every moment the status says what is there, and looking changes nothing.
func TestLookUp(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		target := gameWorld(t, e, "s1", 1, 20, "anna")
		sources := []Database{gameWorld(t, e, "s2", 2, 1500, "bert"), gameWorld(t, e, "s3", 3, 11, "carl")}
		p := mustPlan(t, target, sources, PlanOptions{})
		look := func(state State, copied, removed int64, guarded, fenced bool) {
			t.Helper()
			before := dump(t, target) + dump(t, sources[0])
			s, err := LookUp(t.Context(), p, target, sources)
			if err != nil {
				t.Fatal(err)
			}
			if s.ID != p.ID || s.State != state || s.Copied() != copied || s.Removed() != removed {
				t.Errorf("%+v; want %s with %d copied and %d removed", s, state, copied, removed)
			}
			want := []FenceStatus{{"s1", "1", guarded}, {"s2", "2", fenced}, {"s3", "3", fenced}}
			if diff := cmp.Diff(want, s.Fences); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, dump(t, target)+dump(t, sources[0])); diff != "" {
				t.Errorf("looking changed something:\n%s", diff)
			}
		}
		look(StateNone, 0, 0, false, false)

		// The first batch is of 1000 rows.
		interrupted := func(step string) (Options, hooks) {
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			return Options{Progress: func(p Progress) {
				if p.Step == step && p.Rows > 0 {
					cancel()
				}
			}, RetryFor: -1}, hooks{clock: fixedClock, fail: func(string) error { return ctx.Err() }}
		}
		options, hooked := interrupted(StepCopy)
		if _, err := applyWith(t.Context(), p, target, sources, options, hooked); err == nil {
			t.Fatal("nothing went wrong")
		}
		n := number(t, target, "SELECT COUNT(*) FROM players") - 20 + number(t, target, "SELECT COUNT(*) FROM guilds") - 2
		if n == 0 {
			t.Fatal("nothing was copied")
		}
		look(StateCopying, n, 0, true, true)
		if _, err := Apply(t.Context(), p, target, sources, Options{}); err != nil {
			t.Fatal(err)
		}
		look(StateCopied, p.Rows(), 0, false, true)
		options, hooked = interrupted(StepUndo)
		if _, err := undoWith(t.Context(), p, target, sources, UndoOptions{Options: options}, hooked); err == nil {
			t.Fatal("nothing went wrong")
		}
		left := number(t, target, "SELECT (SELECT COUNT(*) FROM players) + (SELECT COUNT(*) FROM items) + (SELECT COUNT(*) FROM guilds) + (SELECT COUNT(*) FROM guild_members)") - 20 - 60 - 2 - 2
		if left == p.Rows() {
			t.Fatal("nothing was removed")
		}
		look(StateUndoing, p.Rows(), p.Rows()-left, true, true)
		if _, err := Undo(t.Context(), p, target, sources, UndoOptions{}); err != nil {
			t.Fatal(err)
		}
		look(StateNone, 0, 0, false, false)
	})
}
