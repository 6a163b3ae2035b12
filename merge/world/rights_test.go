package world_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/merge/build"
	"mergesafe/merge/planner"
	"mergesafe/merge/world"
	"mergesafe/merge/worldtest"
)

// An account that may do all in the new database, and in the worlds only read and write fences, is told by one plan
// what it lacks: with the statements that the plan names it carries the whole merge out, with views, triggers and
// routines of which it is the definer. A definer that it cannot set is named as well.
func TestRightsOfOneAccount(t *testing.T) { servertest.OnMySQLToo(t, testRightsOfOneAccount) }

func testRightsOfOneAccount(t *testing.T) {
	e := worldtest.Engines()[1]
	all := []world.Database{worldtest.GameWorld(t, e, "s1", 1, 6, "a"), worldtest.GameWorld(t, e, "s2", 2, 4, "b")}
	into := e.Fresh(t, "new")
	plain := func(d world.Database) string { return strings.TrimPrefix(d.DSN, "mysql:") }
	granted := world.Database{Name: "new", DSN: "mysql:" + servertest.Grant(t, "ALL PRIVILEGES", plain(into))}
	user := strings.SplitN(plain(granted), ":", 2)
	name := func(d world.Database) string {
		_, rest, _ := strings.Cut(d.DSN, ")/")
		database, _, _ := strings.Cut(rest, "?")
		return database
	}
	admin := servertest.Admin(t)
	do := func(statement string) {
		t.Helper()
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	worlds := make([]world.Database, len(all))
	for i, d := range all {
		do("GRANT SELECT ON `" + name(d) + "`.* TO '" + user[0] + "'@'%'")
		do("GRANT UPDATE ON `" + name(d) + "`.`gameid_servers` TO '" + user[0] + "'@'%'")
		worlds[i] = world.Database{Name: d.Name, DSN: strings.Replace(granted.DSN, name(into), name(d), 1)}
		definer := "DEFINER='" + user[0] + "'@'%'"
		worldtest.Exec(t, d, "CREATE "+definer+" VIEW rich AS SELECT name FROM players WHERE gold > 1000", "CREATE TABLE log (n INT)",
			"CREATE "+definer+" TRIGGER gone AFTER DELETE ON items FOR EACH ROW INSERT INTO log VALUES (1)",
			"CREATE "+definer+" FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n")
	}
	statements := regexp.MustCompile(`GRANT [A-Z ]+ ON \S+ TO [^ ,;]+`)
	p := worldtest.Planned(t, granted, worlds, planner.PlanOptions{})
	said := fmt.Sprint(p.Refusals, p.Lacks)
	for _, statement := range statements.FindAllString(said, -1) {
		do(statement)
		t.Log(statement)
	}
	p, err := planner.NewPlan(t.Context(), granted, worlds, planner.PlanOptions{})
	if err != nil || len(p.Refusals) > 0 || len(p.Lacks) > 0 {
		t.Fatalf("after what the plan named (%s): refused for %v, lacks %v, %v", said, p.Refusals, p.Lacks, err)
	}
	worldtest.MustApply(t, p, granted, worlds)
	worldtest.Opened(t, p, granted, worlds)
	if undone, err := build.Undo(t.Context(), p, granted, worlds, build.UndoOptions{}); err != nil || len(undone.Others) > 0 {
		t.Errorf("%+v, %v", undone, err)
	}
	worldtest.Exec(t, all[0], "DROP VIEW rich", "CREATE DEFINER='root'@'localhost' VIEW rich AS SELECT name FROM players")
	p, err = planner.NewPlan(t.Context(), granted, worlds, planner.PlanOptions{})
	if err != nil || len(p.Refusals) == 0 || !strings.Contains(fmt.Sprint(p.Refusals), "view rich") {
		t.Errorf("a view of another definer: refused for %v, %v", p.Refusals, err)
	}
}
