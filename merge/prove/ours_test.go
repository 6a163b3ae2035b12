package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/planner"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// What the merge wrote into tables of its own is asked for: marks of merged servers, parts of the schema, earlier merges and
// renames. Until the database is opened its registry lists no other server; afterwards marks may be higher.
func TestVerifyOurs(t *testing.T) {
	const another = "INSERT INTO gameid_servers (server_id, name, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, fleet, window_ms) " +
		"SELECT 77, name, 'yy', role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms, fleet, window_ms FROM gameid_servers WHERE server_id = 2"
	const higher = "UPDATE gameid_servers SET reserved_ms = reserved_ms + 1 WHERE role = 'merged'"
	worldtest.OnEach(t, func(t *testing.T, e worldtest.Engine) {
		first := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 3, "anna"), worldtest.GameWorld(t, e, "s2", 2, 4, "bert")}
		p, older := worldtest.MergeOf(t, e, first, planner.PlanOptions{})
		worldtest.Opened(t, p, older, first)
		worlds := []world.Database{worldtest.GameWorld(t, e, "s3", 3, 3, "carl"), older}
		into := e.Fresh(t, "next")
		p = worldtest.MustPlan(t, into, worlds, planner.PlanOptions{})
		worldtest.MustApply(t, p, into, worlds)
		finds := func(want ...string) {
			t.Helper()
			proof := worldtest.Verified(t, p, into, worlds)
			if (len(want) == 0) != (proof.Verdict == verdict.Pass) {
				t.Errorf("%s, want findings %q: %v", proof.Verdict, want, proof.Findings)
			}
			for _, w := range want {
				if !strings.Contains(fmt.Sprint(proof.Findings), w) {
					t.Errorf("no %q among %v", w, proof.Findings)
				}
			}
		}
		finds()
		worldtest.Exec(t, into, higher)
		finds("the mark of server 1 is ", "the mark of server 2 is ")
		worldtest.Exec(t, into, "UPDATE gameid_servers SET reserved_ms = reserved_ms - 1 WHERE role = 'merged'")
		worldtest.Exec(t, into, another)
		finds("its registry lists server 77 of world yy, which no world had")
		worldtest.Exec(t, into, "DELETE FROM gameid_servers WHERE server_id = 77")
		finds()

		worldtest.Opened(t, p, into, worlds)
		worldtest.Exec(t, into, higher)
		worldtest.Exec(t, into, another)
		finds()
		worldtest.Exec(t, into, "UPDATE gameid_servers SET reserved_ms = 0 WHERE role = 'merged'")
		worldtest.Exec(t, into, "UPDATE mergesafe_merges SET later = ''")
		worldtest.Exec(t, into, "INSERT INTO mergesafe_renames (merge_id, n, source, world, tab, col, row_key, old_value, new_value) VALUES ('x', 0, '', '', '', '', '', '', '')")
		finds("the mark of server 1 is 0, and was ", "the table mergesafe_merges does not have the rows", "the table mergesafe_renames does not have the rows")
		worldtest.Exec(t, into, "DELETE FROM mergesafe_schema")
		worldtest.Exec(t, into, "DELETE FROM mergesafe_merges")
		finds("the table mergesafe_schema does not say that there is ", "the table mergesafe_merges does not have the rows")
		worldtest.Exec(t, into, "DROP TABLE mergesafe_renames")
		finds("the table mergesafe_renames is missing")
	})
}
