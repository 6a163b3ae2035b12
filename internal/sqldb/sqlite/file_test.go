package sqlite

import (
	"context"
	"database/sql/driver"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"mergesafe/internal/sqldb"
)

// slow is a connector whose connections of one kind of context wait to be made.
type slow struct {
	driver.Connector
	waits, let chan struct{}
}

type slowly struct{}

func (c slow) Connect(ctx context.Context) (driver.Conn, error) {
	if ctx.Value(slowly{}) != nil {
		c.waits <- struct{}{}
		<-c.let
	}
	return c.Connector.Connect(ctx)
}

// A connection that takes long to be made, as on a file system that does not answer, keeps no other one from being made
// or closed: pools that share the connector go on. Afterwards it knows which -wal is the right one.
func TestConnectWaitsForNoOther(t *testing.T) {
	file, _, err := openSQLite(filepath.Join(t.TempDir(), "game.db"), sqldb.ReadWrite)
	must(t, err)
	s := slow{file.Connector, make(chan struct{}), make(chan struct{})}
	file.Connector = s
	connect := func(ctx context.Context) driver.Conn {
		conn, err := file.Connect(ctx)
		if err != nil {
			t.Error(err)
		}
		return conn
	}
	first := connect(t.Context())
	made := make(chan driver.Conn)
	go func() { made <- connect(context.WithValue(t.Context(), slowly{}, true)) }()
	<-s.waits
	must(t, connect(t.Context()).Close())
	must(t, first.Close()) // which removes -wal
	close(s.let)
	late := <-made
	must(t, file.check(true))
	if seen := len(*file.seen.Load()); seen != 3 {
		t.Errorf("%d files are looked at, want the database, -wal and -shm", seen)
	}
	must(t, late.Close())
}

// The last connection that is closed takes -wal and -shm along: who looks at them at that moment looks again.
func TestClosedDuringALook(t *testing.T) {
	file, _, err := openSQLite(filepath.Join(t.TempDir(), "game.db"), sqldb.ReadWrite)
	must(t, err)
	done := make(chan struct{})
	var looks sync.WaitGroup
	looks.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := file.check(true); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	defer looks.Wait()
	defer close(done)
	for range 500 {
		conn, err := file.Connect(t.Context())
		must(t, err)
		must(t, conn.Close())
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Connections wait for a lock as long as the context allows in which they are made, and no longer than the default.
func TestWaiting(t *testing.T) {
	path := "sqlite:" + filepath.Join(t.TempDir(), "w.db")
	for _, access := range []sqldb.Access{sqldb.ReadWrite, sqldb.WriteExisting, sqldb.ReadOnly} {
		for most, want := range map[time.Duration]int{300 * time.Millisecond: 300, time.Hour: 5000, -time.Second: 1} {
			db, err := sqldb.Dial(sqldb.Waiting(t.Context(), most), path, access)
			if err != nil {
				t.Fatal(err)
			}
			var busy int
			if err := db.Get(t.Context(), &busy, "PRAGMA busy_timeout"); err != nil || busy != want {
				t.Errorf("%v: at most %s: waits for %d ms, want %d; %v", access, most, busy, want, err)
			}
			db.Close()
		}
	}
}
