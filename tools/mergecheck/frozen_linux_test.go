package main

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
)

// An interrupt ends the program although a server that rows are read from does
// not answer any more: after about a second, which is what saying goodbye to it
// may take.
func TestInterruptedWhileFrozen(t *testing.T) {
	servertest.NotShort(t)
	server := servertest.Private(t)
	args := []string{"-max-load", "3"}
	for i, prefix := range []string{"a", "b", "c"} {
		dsn, err := server.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		makeWorld(t, "mysql:"+dsn, i+1, 10, prefix)
		args = append(args, "mysql:"+dsn)
	}
	dsn, err := server.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	defer busy(t, db)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan result, 1)
	go func() { done <- mergecheck(ctx, args...) }()
	// Nobody else asks this server for its load, which is done once rows are to be read. What this asks is counted as well.
	for first, asks := 0, 0; ; asks++ {
		var name string
		var n int
		if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Com_show_status'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		if asks == 0 {
			first = n
		}
		if n > first+asks {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	defer server.Thaw()
	cancel()
	start := time.Now()
	select {
	case got := <-done:
		t.Logf("ended after %s", time.Since(start))
		interrupted(t, got)
		if !strings.HasPrefix(got.stdout, "INCOMPLETE") {
			t.Errorf("printed %s", got.stdout)
		}
	case <-time.After(time.Minute):
		t.Fatal("an interrupt does not end the check")
	}
}
