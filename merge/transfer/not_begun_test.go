package transfer

import (
	"strings"
	"testing"
)

// What is missing is said by its name: a merge that was not begun, and the key of
// config.toml that a name without a length needs.
func TestWhatIsMissingIsNamed(t *testing.T) {
	e := engines()[0]
	all := []Database{e.fresh(t, "a"), e.fresh(t, "b")}
	for i, d := range all {
		exec(t, d, "CREATE TABLE bag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
		exec(t, d, "INSERT INTO bag VALUES ("+[]string{"1", "1000"}[i]+", 'Aria')")
	}
	names := []NamePolicy{{Table: "bag", Column: "name"}}
	if _, err := NewPlan(t.Context(), all[0], all[1:], PlanOptions{Names: names}); err == nil || !strings.Contains(err.Error(), "max_length = 32") {
		t.Errorf("a name without a length: %v", err)
	}
	names[0].MaxLength = 20
	p := mustPlan(t, all[0], all[1:], PlanOptions{Names: names})
	if _, err := Verify(t.Context(), p, all[0], all[1:], Options{}); err == nil || !strings.Contains(err.Error(), "was not begun in") {
		t.Errorf("a merge that was not begun: %v", err)
	}
}
