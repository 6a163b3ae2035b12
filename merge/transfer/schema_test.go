package transfer

import (
	"fmt"
	"slices"
	"testing"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/planner"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/verdict"
)

// The tables of a world come into an empty database as they are, and one world with new
// keys into these. A database that has tables is left as it is.
func TestRebase(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		world, empty := oldGame(t, e, "s1")[0], e.fresh(t, "try")
		exec(t, world, "CREATE INDEX by_owner ON items (owner)", "CREATE VIEW rich AS SELECT name FROM chars WHERE level > 3")
		made, err := apply.MakeSchema(t.Context(), world, empty)
		if err != nil || made.Tables != 6 || !slices.Contains(made.Left, "view rich") {
			t.Fatalf("%+v, %v", made, err)
		}
		again, err := apply.MakeSchema(t.Context(), world, empty)
		if err != nil || again.Tables != 0 {
			t.Fatalf("%+v, %v", again, err)
		}
		if err := made.Unmake(t.Context(), empty); err != nil {
			t.Fatal(err)
		}
		if made, err = apply.MakeSchema(t.Context(), world, empty); err != nil || made.Tables != 6 {
			t.Fatalf("%+v, %v: the tables were not dropped", made, err)
		}
		options := oldRules()
		options.Allow = []string{verdict.CodeSchemaView}
		options.Rekey.Offsets = map[string]uint64{"s1": 50_000}
		p := mustPlan(t, empty, []rowio.Database{world}, planner.PlanOptions{Check: options, NoFence: true})
		if p.Target.Schema != p.Sources[0].Schema {
			t.Error("the tables are not made alike")
		}
		if _, err := apply.Apply(t.Context(), p, empty, []rowio.Database{world}, job.Options{}); err != nil {
			t.Fatal(err)
		}
		if proof := verified(t, p, empty, []rowio.Database{world}); proof.Verdict != verdict.Pass {
			t.Fatalf("%+v", proof.Keys)
		}
		db := pool(t, empty)
		defer db.Close()
		if got := fmt.Sprint(readCell(t, db, "SELECT id, owner, prev FROM items WHERE id IN (50011, 50030) ORDER BY id")); got != "[[50011 50005 50001] [50030 0 50009]]" {
			t.Error(got)
		}
	})
}

// What a server tells of a counter is left out, wherever else the words stand.
func TestWithoutCounter(t *testing.T) {
	for create, want := range map[string]string{
		"CREATE TABLE `t` (\n  `a` int COMMENT ' AUTO_INCREMENT=5'\n) ENGINE=InnoDB AUTO_INCREMENT=7 DEFAULT CHARSET=utf8mb4 COMMENT='say AUTO_INCREMENT=9'": "CREATE TABLE `t` (\n  `a` int COMMENT ' AUTO_INCREMENT=5'\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='say AUTO_INCREMENT=9'",
		"CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB": "CREATE TABLE `t` (\n  `a` int\n) ENGINE=InnoDB",
	} {
		if got := apply.WithoutCounter(create); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
