package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
)

var kills = flag.Int("kills", 3, "how often TestKilled kills the server, on each database and with 1 and 64 clients")

// The server is killed under load and started again, again and again. No ID that
// came to a client, also as part of an answer that broke off, comes twice, and each
// start begins above all that came before.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		name    string
		clients int
		dsn     func(*testing.T) string
	}{{"sqlite, 1", 1, sqlite}, {"sqlite, 64", 64, sqlite}, {"mariadb, 64", 64, mariadb}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path, clients := worldAt(t, c.dsn(t)), c.clients
			var all []gameid.ID // in the order of the rounds, each sorted
			for round := range *kills {
				got := load(t, serving(t, path), clients, 100+13*round)
				if len(got) == 0 {
					t.Fatal("nothing was given out")
				}
				slices.SortFunc(got, gameid.ID.Compare)
				if len(all) > 0 && got[0].Compare(all[len(all)-1]) <= 0 {
					t.Errorf("round %d begins with %s, the one before went up to %s", round, got[0], all[len(all)-1])
				}
				all = append(all, got...)
			}
			duplicates := 0
			slices.SortFunc(all, gameid.ID.Compare)
			for i := 1; i < len(all); i++ {
				if all[i] == all[i-1] {
					duplicates++
				}
			}
			if duplicates > 0 {
				t.Errorf("%d duplicates", duplicates)
			}
			t.Logf("%d IDs over %d kills, %d duplicates", len(all), *kills, duplicates)
		})
	}
}

func sqlite(t *testing.T) string  { return "sqlite:" + filepath.Join(t.TempDir(), "world.db") }
func mariadb(t *testing.T) string { return "mysql:" + servertest.DSN(t) }

// load lets clients ask for IDs until they have so many answers together, kills the
// server, and returns all that came.
func load(t *testing.T, p *program, clients, answers int) (all []gameid.ID) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var answered atomic.Int64
	enough := make(chan struct{})
	for c := range clients {
		wg.Go(func() {
			client, accept := p.http, "application/json"
			if c%2 == 1 || clients == 1 {
				client, accept = p.sockets, "text/plain"
			}
			var last gameid.ID
			for n := c; ; n++ {
				count := []int{1, 10, 100, 1000}[n%4]
				status, _, answer, err := ask(client, "POST", fmt.Sprintf("/ids/item?count=%d", count), accept, "")
				ids, problem := idsIn(answer)
				if err == nil && (status != 200 || problem != nil || len(ids) != count) {
					t.Errorf("asked for %d: %d, %d IDs, %v, %.200s", count, status, len(ids), problem, answer)
				}
				for _, id := range ids {
					if id.Compare(last) <= 0 || id.Server() != 7 {
						t.Errorf("%s came after %s", id, last)
					}
					last = id
				}
				mu.Lock()
				all = append(all, ids...)
				mu.Unlock()
				if err != nil || t.Failed() {
					return // killed
				}
				if answered.Add(1) == int64(answers) {
					close(enough)
				}
			}
		})
	}
	gone := make(chan struct{}) // all clients, because something is wrong
	go func() {
		defer close(gone)
		wg.Wait()
	}()
	select {
	case <-enough:
	case <-gone:
	case <-p.ended:
		t.Error("the server ended by itself")
	case <-time.After(patience):
		t.Error("too few answers")
	}
	p.kill()
	wg.Wait()
	return all
}
