package build_test

import (
	"strings"
	"testing"

	"mergesafe/merge/record"
)

// One row is not "1 rows".
func TestChangedErrorCounts(t *testing.T) {
	for _, c := range []struct {
		rows, want int64
		text       string
	}{{1, 2, "it has 1 row, but had 2"}, {2, 1, "it has 2 rows, but had 1"}, {1, 1, "it has 1 row as before, but it has changed"}, {3, 3, "it has 3 rows as before, but some have changed"}} {
		if err := (&record.ChangedError{Database: "s1", Table: "t", Rows: c.rows, Want: c.want}).Error(); !strings.Contains(err, c.text) {
			t.Errorf("%s, want %q", err, c.text)
		}
	}
}

// Numbers of rows are not said of a table of which only a part was read.
func TestChangedErrorPart(t *testing.T) {
	for _, c := range []struct {
		rows, want int64
		text       string
	}{
		{3, 3, "a part of it has 3 rows as before, but some have changed"},
		{2, 3, "a part of it has 2 rows, but had 3"},
		{4, 3, "it has 4 rows or more, but had 3"},
	} {
		err := (&record.ChangedError{Database: "s1", Table: "t", Rows: c.rows, Want: c.want, Part: true}).Error()
		if !strings.Contains(err, "made: "+c.text) {
			t.Errorf("%s, want %q", err, c.text)
		}
	}
}
