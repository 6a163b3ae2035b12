package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
)

// explained compares what -explain says of a column of each class and type with what the
// database itself counts, and with what -propose says of it.
func explained(t *testing.T, proposed *verdict.Proposed, args []string) {
	t.Helper()
	seen := make(map[string]bool)
	for _, c := range proposed.Columns {
		db, err := sql.Open("mysql", strings.TrimPrefix(args[0], "mysql:"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var kind string
		if err := db.QueryRow("SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND COLUMN_NAME = ?", c.Table, c.Column).Scan(&kind); err != nil {
			t.Fatal(err)
		}
		if key := string(c.Class) + " " + kind; seen[key] || c.When != nil {
			continue
		} else {
			seen[key] = true
		}
		got := mergecheck(t.Context(), append([]string{"-json", "-explain", c.Table + "." + c.Column}, args...)...)
		if got.code != cli.OK {
			t.Errorf("%s.%s: exit code %d, %s", c.Table, c.Column, got.code, got.stderr)
			continue
		}
		e := new(propose.Explanation)
		if err := json.Unmarshal([]byte(got.stdout), e); err != nil {
			t.Fatal(err)
		}
		var rows, nulls, distinct int64
		column := "`" + c.Column + "`"
		query := fmt.Sprintf("SELECT COUNT(*), COUNT(*) - COUNT(%s), COUNT(DISTINCT CAST(%[1]s AS BINARY)) FROM `%s`", column, c.Table)
		if err := db.QueryRow(query).Scan(&rows, &nulls, &distinct); err != nil {
			t.Fatal(err)
		}
		v := e.Values[0]
		if len(e.Values) != 2 || v.Rows != rows || v.Nulls != nulls || v.Distinct != distinct || v.More || v.Unread != "" {
			t.Errorf("%s.%s: %+v, want %d rows, %d NULL, %d distinct", c.Table, c.Column, v, rows, nulls, distinct)
		}
		if strings.HasSuffix(kind, "int") && distinct > 0 {
			var low, high string
			if err := db.QueryRow(fmt.Sprintf("SELECT MIN(%s), MAX(%[1]s) FROM `%s`", column, c.Table)).Scan(&low, &high); err != nil {
				t.Fatal(err)
			}
			if v.Smallest != low || v.Largest != high {
				t.Errorf("%s.%s: from %s to %s, want %s to %s", c.Table, c.Column, v.Smallest, v.Largest, low, high)
			}
		}
		if len(e.Proposed) == 0 {
			t.Errorf("%s.%s: nothing is proposed", c.Table, c.Column)
		} else if p := e.Proposed[0]; p.Class != c.Class || p.To != c.To {
			t.Errorf("%s.%s: %s to %q (%s), and -propose says %s to %q (%s)", c.Table, c.Column, p.Class, p.To, p.Evidence, c.Class, c.To, c.Evidence)
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %d kinds of columns: %v", len(seen), seen)
	}
}
