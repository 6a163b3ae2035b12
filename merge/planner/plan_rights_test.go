package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/job"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// A plan that was made with an account that may only read names the rights that
// apply takes, and is the plan that another account makes, but for the grants that it shows.
func TestPlanNamesTheRightsThatAreMissing(t *testing.T) {
	servertest.OnMySQLToo(t, testPlanNamesTheRightsThatAreMissing)
}

func testPlanNamesTheRightsThatAreMissing(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	full, _ := worldtest.PlanOf(t, e, all, planner.PlanOptions{})
	if len(full.Lacks) > 0 {
		t.Errorf("who may do everything lacks %v", full.Lacks)
	}
	as := func(rights string) []string {
		some := append([]world.Database{}, all...)
		for i, d := range all {
			some[i].DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(d.DSN, "mysql:"))
		}
		p := worldtest.MustPlan(t, e.Fresh(t, "new"), some, planner.PlanOptions{})
		same := *p
		same.New.Grants, same.New.Unseen = full.New.Grants, full.New.Unseen // of which it may see less
		if same.Fingerprint() != full.ID {
			t.Errorf("with %s it is another plan:\n%s", rights, cmp.Diff(full, p))
		}
		return p.Lacks
	}
	for rights, want := range map[string][]string{
		"SELECT, TRIGGER, EVENT, EXECUTE":         {"s1: UPDATE on gameid_servers", "s2: UPDATE on gameid_servers"},
		"SELECT, TRIGGER, EVENT, EXECUTE, UPDATE": nil,
	} {
		if diff := cmp.Diff(want, as(rights)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rights, diff)
		}
	}
}

// An account that may not make the new database as a whole is told so by the plan, and apply begins
// nothing: it would leave a part that the account cannot drop.
func TestIntoNamesTheRightsThatAreMissing(t *testing.T) {
	servertest.OnMySQLToo(t, testIntoNamesTheRightsThatAreMissing)
}

func testIntoNamesTheRightsThatAreMissing(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 4, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	into := e.Fresh(t, "new")
	for rights, want := range map[string]string{
		"CREATE, DROP": "SELECT, INSERT, UPDATE, DELETE, ALTER, INDEX, REFERENCES, CREATE VIEW, TRIGGER, EVENT, EXECUTE, LOCK TABLES",
		"SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, REFERENCES": "INDEX, CREATE VIEW, TRIGGER, EVENT, EXECUTE, LOCK TABLES",
		"ALL": "",
	} {
		to := into
		to.DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(into.DSN, "mysql:"))
		p := worldtest.MustPlan(t, to, all, planner.PlanOptions{})
		if want == "" {
			if len(p.Lacks) > 0 {
				t.Errorf("with %s it lacks %q", rights, p.Lacks)
			}
			continue
		}
		if says := strings.Join(p.Lacks, "\n"); !strings.HasPrefix(says, "new: "+want+". To do: GRANT "+want+" ON `") {
			t.Errorf("with %s it lacks %q", rights, says)
		}
		_, err := build.Apply(t.Context(), p, to, all, job.Options{})
		if err == nil || !strings.Contains(err.Error(), "the account lacks rights on it: "+want) {
			t.Errorf("apply with %s: %v", rights, err)
		}
		if n := worldtest.Number(t, into, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"); n != 0 {
			t.Errorf("with %s apply made %d tables", rights, n)
		}
	}
}
