package transfer

import (
	"runtime"
	"testing"
	"testing/synctest"

	"mergesafe/merge/transfer/rowio"
)

// Who gets a page may give its rows other keys, while the next page is read already: that
// one follows the rows as they are in the database.
func TestPagesOfRowsThatChange(t *testing.T) {
	d := sqliteIn(func(t testing.TB) string { return t.TempDir() }).fresh(t, "s1")
	exec(t, d, "CREATE TABLE t (id INTEGER PRIMARY KEY)",
		"INSERT INTO t WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i FROM n")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the reader goes on when this goroutine waits, and not sooner
	synctest.Test(t, func(t *testing.T) {
		s, err := rowio.OpenSource(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		on := &rowio.Connection{Database: d}
		defer on.Close()
		next, stop := rowio.Pages(t.Context(), on, rowio.NewLayout(on.Dialect(), s.Table("t")), nil, func() int { return 10 }, rowio.All, false)
		defer stop()
		rows, last := 0, false
		for !last {
			synctest.Wait() // one page is ready, and the next one waits to be taken
			for range 2 {
				p, err := next()
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range p.Rows {
					if rows++; row[0] != int64(rows) {
						t.Fatalf("row %d is %v", rows, row[0])
					}
					row[0] = int64(1000 + rows)
				}
				if last = p.Last; last {
					break
				}
			}
		}
		if rows != 200 {
			t.Errorf("%d rows, want 200", rows)
		}
	})
}
