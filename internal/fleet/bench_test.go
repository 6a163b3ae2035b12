package fleet_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/servertest"
)

// BenchmarkFleetHeartbeat measures how many heartbeats one MariaDB takes whose
// commits are durable, as thousands of game servers make them: each opens a
// connection, renews its lease and closes it. "%of10000" is the share of that
// which 10,000 worlds with a heartbeat every 30 s take. "kept" keeps the
// connections, for comparison.
//
//	go test ./store -run '^$' -bench FleetHeartbeat
func BenchmarkFleetHeartbeat(b *testing.B) {
	const worlds = 10_000
	server, err := servertest.Start(b.Context(), servertest.Options{Dir: os.TempDir()}) // a disk
	if errors.Is(err, servertest.ErrNoProgram) {
		b.Skip(err)
	}
	must(b, err)
	b.Cleanup(func() { server.Stop() })
	dsn, err := server.Database(b.Context())
	must(b, err)
	f := newFleet(b, "mysql:"+dsn)
	fillFleet(b, f, worlds)
	epochs := make([]atomic.Int64, worlds)
	for i := range epochs {
		epochs[i].Store(1)
	}
	for _, clients := range []int{1, 8, 32} {
		for _, kept := range []bool{false, true} {
			b.Run(fmt.Sprintf("clients=%d/kept=%t", clients, kept), func(b *testing.B) {
				f := openFleet(b, "mysql:"+dsn)
				if kept {
					f.DB().Pool().SetMaxIdleConns(clients)
				}
				b.SetParallelism(max(1, clients/2)) // times GOMAXPROCS
				start := time.Now()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						i := rand.IntN(worlds)
						epoch := epochs[i].Load()
						ok, err := fleet.Renew(b.Context(), f, gameid.ServerID(i+1), epoch)
						if err != nil {
							b.Error(err)
							return
						}
						if ok { // rarely, another client has the same world
							epochs[i].CompareAndSwap(epoch, epoch+1)
						}
					}
				})
				rate := float64(b.N) / time.Since(start).Seconds()
				b.ReportMetric(rate, "heartbeats/s")
				b.ReportMetric(100*worlds/30/rate, "%of10000")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// fillFleet claims servers 1 to n, fast.
func fillFleet(b testing.TB, f *fleet.Fleet, n int) {
	const batch = 1000
	for first := 0; first < n; first += batch {
		var values []string
		for i := first; i < min(first+batch, n); i++ {
			values = append(values, fmt.Sprintf("(%d, 's%d', 'bound', '%032x', 1, 0)", i+1, i+1, i+1))
		}
		exec(b, f.DB(), "INSERT INTO fleet_servers (server_id, name, state, world, epoch, claimed_ms) VALUES "+strings.Join(values, ","))
	}
}
