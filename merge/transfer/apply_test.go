package transfer

import (
	"testing"
)

// A merge of two worlds into a third: every row arrives, and the target's
// registry lists the worlds.
func TestApply(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		target := gameWorld(t, e, "s1", 1, 20, "anna")
		sources := []Database{gameWorld(t, e, "s2", 2, 30, "bert"), gameWorld(t, e, "s3", 3, 0, "x")}
		p := mustPlan(t, target, sources, PlanOptions{})
		result, err := Apply(t.Context(), p, target, sources, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(30 + 90 + 3 + 3); result.Rows != want || result.Resumed {
			t.Errorf("%+v, want %d rows", result, want)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM players"); n != 50 {
			t.Errorf("%d players", n)
		}
		if n := number(t, target, "SELECT COUNT(*) FROM gameid_servers WHERE role = 'merged'"); n != 2 {
			t.Errorf("%d merged servers", n)
		}
		startable(t, target, 1, true)
		startable(t, sources[0], 2, false)
	})
}
