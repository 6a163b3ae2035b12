//go:build linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/internal/worldregistry"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// Servers are claimed, bound and kept alive in a fleet registry on the cluster,
// through all nodes at once, while a node, in a group the primary, is killed and comes back.
// No server is given twice, none is lost that was given, no world is taken for
// another, and a world whose node is away goes on and is back by itself: with
// another node if its DSN names several.
func TestFleet(t *testing.T) {
	onEach(t, func(t *testing.T, servers *cluster) {
		f := newFleetWorld(t, servers)
		for i := range *rounds {
			f.claims(f.writer(f.nodes[0], i%3))
			f.races(f.writer(f.nodes[0], (i+1)%3))
			f.outlives(f.writer(f.nodes[0], (i+2)%3))
		}
		f.end()
	})
}

// fleetWorld is a fleet registry on a cluster.
type fleetWorld struct {
	*cluster
	t      *testing.T
	fleets []*fleet.Fleet // through each node
	names  int

	mu    sync.Mutex
	given map[gameid.ServerID]string // servers that were given, with their names
	bound map[gameid.ServerID]string // and the worlds that were told that they have them
	said  map[string]int
}

func newFleetWorld(t *testing.T, servers *cluster) *fleetWorld {
	t.Helper()
	f := &fleetWorld{cluster: servers, t: t,
		given: make(map[gameid.ServerID]string), bound: make(map[gameid.ServerID]string), said: make(map[string]int)}
	f.createDatabase("fleet")
	for i := range f.nodes {
		shared, err := fleet.Open(f.dsn(i, "fleet"))
		must(t, err)
		t.Cleanup(func() { shared.Close() })
		f.fleets = append(f.fleets, shared)
	}
	must(t, f.fleets[0].Create(t.Context()))
	f.awaitTables("fleet")
	return f
}

// without kills a node in the middle of what work does through all nodes, lets
// it go on without that one for a while, and brings the node back. work ends
// when the context does.
func (f *fleetWorld) without(node int, work func(ctx context.Context, done func())) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	defer cancel()
	var mu sync.Mutex
	count := 0
	done := func() {
		mu.Lock()
		defer mu.Unlock()
		count++
	}
	more := func(n int) {
		mu.Lock()
		want := count + n
		mu.Unlock()
		for deadline := time.Now().Add(clusterPatience); ; time.Sleep(10 * time.Millisecond) {
			mu.Lock()
			reached := count >= want
			mu.Unlock()
			if reached {
				return
			}
			if time.Now().After(deadline) {
				f.t.Fatal("nothing goes on")
			}
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { work(ctx, done) })
	defer wg.Wait()
	defer cancel()
	more(30)
	f.nodes[node].kill()
	more(30)
	f.nodes[node].start()
	f.awaitAll()
	more(30)
}

// call bounds one exchange with the fleet registry.
func call(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
}

// report counts what the fleet registry said.
func (f *fleetWorld) report(what string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := said(err)
	for _, kind := range []error{fleet.ErrNotClaimed, fleet.ErrOtherWorld, fleet.ErrTaken, fleet.ErrRunning, fleet.ErrNotBound} {
		if errors.Is(err, kind) {
			text = kind.Error()
		}
	}
	f.said[what+": "+text]++
}

// claims claims servers through all nodes, several at a time on each. A claim
// of unknown outcome is repeated until it is known.
func (f *fleetWorld) claims(node int) {
	f.t.Logf("%s is killed while servers are claimed", f.nodes[node].name)
	f.without(node, func(ctx context.Context, done func()) {
		var wg sync.WaitGroup
		for i, shared := range f.fleets {
			for range 3 {
				wg.Go(func() {
					for ctx.Err() == nil {
						f.claim(ctx, shared, fmt.Sprintf("on n%d, %d", i+1, f.next()))
						done()
						time.Sleep(pause)
					}
				})
			}
		}
		wg.Wait()
	})
}

func (f *fleetWorld) next() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names++
	return f.names
}

// claim claims a server under a name, and returns it; 0 if there is certainly
// none.
func (f *fleetWorld) claim(ctx context.Context, shared *fleet.Fleet, name string) gameid.ServerID {
	repeated := false
	for {
		call, cancel := call(ctx)
		got, err := shared.Claim(call, name, 0, fleet.Note{By: "test"})
		cancel()
		server := got.ID
		if taken, ok := errors.AsType[*fleet.Error](err); ok && errors.Is(err, fleet.ErrTaken) && repeated && taken.Row.Name == name {
			server, err = taken.Row.ID, nil // it was made the first time
		}
		f.report("claim", err)
		if server != 0 { // also where it was made, and could not be read
			f.mu.Lock()
			if other, twice := f.given[server]; twice {
				f.t.Errorf("server %s was given to %q and to %q", server, other, name)
			}
			f.given[server] = name
			f.mu.Unlock()
			return server
		}
		if errors.Is(err, fleet.ErrTaken) {
			f.t.Errorf("a name that is new: %v", err)
		}
		if !errors.Is(err, store.ErrOutcomeUnknown) {
			time.Sleep(10 * time.Millisecond)
			return 0
		}
		repeated = true
		select { // the node is away
		case <-f.t.Context().Done():
			return 0
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// world makes the database of a world that was never started.
func (f *fleetWorld) world() *store.DB {
	db, err := store.Open(f.t.Context(), "sqlite:"+filepath.Join(f.t.TempDir(), fmt.Sprintf("%d.db", f.next())))
	if err == nil {
		err = storetest.Create(f.t.Context(), db)
	}
	if err != nil {
		f.t.Error(err)
	}
	return db
}

// options are those of a member that is not heard of during the loss of a node.
var options = fleet.Options{Heartbeat: time.Second, Lease: time.Minute}

// races has three worlds, one through each node, start with one server at the
// same moment. At most one gets it.
func (f *fleetWorld) races(node int) {
	f.t.Logf("%s is killed while worlds race for servers", f.nodes[node].name)
	f.without(node, func(ctx context.Context, done func()) {
		for ctx.Err() == nil {
			server := f.claim(ctx, f.fleets[(node+1)%len(f.fleets)], fmt.Sprint("race ", f.next()))
			if server == 0 {
				continue
			}
			var wg sync.WaitGroup
			members, worlds := make([]*fleet.Member, len(f.fleets)), make([]*store.DB, len(f.fleets))
			for i, shared := range f.fleets {
				db := f.world()
				worlds[i] = db
				wg.Go(func() {
					call, cancel := call(ctx)
					defer cancel()
					m, err := shared.Join(call, storetest.World(db), server, worldregistry.NodeOptions{}, options)
					f.report("join", err)
					if members[i] = m; err != nil && !known(err) {
						f.t.Errorf("a start through n%d: %v", i+1, err)
					}
				})
			}
			wg.Wait()
			winners := 0
			for i, m := range members {
				if m == nil {
					continue
				}
				winners++
				f.binds(server, worlds[i])
				if err := m.Close(); err != nil && i != node {
					f.report("leave", err)
				}
			}
			for _, db := range worlds {
				db.Close()
			}
			if winners > 1 {
				f.t.Errorf("server %s was bound to %d worlds", server, winners)
			}
			done()
		}
	})
}

// binds notes which world was told that it has a server.
func (f *fleetWorld) binds(server gameid.ServerID, db *store.DB) {
	servers, err := db.Registry().Servers(f.t.Context())
	if err != nil || len(servers) != 1 || servers[0].ID != server {
		f.t.Errorf("the world of server %s knows of %+v, %v", server, servers, err)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bound[server] = servers[0].World
}

// known reports whether a start may fail in this way when another world is
// faster or a node is away. A server is not claimed on a node that has not got
// there yet: reads of another node than the one that was written to may lag.
func known(err error) bool {
	for _, target := range []error{fleet.ErrNotClaimed, fleet.ErrOtherWorld, fleet.ErrTaken, fleet.ErrRunning, fleet.ErrNotBound,
		store.ErrUnavailable, store.ErrOutcomeUnknown, store.ErrRetryable, context.DeadlineExceeded} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// outlives has worlds run through all nodes when one is killed. They all mint
// on. Those of the killed node are back when it is.
func (f *fleetWorld) outlives(node int) {
	f.t.Logf("%s is killed while worlds run", f.nodes[node].name)
	var members []*fleet.Member
	for i, shared := range f.fleets {
		for range 3 {
			db := f.world()
			defer db.Close()
			server := f.claim(f.t.Context(), shared, fmt.Sprint("runs ", f.next()))
			m, err := shared.Join(f.t.Context(), storetest.World(db), server, worldregistry.NodeOptions{}, options)
			if err != nil {
				f.t.Fatalf("through n%d: %v", i+1, err)
			}
			defer m.Close()
			f.binds(server, db)
			members = append(members, m)
		}
	}
	reported := func(m *fleet.Member) uint64 { return m.Status().Heartbeats }
	f.nodes[node].kill()
	for i, m := range members {
		if i/3 == node && !f.several {
			f.await("it is away", func() bool { return m.Status().State == fleet.Away })
		}
	}
	for i, m := range members {
		before := reported(m)
		if i/3 != node || f.several {
			f.await("it reports", func() bool { return reported(m) > before+2 })
		}
		if _, err := gameid.NewGenerator[struct{}](m.Node).Next(); err != nil {
			f.t.Errorf("a world does not mint: %v", err)
		}
	}
	f.nodes[node].start()
	f.awaitAll()
	for _, m := range members {
		before := reported(m)
		f.await("it is back", func() bool { return m.Status().State == fleet.Joined && reported(m) > before })
		if err := m.Node.Err(); err != nil {
			f.t.Errorf("a world has ended: %v", err)
		}
	}
}

func (f *fleetWorld) await(what string, met func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(clusterPatience); !met(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatal("waited in vain: " + what)
		}
	}
}

// end holds what was said against what is there, on every node.
func (f *fleetWorld) end() {
	ctx := f.t.Context()
	f.awaitAll()
	for i, shared := range f.fleets {
		servers, err := shared.List(ctx)
		must(f.t, err)
		there := make(map[gameid.ServerID]fleet.Server)
		for n, s := range servers {
			there[s.ID] = s
			if int(s.ID) != n+1 {
				f.t.Errorf("n%d: server %s is the %d. of all: some were left out", i+1, s.ID, n+1)
			}
		}
		for server, name := range f.given {
			if there[server].Name != name {
				f.t.Errorf("n%d: server %s was given to %q, and is that of %q", i+1, server, name, there[server].Name)
			}
		}
		for server, world := range f.bound {
			if there[server].World != world {
				f.t.Errorf("n%d: server %s was bound to %s, and is that of %q", i+1, server, world, there[server].World)
			}
		}
	}
	// One entry for every change.
	var claims, binds, bound, all int
	must(f.t, f.nodes[0].admin.QueryRow("SELECT COUNT(DISTINCT server_id), SUM(action = 'claim'), SUM(action = 'bind') FROM fleet.fleet_history").Scan(&all, &claims, &binds))
	must(f.t, f.nodes[0].admin.QueryRow("SELECT COUNT(*) FROM fleet.fleet_servers WHERE state = 'bound'").Scan(&bound))
	if claims != all || binds != bound || all < len(f.given) {
		f.t.Errorf("%d servers with %d claims, %d of them bound with %d entries; %d were given", all, claims, bound, binds, len(f.given))
	}
	f.awaitSame("fleet.fleet_servers", "fleet.fleet_history")
	f.t.Logf("%d servers claimed, %d bound", all, bound)
	for _, what := range slices.Sorted(maps.Keys(f.said)) {
		f.t.Logf("%6d  %s", f.said[what], what)
	}
}
