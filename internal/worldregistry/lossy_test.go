package worldregistry_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	storefleet "mergesafe/store/fleet"
	"mergesafe/store/numbers"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

// private starts a server and makes all tables in a database of it.
func private(t *testing.T, args ...string) (*servertest.Server, string, *store.DB) {
	t.Helper()
	server := servertest.Private(t, args...)
	dsn, err := server.Database(t.Context())
	must(t, err)
	return server, "mysql:" + dsn, storetest.WithTables(t, "mysql:"+dsn)
}

// refusedBy checks that err names the setting, its value and the way out.
func refusedBy(t *testing.T, err error, want ...string) {
	t.Helper()
	if _, ok := errors.AsType[*registry.LossyError](err); !ok {
		t.Errorf("not refused for a setting: %v", err)
		return
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("nothing about %q in: %v", text, err)
		}
	}
}

func variables(lossy []worldregistry.Lossy) (names []string) {
	for _, l := range lossy {
		names = append(names, l.Variable)
	}
	return names
}

// A server that may forget what it confirmed is refused by name, unless that was
// accepted; numbers refuse it always.
func TestLossyServer(t *testing.T) {
	server, dsn, db := private(t)
	ctx := t.Context()
	f, err := fleet.Open("sqlite:" + filepath.Join(t.TempDir(), "fleet.db"))
	must(t, err)
	defer f.Close()
	must(t, f.Create(ctx))
	_, err = f.Claim(ctx, "s1", 9, fleet.Note{})
	must(t, err)

	node, err := db.OpenNode(ctx, 7, nodeOptions)
	must(t, err)
	must(t, node.Close())
	if w := db.Registry().Warnings(); len(w) > 0 {
		t.Errorf("a server with its defaults: %v", w)
	}
	for value, risk := range map[string]string{"0": "ends without a shutdown", "2": "loses power"} {
		exec(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = "+value)
		want := []string{"innodb_flush_log_at_trx_commit is " + value, risk, "SET GLOBAL innodb_flush_log_at_trx_commit = 1"}
		accept := append(want, "AcceptLossyDatabase")
		db := open(t, dsn)
		refusedBy(t, storetest.Second(db.OpenNode(ctx, 7, nodeOptions)), accept...)
		refusedBy(t, storetest.Second(db.Registry().OpenFreeNode(ctx, store.ServerRange{First: 30, Last: 31}, nodeOptions)), accept...)
		refusedBy(t, storetest.Second(f.Join(ctx, storetest.World(db), 9, worldregistry.NodeOptions(nodeOptions), fleet.Options{Name: "s1"})), accept...)

		options := nodeOptions
		options.AcceptLossyDatabase = true
		node, err := db.OpenNode(ctx, 7, options)
		must(t, err)
		if w := db.Registry().Warnings(); len(w) != 1 || w[0].Value != value || !w[0].Serious {
			t.Errorf("with %s accepted: %v", value, w)
		}
		_, err = numbers.Open(ctx, db.Registry(), 7, "player", numbers.Options{})
		refusedBy(t, err, want...)
		if strings.Contains(err.Error(), "AcceptLossyDatabase") {
			t.Errorf("what cannot be accepted is offered: %v", err)
		}
		must(t, node.Close())
	}

	// The fleet's own database.
	sdsn, err := server.Database(ctx)
	must(t, err)
	shared, err := fleet.Open("mysql:" + sdsn)
	must(t, err)
	defer shared.Close()
	must(t, shared.Create(ctx))
	refusedBy(t, storetest.Second(numbers.OpenShared(ctx, (*storefleet.Fleet)(shared), "player", numbers.Options{})), "innodb_flush_log_at_trx_commit is")
}

// What cannot be changed while a server runs; and what is a warning only.
func TestLossyConfiguration(t *testing.T) {
	_, _, db := private(t, "--skip-innodb-doublewrite", "--innodb-flush-method=nosync", "--log-bin=bin", "--sync-binlog=0", "--server-id=1")
	_, err := db.OpenNode(t.Context(), 7, nodeOptions)
	refusedBy(t, err, "innodb_flush_method is nosync", "set innodb_flush_method = fsync", "innodb_doublewrite is off", "set innodb_doublewrite = ON")
	if err != nil && strings.Contains(err.Error(), "sync_binlog") {
		t.Errorf("a warning refuses: %v", err)
	}
	if got := fmt.Sprint(variables(db.Registry().Warnings())); got != "[innodb_flush_method innodb_doublewrite sync_binlog]" {
		t.Errorf("warnings: %s", got)
	}

	_, _, logs := private(t, "--log-bin=bin", "--sync-binlog=0", "--server-id=1")
	node, err := logs.OpenNode(t.Context(), 7, nodeOptions)
	must(t, err)
	defer node.Close()
	n, err := numbers.Open(t.Context(), logs.Registry(), 7, "player", numbers.Options{})
	must(t, err)
	must(t, n.Close())
	if w := logs.Registry().Warnings(); len(w) != 1 || w[0].Variable != "sync_binlog" || w[0].Serious || w[0].Fix != "SET GLOBAL sync_binlog = 1" {
		t.Errorf("sync_binlog=0: %v", w)
	}
}

// A server without a redo log does not start again after a crash.
func TestLossyRedoLog(t *testing.T) {
	ctx := t.Context()
	server := servertest.PrivateMySQL(t)
	dsn, err := server.Database(ctx)
	must(t, err)
	db := storetest.WithTables(t, "mysql:"+dsn)
	node, err := db.OpenNode(ctx, 7, nodeOptions)
	must(t, err)
	defer node.Close()
	for _, enable := range []string{"DISABLE", "ENABLE"} {
		exec(t, db, "ALTER INSTANCE "+enable+" INNODB REDO_LOG")
		storetest.Await(t, "the warnings of a running node follow the server", func() bool {
			storetest.World(db).RereadNow() // each time, since one may be under way that began before
			return (len(db.Registry().Warnings()) == 1) == (enable == "DISABLE")
		})
		_, err = numbers.Open(ctx, db.Registry(), 7, "player", numbers.Options{})
		other, nodeErr := open(t, "mysql:"+dsn).OpenNode(ctx, 8, nodeOptions)
		if enable == "ENABLE" {
			must(t, errors.Join(err, nodeErr))
			must(t, other.Close())
			continue
		}
		want := []string{"Innodb_redo_log_enabled is off", "does not start again", "ALTER INSTANCE ENABLE INNODB REDO_LOG"}
		refusedBy(t, err, want...)
		refusedBy(t, nodeErr, append(want, "AcceptLossyDatabase")...)
	}
}

// A node that runs when the settings become worse goes on, and tells.
func TestLossyWhileRunning(t *testing.T) {
	_, _, db := private(t)
	reg := storetest.World(db)
	node := storetest.Node(t, func(o store.NodeOptions) (*gameid.Node, error) { return db.OpenNode(t.Context(), 7, o) }, 300*time.Millisecond)
	defer node.Close()
	for _, value := range []string{"2", "1", "0"} {
		exec(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = "+value)
		storetest.Await(t, "the warnings follow the server", func() bool {
			reg.RereadNow()
			w := reg.Warnings()
			return value == "1" && len(w) == 0 || len(w) == 1 && w[0].Value == value
		})
		storetest.Await(t, "a running node goes on", func() bool {
			_, err := gameid.NewGenerator[entity.Player](node).Next()
			return err == nil
		})
	}
}

// A pool of the game's own, whose journal is no journal.
func TestLossySQLite(t *testing.T) {
	for mode, refused := range map[string]bool{"MEMORY": true, "OFF": true, "DELETE": false, "WAL": false} {
		t.Run(mode, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "game.db")
			pool, err := sql.Open("sqlite", "file:"+path+"?"+url.Values{"_pragma": {"journal_mode(" + mode + ")", "synchronous(OFF)", "busy_timeout(0)"}}.Encode())
			must(t, err)
			defer pool.Close()
			r, err := registry.Open(t.Context(), pool, store.SQLite)
			must(t, err)
			must(t, r.Create(t.Context()))
			node, err := r.OpenNode(t.Context(), 7, nodeOptions)
			if !refused {
				must(t, err)
				must(t, node.Close())
				return
			}
			refusedBy(t, err, "journal_mode is "+strings.ToLower(mode), "PRAGMA journal_mode = WAL")
			options := nodeOptions
			options.AcceptLossyDatabase = true
			node, err = r.OpenNode(t.Context(), 7, options)
			must(t, err)
			must(t, node.Close())
			f := storetest.OpenFleet(t, "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"))
			must(t, f.Create(t.Context()))
			must(t, storetest.Second(f.ClaimRange(t.Context(), "s8", store.ServerRange{First: 8, Last: 9}, fleet.Note{By: "anna@host-a", Why: "a test"})))
			m, err := f.JoinFree(t.Context(), (*worldregistry.Registry)(r), store.ServerRange{First: 8, Last: 9}, worldregistry.NodeOptions(options), fleet.Options{})
			must(t, err)
			must(t, m.Close())
		})
	}
}

// One connection of a pool has no journal: a node that gets it stops, rather than
// reserve what may be forgotten.
func TestLossyConnection(t *testing.T) {
	ctx := t.Context()
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "game.db")+"?_pragma=journal_mode(DELETE)")
	must(t, err)
	defer pool.Close()
	pool.SetMaxOpenConns(1) // so it is the same connection
	db, err := sqldb.Adopt(ctx, pool, sqldb.SQLite)
	must(t, err)
	r := worldregistry.New(db)
	must(t, r.Create(ctx))
	claim := gameid.Claim{Reserved: 1, Holder: gameid.Holder{Token: "a"}, Lease: time.Minute}
	for _, mode := range []string{"OFF", "MEMORY"} {
		must(t, storetest.Second(pool.Exec("PRAGMA journal_mode = "+mode)))
		if _, err := r.CompareAndSet(ctx, 7, gameid.Record{}, claim); err == nil || !strings.Contains(err.Error(), "journal_mode is "+strings.ToLower(mode)) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	r.AcceptLossy()
	if ok, err := r.CompareAndSet(ctx, 7, gameid.Record{}, claim); !ok || err != nil {
		t.Errorf("accepted: %t, %v", ok, err)
	}
}

// The row keeps the largest window of all claims, also when a command repairs it.
func TestWindowIsKept(t *testing.T) {
	onEachWithRegistry(t, func(t *testing.T, db *store.DB) {
		reg := storetest.World(db)
		for _, window := range []time.Duration{2 * time.Second, time.Second, 0} {
			own, err := reg.Server(t.Context(), 7)
			must(t, err)
			must(t, reg.Overwrite(t.Context(), 7, own.Record(), gameid.Claim{Reserved: own.Reserved, Window: window}))
			if rec, err := reg.Load(t.Context(), 7); err != nil || rec.Window != 2*time.Second {
				t.Errorf("after a claim with %s the window is %s, %v", window, rec.Window, err)
			}
		}
	})
}

// What CompareAndSet confirmed is committed, whatever the server's autocommit is:
// another connection sees it at once.
func TestReservationIsCommitted(t *testing.T) {
	server, dsn, _ := private(t)
	plain, err := sql.Open("mysql", server.DSN())
	must(t, err)
	defer plain.Close()
	for _, statement := range []string{"SET GLOBAL autocommit = 0", "SET GLOBAL completion_type = 'CHAIN'"} {
		_, err = plain.Exec(statement)
		must(t, err)
	}
	theirs, err := sql.Open("mysql", strings.TrimPrefix(dsn, "mysql:"))
	must(t, err)
	defer theirs.Close()
	wrapped, err := registry.Open(t.Context(), theirs, store.MySQL)
	must(t, err)
	other, err := sql.Open("mysql", strings.TrimPrefix(dsn, "mysql:"))
	must(t, err)
	defer other.Close()
	for name, r := range map[string]*worldregistry.Registry{"our pool": storetest.World(open(t, dsn)), "a pool of the game's": (*worldregistry.Registry)(wrapped)} {
		own, err := r.Server(t.Context(), 7)
		must(t, err)
		for range 3 {
			own.Epoch++
			if ok, err := r.CompareAndSet(t.Context(), 7, gameid.Record{Epoch: own.Epoch - 1}, gameid.Claim{Reserved: own.Epoch}); !ok || err != nil {
				t.Fatalf("%s: %t, %v", name, ok, err)
			}
			var seen int64
			tx, err := other.Begin() // a new view of the rows
			must(t, err)
			must(t, tx.QueryRow("SELECT epoch FROM gameid_servers WHERE server_id = 7").Scan(&seen))
			must(t, tx.Rollback())
			if seen != own.Epoch {
				t.Errorf("%s: another connection sees change %d, confirmed was %d", name, seen, own.Epoch)
			}
		}
	}
}
