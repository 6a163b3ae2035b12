package schema_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"mergesafe/merge/transfer/rowio"
)

// A file with sixteen times as many tables takes about sixteen times as long to read, not the square of it: a merge
// reads the new file again for each of its tables.
func TestReadManyTables(t *testing.T) {
	took := func(tables int) time.Duration {
		d := rowio.Database{Name: "w", DSN: "sqlite:" + filepath.Join(t.TempDir(), "w.db")}
		var statements []string
		for i := range tables {
			statements = append(statements, fmt.Sprintf("CREATE TABLE t%d (id INTEGER PRIMARY KEY)", i))
		}
		run(t, d, append(append([]string{"BEGIN"}, statements...), "COMMIT")...)
		least := time.Hour
		for range 3 {
			begin := time.Now()
			if got := len(read(t, d).Objects); got != tables {
				t.Fatalf("%d objects, want %d", got, tables)
			}
			least = min(least, time.Since(begin))
		}
		return least
	}
	if few, many := took(200), took(3200); many > 64*few {
		t.Errorf("200 tables take %v, and 3200 take %v", few, many)
	}
}
