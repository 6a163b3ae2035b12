package merge

import (
	"fmt"
	"slices"
	"testing"

	"mergesafe/merge/planner"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/merge/world"
)

// resetWorlds are two worlds: of characters, of who is online with a generated column, of
// visits to characters (a foreign key), and of a queue without a key (but with a CHECK).
func resetWorlds(t testing.TB, e engine) (all []world.Database) {
	t.Helper()
	auto := "INTEGER PRIMARY KEY AUTOINCREMENT"
	if e.name != "sqlite" {
		auto = "INTEGER PRIMARY KEY AUTO_INCREMENT"
	}
	for i, name := range []string{"s1", "s2"} {
		d := e.fresh(t, name)
		exec(t, d,
			"CREATE TABLE chars (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE)",
			"CREATE TABLE online (id "+auto+", twice INTEGER AS (seen * 2), name VARCHAR(20) UNIQUE, seen INTEGER, place VARCHAR(9))",
			"CREATE TABLE visits (n INTEGER NOT NULL PRIMARY KEY, who INTEGER, FOREIGN KEY (who) REFERENCES chars (id))",
			"CREATE TABLE queue (what VARCHAR(20), CONSTRAINT some CHECK (what <> ''))")
		for k := range 3 {
			id := 100*i + k
			exec(t, d, fmt.Sprintf("INSERT INTO chars VALUES (%d, 'c%d')", id, id),
				fmt.Sprintf("INSERT INTO online (id, name, seen) VALUES (%d, 'c%d', %d)", 4000+id, id, k),
				fmt.Sprintf("INSERT INTO visits VALUES (%d, %d)", id+7, id),
				"INSERT INTO queue VALUES ('again'), (NULL)")
		}
		all = append(all, d)
	}
	return all
}

var resetOptions = planner.PlanOptions{Check: rules.Options{Rules: namesNothing, Allow: []string{verdict.CodeAutoIncrement},
	Tables: []rules.TablePolicy{{Tables: []string{"online", "visits", "queue"}, Policy: rules.PolicyReset}}}}

// Tables of the policy reset are made, and have no row; the proof finds one that came from elsewhere. The worlds keep
// theirs.
func TestReset(t *testing.T) {
	onEach(t, func(t *testing.T, e engine) {
		all := resetWorlds(t, e)
		before := []string{dump(t, all[0]), dump(t, all[1])}
		p, into := planOf(t, e, all, resetOptions)
		if !slices.Equal(slices.Sorted(slices.Values(p.Resets)), []string{"online", "queue", "visits"}) || len(p.Tables) != 1 {
			t.Fatalf("%v are reset, %d tables are copied", p.Resets, len(p.Tables))
		}
		mustApply(t, p, into, all)
		asked(t, into, "SELECT (SELECT COUNT(*) FROM online), (SELECT COUNT(*) FROM visits), (SELECT COUNT(*) FROM queue), (SELECT COUNT(*) FROM chars)", "0|0|0|6")
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Pass || len(proof.Resets) != 3 {
			t.Fatalf("%+v", proof)
		}
		exec(t, into, "INSERT INTO queue VALUES ('new')")
		if proof := verified(t, p, into, all); proof.Verdict != verdict.Fail || proof.Resets[slices.Index(p.Resets, "queue")].Verdict != verdict.Fail {
			t.Errorf("%+v", proof.Resets)
		}
		if !slices.Equal(before, []string{dump(t, all[0]), dump(t, all[1])}) {
			t.Error("a world was changed")
		}
	})
}
