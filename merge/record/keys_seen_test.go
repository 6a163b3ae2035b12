package record_test

import (
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/keys"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// The keys that come by count only if all did, and none of them is doubtful.
func TestSeenKeys(t *testing.T) {
	p := &plan.Plan{Rekey: &verdict.Rekeying{Columns: []verdict.RekeyedColumn{{Table: "items", Column: "id", Key: true}, {Table: "items", Column: "owner"}}}}
	l := &world.Layout{Table: "items", Columns: []string{"owner", "id"}}
	s := record.NewSeenKeys()
	s.Add(p, 1, l, [][]any{{int64(7), int64(3)}, {int64(7), uint64(1 << 63)}})
	s.Add(p, 1, l, [][]any{{int64(7), []byte("1")}})
	if got := s.All(1, "items", "id", 3); got == nil || got.Len() != 3 || got.Range().High.String() != "9223372036854775808" {
		t.Errorf("of 3 rows: %v", got)
	}
	for what, got := range map[string]*keys.Set{
		"too few":      s.All(1, "items", "id", 4),
		"too many":     s.All(1, "items", "id", 2),
		"no key":       s.All(1, "items", "owner", 1),
		"other source": s.All(0, "items", "id", 0),
	} {
		if got != nil {
			t.Errorf("%s: %v", what, got)
		}
	}
	if s.Forget(1, "items"); s.All(1, "items", "id", 3) != nil {
		t.Error("forgotten keys are told")
	}
}

// The keys that are remembered are the same, whether they came by or some of them were
// copied by a process before.
func TestRememberedAfterResuming(t *testing.T) {
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		many := "INSERT INTO items SELECT 10 + 5 * a.guid + b.guid, a.guid, 'w%d' FROM chars AS a CROSS JOIN chars AS b"
		all := worldtest.KeyWorlds(t, e, 3, many, "UPDATE items SET id = id + 5000 WHERE id = 28")
		p, smooth := worldtest.PlanOf(t, e, all, worldtest.KeyOptions(nil))
		if _, err := build.ApplyWith(t.Context(), p, smooth, all, job.Options{}, job.Hooks{Clock: worldtest.FixedClock}); err != nil {
			t.Fatal(err)
		}
		remembered := func(d world.Database) [][]string {
			db := worldtest.Pool(t, d)
			defer db.Close()
			return worldtest.ReadCell(t, db, "SELECT path, tab, col, part, shift, low, high, n, HEX(data) FROM "+record.KeysTable+" ORDER BY path, tab, col, part")
		}
		want, n := remembered(smooth), worldtest.Points(t, p, e.Fresh(t, "new"), all)
		for _, i := range []int64{n / 3, n / 2, 2 * n / 3, 5 * n / 6} {
			into := e.Fresh(t, "new")
			fail := worldtest.At(i, func() error { return driver.ErrBadConn })
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{RetryFor: -1}, job.Hooks{Clock: worldtest.FixedClock, Fail: fail}); err != nil && !errors.Is(err, record.ErrStopped) {
				t.Fatalf("point %d: %v", i, err)
			}
			if _, err := build.ApplyWith(t.Context(), p, into, all, job.Options{}, job.Hooks{Clock: worldtest.FixedClock}); err != nil {
				t.Fatalf("point %d, again: %v", i, err)
			}
			if diff := cmp.Diff(want, remembered(into)); diff != "" {
				t.Errorf("point %d (-smooth +resumed):\n%s", i, diff)
			}
		}
	})
}
