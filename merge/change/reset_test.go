package change_test

import (
	"slices"
	"testing"

	"mergesafe/merge/verdict"
	"mergesafe/merge/worldtest"
)

// Tables of the policy reset are made, and have no row; the proof finds one that came from elsewhere. The worlds keep
// theirs.
func TestReset(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		all := worldtest.ResetWorlds(t, e)
		before := []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}
		p, into := worldtest.PlanOf(t, e, all, worldtest.ResetOptions)
		if !slices.Equal(slices.Sorted(slices.Values(p.Resets)), []string{"online", "queue", "visits"}) || len(p.Tables) != 1 {
			t.Fatalf("%v are reset, %d tables are copied", p.Resets, len(p.Tables))
		}
		worldtest.MustApply(t, p, into, all)
		worldtest.Asked(t, into, "SELECT (SELECT COUNT(*) FROM online), (SELECT COUNT(*) FROM visits), (SELECT COUNT(*) FROM queue), (SELECT COUNT(*) FROM chars)", "0|0|0|6")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Pass || len(proof.Resets) != 3 {
			t.Fatalf("%+v", proof)
		}
		worldtest.Exec(t, into, "INSERT INTO queue VALUES ('new')")
		if proof := worldtest.Verified(t, p, into, all); proof.Verdict != verdict.Fail || proof.Resets[slices.Index(p.Resets, "queue")].Verdict != verdict.Fail {
			t.Errorf("%+v", proof.Resets)
		}
		if !slices.Equal(before, []string{worldtest.Dump(t, all[0]), worldtest.Dump(t, all[1])}) {
			t.Error("a world was changed")
		}
	})
}
