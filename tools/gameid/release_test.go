package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
)

// A transaction that never ends keeps a server from starting although no process has its
// lease: release says so, and does not try in vain. To look, nothing needs to be written.
func TestReleaseLooksForLocks(t *testing.T) {
	ctx := t.Context()
	for engine, dsn := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "s7.db"), "mysql": ""} {
		t.Run(engine, func(t *testing.T) {
			if engine == "mysql" {
				dsn = "mysql:" + servertest.DSN(t)
			} else if _, err := os.Stat("/proc/locks"); runtime.GOOS != "linux" || err != nil {
				t.Skip("only Linux tells who locks a file")
			}
			db, err := makeDatabase(dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			node, err := db.OpenNode(ctx, 7, storetest.NodeOptions)
			if err != nil {
				t.Fatal(err)
			}
			if err := node.Close(); err != nil {
				t.Fatal(err)
			}
			err = db.InTx(ctx, func(tx *store.Tx) error {
				if _, err := tx.Exec(ctx, "UPDATE gameid_servers SET name = 'x' WHERE server_id = 7"); err != nil {
					return err
				}
				code, out, _ := call(t, "servers", "release", dsn, "-server", "7")
				if code != 0 || !strings.Contains(out, "The server cannot start, and its lease cannot be ended: its row is locked by ") {
					t.Errorf("%d %s", code, out)
				}
				code, _, errs := call(t, "servers", "release", dsn, "-server", "7", "-apply", "-reason", "x", "-watch", "1ms")
				if code != 2 || !strings.Contains(errs, "the row of server 7 is locked by ") {
					t.Errorf("%d %s", code, errs)
				}
				return context.Canceled // rolls back
			})
			if err != context.Canceled {
				t.Fatal(err)
			}
			code, out, _ := call(t, "servers", "release", dsn, "-server", "7")
			if code != cli.OK || !strings.Contains(out, "it does not prevent the server from starting") {
				t.Errorf("%d %s", code, out)
			}
			if engine == "mysql" && !servertest.OnMariaDB(t) { // which lets any account look
				reads := "mysql:" + servertest.Grant(t, "SELECT", strings.TrimPrefix(dsn, "mysql:"))
				code, out, _ := call(t, "servers", "release", reads, "-server", "7")
				if code != 0 || !strings.Contains(out, "whether a transaction keeps it locked is unknown") {
					t.Errorf("%d %s", code, out)
				}
			}
		})
	}
}
