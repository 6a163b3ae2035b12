package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/merge/world"
	"mergesafe/tools/internal/cli"
)

// A server that is no replica, or whose replication stands still, has no lag that is known.
func TestLag(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := &load{}
	l.database.Name, l.database.DSN = "replica", "mysql:"+servertest.DSN(t)
	if lag, err := l.lag(ctx); !errors.Is(err, world.ErrNotReplicating) {
		t.Fatalf("got %s, %v", lag, err)
	}
	if err := l.reached(ctx); err != nil {
		t.Error(err)
	}
	l.source.Close()
	away := &load{database: merge.Database{Name: "away", DSN: "mysql:game:secret@tcp(127.0.0.1:1)/away"}}
	if err := away.reached(ctx); err == nil || !strings.Contains(err.Error(), "-replica away: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a replica that cannot be asked: %v", err)
	}
}

// The work does not rest for a replica that cannot be asked: nothing would end that.
func TestReplicaAway(t *testing.T) {
	dir := t.TempDir()
	dsns := []string{"sqlite:" + filepath.Join(dir, "new.db"), "sqlite:" + filepath.Join(dir, "s1.db"), "sqlite:" + filepath.Join(dir, "s2.db")}
	o := newOperator(t, dsns, "sqlite", filepath.Join(dir, "new.db"))
	args := append([]string{"apply", "-yes", "-replica", "mysql:game:secret@tcp(127.0.0.1:1)/away", o.plan}, dsns...)
	if out := o.run(cli.Incomplete, args...); !strings.Contains(out, "-replica 127.0.0.1:1/away: ") || strings.Contains(out, "secret") {
		t.Error(out)
	}
	o.run(cli.OK, append([]string{"apply", "-yes", o.plan}, dsns...)...)
}
