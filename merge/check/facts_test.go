package check

import (
	"testing"

	"mergesafe/merge/rules"
)

// Lists of columns are told apart even if their names have commas and quotes.
func TestIDOfColumns(t *testing.T) {
	lists := [][]string{{"a", "b"}, {"a,b"}, {"a, b"}, {`a" "b`}, {`a" "`, "b"}, {"b", "a"}, {"(a, b)"}, {}, {""}}
	seen := make(map[rules.ColumnsID]bool)
	for _, columns := range lists {
		if id := rules.IDOf("t", columns...); seen[id] {
			t.Errorf("%q is taken for another list", columns)
		} else {
			seen[id] = true
		}
	}
}
