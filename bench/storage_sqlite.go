package main

import (
	"context"
	"os"
	"path/filepath"
)

func sqliteStorage(ctx context.Context, o options) ([]section, error) {
	s := section{
		title: "Storage on SQLite",
		intro: "Rows a second; the ratio is to the same over database/sql, written by hand, with the same driver and settings.",
	}
	if !o.wantsStorage(s.title) {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "mergesafe-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err = storage(ctx, o, s, "sqlite:"+filepath.Join(dir, "bench.db"))
	return []section{s}, err
}

// wantsStorage reports whether any row of a storage section was asked for.
func (o options) wantsStorage(title string) bool {
	return o.wants(title, storeInsert) || o.wants(title, storeGet) || o.wants(title, storeAll)
}
