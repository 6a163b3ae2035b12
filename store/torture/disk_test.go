//go:build linux

package torture

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/smalldisk"
	"mergesafe/internal/worldregistry"
	"mergesafe/store/storetest"
)

// diskFullSQLite fills the disk of the database: minting goes on to the end of
// the reservation, says why, and recovers when there is room again.
func diskFullSQLite(t *testing.T, w *World) string {
	d := smalldisk.Mount(t, "3m")
	dsn := "sqlite:" + filepath.Join(d.Path(), "game.db")
	p := w.Start(windowed(dsn, short))
	p.Await(Opened)
	game := open(t, dsn)
	_, err := game.Exec(t.Context(), "CREATE TABLE large (id INTEGER PRIMARY KEY, bytes BLOB)")
	must(t, err)
	for range times(1, 10) {
		refused := func() bool { // unless the lock of the process is in its way, or there is room in the -wal yet
			_, err := game.Exec(t.Context(), "REPLACE INTO large VALUES (1, zeroblob(100000))")
			return err != nil && strings.Contains(err.Error(), "full")
		}
		outage(t, w, p, func() error { return d.Fill(0) }, func() error {
			p.await("a row that is refused because the disk is full", refused)
			return d.Free()
		})
	}
	p.Close()
	return dsn
}

func diskFullMariaDB(t *testing.T, w *World) string {
	d, server := smalldisk.MariaDB(t, "200m")
	dsn, err := server.Database(t.Context())
	must(t, err)
	return diskFull(t, w, d, server, "mysql:"+dsn)
}

// PostgreSQL needs room for its log even to change a row in place. It ends itself when there is none.
func diskFullPostgres(t *testing.T, w *World) string {
	d, server := smalldisk.Postgres(t, "200m")
	return diskFull(t, w, d, server, server.DSN())
}

// diskFull fills the disk of the server: rows are refused with the reason. The
// reservation is a change in place, for which InnoDB has its room already, so
// minting goes on: unless the server comes to grief over it, as MariaDB 10.11
// does now and then in a rollback. Then it is started again.
func diskFull(t *testing.T, w *World, d *smalldisk.Disk, server victim, dsn string) string {
	p := w.Start(windowed(dsn, short))
	p.Await(Opened)
	registry := storetest.World(open(t, dsn))
	crashes := 0
	for range times(1, 10) {
		p.AwaitMore(1000)
		again := p.Told(RowsAgain)
		must(t, d.Fill(0))
		w.Fault()
		if e := p.Await(RowsFailed); !slices.ContainsFunc(e.Is, isOutage) {
			t.Errorf("with a full disk: %+v", e)
		}
		awaitRenewals(t, server, registry, 3)
		must(t, d.Free())
		p.await(RowsAgain, func() bool {
			if !server.Alive() { // a rollback may go wrong after its disk has room again
				crashes++
				must(t, server.Restart(t.Context()))
			}
			return p.Told(RowsAgain) > again
		})
	}
	stopped := 0
	for _, e := range p.Events() {
		if e.What == Exhausted && strings.Contains(e.Error, "full") { // on a busy machine a reservation may come too late for other reasons
			stopped++
		}
	}
	if stopped > crashes {
		t.Errorf("minting stopped %d times for want of room, and the server crashed only %d times", stopped, crashes)
	}
	t.Logf("the server crashed %d times", crashes)
	p.Close()
	if !server.Alive() {
		must(t, server.Restart(t.Context()))
	}
	return dsn
}

// awaitRenewals waits for reservations, or for the end of the server.
func awaitRenewals(t *testing.T, server victim, r *worldregistry.Registry, n int64) {
	t.Helper()
	var first int64
	for ; ; time.Sleep(10 * time.Millisecond) {
		servers, err := r.Servers(t.Context())
		switch {
		case !server.Alive():
			return
		case err == nil && first == 0:
			first = servers[0].Epoch
		case err == nil && servers[0].Epoch >= first+n:
			return
		}
	}
}
