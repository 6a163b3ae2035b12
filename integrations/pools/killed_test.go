//go:build linux

package pools

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"mergesafe/gameid"
	"mergesafe/store"
)

// The test program is the game server that is killed, too.
const (
	envKind = "POOLS_TEST_KIND"
	envDSN  = "POOLS_TEST_DSN"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(envKind); kind != "" {
		if err := serve(context.Background(), kind, os.Getenv(envDSN)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve mints, stores and tells every ID that it has minted, until it is killed.
func serve(ctx context.Context, kind, dsn string) error {
	g, err := kinds[kind](dsn)
	if err != nil {
		return err
	}
	db, err := store.Wrap(ctx, g.pool, dialect(kind))
	if err != nil {
		return err
	}
	if err := db.CreateRegistry(ctx); err != nil {
		return err
	}
	node, err := db.OpenNode(ctx, server, store.NodeOptions{})
	if err != nil {
		return err
	}
	next := gameid.NewGenerator[Player](node).Next
	for {
		ids, err := play(ctx, g, db, next)
		if err != nil {
			return err
		}
		for _, id := range ids {
			fmt.Println(id)
		}
		for range 1000 { // that are never stored
			id, err := next()
			if err != nil {
				return err
			}
			fmt.Println(id)
		}
	}
}

// Game servers are killed in the middle of their work and started again: no ID
// comes twice, no matter whose pool it is and what its sessions are set to.
func TestKilled(t *testing.T) {
	onAll(t, func(t *testing.T, kind, dsn string) {
		ctx := t.Context()
		g := openGame(t, kind, dsn)
		must(t, schema(ctx, g, dialect(kind)))
		minted, stored := make(map[string]bool), 0
		const runs = 4
		for run := range runs {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), envKind+"="+kind, envDSN+"="+dsn)
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			lines, killed := bufio.NewScanner(out), false
			for n := 0; lines.Scan(); n++ {
				id := lines.Text()
				if len(id) != 2*gameid.Size {
					continue // it was killed while it wrote this
				}
				if minted[id] {
					t.Fatalf("run %d: %s was minted twice", run, id)
				}
				minted[id] = true
				if n == 20_000+1000*run {
					must(t, cmd.Process.Kill())
					killed = true
				}
			}
			err = cmd.Wait()
			if !killed {
				t.Fatalf("run %d ended by itself: %v", run, err)
			}
		}
		// What was told to be stored is there, and with it the game's own rows.
		var items int
		must(t, g.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM players").Scan(&stored))
		must(t, g.pool.QueryRowContext(ctx, "SELECT COUNT(*) FROM items JOIN players ON id = owner_id").Scan(&items))
		if stored < 2*20*runs || items != stored/2 {
			t.Errorf("%d players and %d items were stored, want 2 to 1 and %d at least", stored, items, 2*20*runs)
		}
		t.Logf("%d IDs in %d runs, 0 twice; %d rows", len(minted), runs, stored)
	})
}
