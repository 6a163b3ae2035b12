package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
)

func sqliteCheck(ctx context.Context, o options) ([]section, error) {
	s := section{
		title: "Check before a merge on SQLite",
		intro: "Rows a second, of both databases together; the ratio is to a scan of the driver that looks at nothing.",
	}
	if !o.wants(s.title, checkBlobs) {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "mergesafe-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &worlds{rows: o.checkRows}
	o.log("%s: filling 2 tables with %d rows", s.title, w.rows)
	for world := 2; world > 0; world-- { // the first stays open
		path := filepath.Join(dir, fmt.Sprintf("s%d.db", world))
		db, err := sql.Open("sqlite", path)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		for _, statement := range []string{
			"CREATE TABLE t (id BLOB PRIMARY KEY) WITHOUT ROWID",
			fmt.Sprintf(`WITH RECURSIVE numbers(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM numbers WHERE seq < %d)
				INSERT INTO t SELECT unhex(printf('%%011x%%05x%%04x', 1000000000 + seq * 2 + %[2]d, %[2]d, seq %% 65536)) FROM numbers`, w.rows, world),
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return nil, err
			}
		}
		w.db, w.dsns = db, append(w.dsns, "sqlite:"+path)
	}
	err = w.beside(ctx, o, &s, w.bare(ctx, "bare scan of the keys", "SELECT id FROM t ORDER BY id"),
		w.checked(ctx, checkBlobs, fmt.Sprintf("2 × %d rows", w.rows)))
	return []section{s}, err
}
