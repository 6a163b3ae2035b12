package transfer

import (
	"strings"
	"testing"
)

// A table that cannot roll back is refused, and said not to be copied.
func TestEngineWithoutRollback(t *testing.T) {
	for _, engine := range []string{"MyISAM", "Aria"} {
		t.Run(engine, func(t *testing.T) {
			e := engines()[1] // MariaDB
			all := []Database{e.fresh(t, "a"), e.fresh(t, "b")}
			for i, d := range all {
				exec(t, d, "CREATE TABLE safe (id INT PRIMARY KEY) ENGINE=InnoDB", "CREATE TABLE unsafe (id INT PRIMARY KEY) ENGINE="+engine,
					[]string{"INSERT INTO safe VALUES (1)", "INSERT INTO safe VALUES (2)"}[i], []string{"INSERT INTO unsafe VALUES (1)", "INSERT INTO unsafe VALUES (2)"}[i])
			}
			p, err := NewPlan(t.Context(), all[0], all[1:], PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			named := false
			for _, r := range p.Refusals {
				named = named || r.Table == "unsafe" && strings.Contains(r.Reason, engine)
			}
			if !named || p.table("unsafe") != nil {
				t.Errorf("it would be copied: %v", p.Refusals)
			}
			if len(p.Left) != 1 || p.Left[0].Table != "unsafe" || !strings.Contains(p.Left[0].Reason, "b: "+engine) {
				t.Errorf("left out: %v", p.Left)
			}
			if _, err := Apply(t.Context(), p, all[0], all[1:], Options{}); err == nil {
				t.Error("it was merged")
			}
		})
	}
}
