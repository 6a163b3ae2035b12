package transfer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
)

// A plan that was made with an account that may only read names the rights that
// apply takes, and is the plan that another account makes.
func TestPlanNamesTheRightsThatAreMissing(t *testing.T) {
	e := engines()[1]
	all := []rowio.Database{gameWorld(t, e, "s1", 1, 4, "a"), gameWorld(t, e, "s2", 2, 4, "b")}
	full := mustPlan(t, all[0], all[1:], planner.PlanOptions{})
	if len(full.Lacks) > 0 {
		t.Errorf("who may do everything lacks %v", full.Lacks)
	}
	as := func(rights string) []string {
		some := append([]rowio.Database{}, all...)
		for i, d := range all {
			some[i].DSN = "mysql:" + servertest.Grant(t, rights, strings.TrimPrefix(d.DSN, "mysql:"))
		}
		p := mustPlan(t, some[0], some[1:], planner.PlanOptions{})
		if p.ID != full.ID {
			t.Errorf("with %s it is another plan", rights)
		}
		return p.Lacks
	}
	const tables = "guild_members, guilds, items, and 1 more"
	for rights, want := range map[string][]string{
		"SELECT, TRIGGER":                         {"s1: INSERT on " + tables, "s1: DELETE on " + tables, "s1: UPDATE on gameid_servers", "s2: UPDATE on gameid_servers"},
		"SELECT, TRIGGER, INSERT, UPDATE":         {"s1: DELETE on " + tables},
		"SELECT, TRIGGER, INSERT, UPDATE, DELETE": nil,
	} {
		if diff := cmp.Diff(want, as(rights)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", rights, diff)
		}
	}
}
