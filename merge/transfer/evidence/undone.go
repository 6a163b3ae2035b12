package evidence

import (
	"fmt"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/transfer/rowio"
)

// UndoneTable is a table of the target that does not hold what it held when the merge was planned.
// If Merged, Unrestored and Reason are empty, only own rows of the target differ: no row of the merge
// is there, and what the merge changed is restored.
type UndoneTable struct {
	Table  string `json:"table"`
	Rows   int64  `json:"rows"`   // now
	Before int64  `json:"before"` // when the merge was planned

	Merged     int64        `json:"merged"`           // rows that came with the merge and are there
	Unrestored int64        `json:"unrestored"`       // own rows that the merge changed, and that are not as they were
	Reason     string       `json:"reason,omitempty"` // why neither can be counted
	Samples    []Difference `json:"samples,omitempty"`
}

// Left reports whether the merge left something in the table.
func (t *UndoneTable) Left() bool { return t.Merged+t.Unrestored > 0 || t.Reason != "" }

func (t UndoneTable) String() string {
	var parts []string
	add := func(n int64, one, many, rest string) {
		if n > 0 {
			parts = append(parts, printable.Count(n, one, many)+rest)
		}
	}
	add(t.Merged, "row that came with the merge is", "rows that came with the merge are", " still there")
	add(t.Unrestored, "own row that the merge changed is", "own rows that the merge changed are", " not restored")
	if t.Reason != "" {
		parts = append(parts, t.Reason)
	}
	if parts == nil {
		is := fmt.Sprintf(", and %s when the merge was planned", printable.Number(t.Before))
		if t.Rows == t.Before {
			is = " as when the merge was planned, but with other values"
		}
		parts = []string{printable.Count(t.Rows, "own row", "own rows") + is}
	}
	return fmt.Sprintf("table %q: %s", t.Table, strings.Join(parts, "; "))
}

// Add counts a difference, and keeps the first ones.
func (t *UndoneTable) Add(n *int64, d Difference) {
	if *n++; len(t.Samples) < rowio.MaxSamples {
		t.Samples = append(t.Samples, d)
	}
}

// NotUndoneError says that an undo came to its end and rows of the merge are still in the target, or
// own rows that the merge changed are not restored. The record of the merge, the rows that the target
// keeps for the undo and all fences stay. The same call does again what it can do for these tables.
type NotUndoneError struct {
	Database string
	Tables   []UndoneTable
}

func (e *NotUndoneError) Error() string {
	var tables []string
	for _, t := range e.Tables {
		text := t.String()
		if len(t.Samples) > 0 {
			text += ": " + t.Samples[0].String()
		}
		tables = append(tables, text)
	}
	const most = 3
	return fmt.Sprintf("transfer: the merge is not undone in %q: %s; run undo again",
		e.Database, printable.List(tables, "; ", most))
}
