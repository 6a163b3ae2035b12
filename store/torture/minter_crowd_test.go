//go:build linux

package torture

import (
	"math/rand/v2"
	"slices"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
)

// Crowd starts twice as many processes as there are servers, all at the same
// instant and on a database without tables: one runs for each server, and the
// others say who holds them. Then it kills some of those that run, again and
// again, and starts as many: each finds a server that became free. The processes
// take turns with the DSNs.
func (w *World) Crowd(servers store.ServerRange, rounds int, dsns ...string) {
	w.t.Helper()
	turn := 0
	start := func(hold bool) *Process {
		turn++
		return w.Start(Config{
			DSN: dsns[turn%len(dsns)], AnyOf: servers, Hold: hold, Batch: 5, Pause: 200 * time.Millisecond,
			Options: gameid.Options{Window: time.Minute},
		})
	}
	all := make([]*Process, 2*servers.Len())
	for i := range all {
		all[i] = start(true)
	}
	for _, p := range all {
		p.Await(Ready)
	}
	for _, p := range all {
		p.Go()
	}
	running := make(map[gameid.ServerID]*Process)
	pids := make(map[gameid.ServerID]int)
	var refusals []Event
	var crowded, alone []time.Duration
	for _, p := range all {
		e := p.Await(Opened, Refused)
		if e.What == Refused {
			refusals = append(refusals, e)
			p.Wait()
			continue
		}
		if other := running[e.Server]; other != nil {
			w.t.Errorf("processes %d and %d both have the server %s", other.PID, p.PID, e.Server)
		}
		running[e.Server], pids[e.Server] = p, p.PID
		crowded = append(crowded, e.Took)
	}
	if len(running) != servers.Len() || len(refusals) != len(all)-servers.Len() {
		w.t.Fatalf("of %d processes %d run and %d were refused: want one for each of the servers %s; the refusals: %+v", len(all), len(running), len(refusals), servers, refusals)
	}
	for _, e := range refusals {
		holders := make(map[gameid.ServerID]int)
		for _, held := range e.Held {
			holders[held.Server] = held.Holder.PID
		}
		for server, pid := range pids {
			if holders[server] != pid {
				w.t.Fatalf("process %d holds %s; a process that was refused says %d: %s", pid, server, holders[server], e.Error)
			}
		}
	}

	for range rounds {
		killed := make(map[gameid.ServerID]bool)
		for server, p := range running {
			if len(killed) == 0 || len(killed) < 4 && rand.IntN(2) == 0 { // one at least
				p.Kill()
				w.Fault()
				killed[server] = true
			}
		}
		var started []*Process
		for range killed {
			started = append(started, start(false))
		}
		for _, p := range started {
			e := p.Await(Opened, Refused)
			if e.What == Refused {
				w.t.Fatalf("refused after a kill: %+v", e)
			}
			if !killed[e.Server] {
				w.t.Fatalf("process %d has the server %s, whose process runs", p.PID, e.Server)
			}
			delete(killed, e.Server)
			running[e.Server] = p
			alone = append(alone, e.Took)
			p.AwaitMore(10)
		}
	}
	for _, p := range running {
		p.AwaitMore(1)
		p.Close()
	}
	slices.Sort(crowded)
	slices.Sort(alone)
	w.t.Logf("%d processes over %d servers: %d run, %d refused. Start, all at once: median %s, longest %s; after a kill: median %s, longest %s",
		len(all), servers.Len(), len(crowded), len(refusals), crowded[len(crowded)/2], crowded[len(crowded)-1], alone[len(alone)/2], alone[len(alone)-1])
	w.t.Logf("a refusal: %s", refusals[0].Error)
}
