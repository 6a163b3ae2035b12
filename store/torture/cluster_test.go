//go:build linux

package torture

import (
	"context"
	"errors"
	"flag"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/registry"
	"mergesafe/store/storetest"
)

var (
	wanted = flag.Bool("cluster", servertest.Scale(0, 1) == 1, "start a cluster of three database servers and test on it")
	rounds = flag.Int("cluster.rounds", 1, "how often each node is killed and frozen")
)

// One process mints on each node, and an audit changes rows through all of
// them, while nodes are killed, frozen and cut off. Minting never stops for
// the loss of another node. It stops after the window for the loss of its own,
// because package store connects to the one address that it was given, and
// recovers when that is back. No ID is minted twice, and no change has another
// outcome than was said.
func TestCluster(t *testing.T) {
	if !*wanted {
		t.Skip("it takes minutes and three database servers: LONG=1 go test ./store/torture")
	}
	c := newWorld(t, startGalera(t))
	c.calm()
	c.twoAtOnce()
	for range *rounds {
		for i := range c.nodes {
			c.killed(i)
			c.frozen(i)
		}
		c.majorityLost()
	}
	c.end()
	c.durability("innodb_flush_log_at_trx_commit")
}

// clusterWorld is a cluster with its load.
type clusterWorld struct {
	*cluster
	w         *World
	minters   []*Process
	expected  []int // times that a minter had no ID because its own node was away
	databases []*store.DB
	audit     audit
	stop      func()
}

func newWorld(t *testing.T, servers *cluster) *clusterWorld {
	t.Helper()
	c := &clusterWorld{cluster: servers, w: NewWorld(t), expected: make([]int, 3)}
	c.createDatabase("game")
	for i := range c.nodes {
		db, err := store.Open(t.Context(), c.dsn(i, "game"))
		must(t, err)
		t.Cleanup(func() { db.Close() })
		c.databases = append(c.databases, db)
	}
	c.audit.pause = pause
	if c.several {
		c.audit.pause *= 10 // a member that comes back has to catch up with it, and nothing makes the others wait
	}
	db := c.databases[0]
	must(t, storetest.Create(t.Context(), db))
	for _, statement := range []string{
		"CREATE TABLE contended (id INT PRIMARY KEY, n INT NOT NULL)",
		"INSERT INTO contended VALUES (1, 0)",
		"INSERT INTO gameid_servers (server_id, world, role, epoch, reserved_ms, holder, lease_until_ms, created_ms, updated_ms) VALUES (901, '', 'own', 1, 0, '', 0, 0, 0)",
	} {
		_, err := db.Exec(t.Context(), statement)
		must(t, err)
	}
	c.awaitTables("game")
	c.awaitSame("game.contended", "game.gameid_servers")
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i, db := range c.databases {
		c.audit.run(ctx, &wg, db, i)
		c.minters = append(c.minters, c.start(11+i, i, false))
		c.minters[i].Await(Opened)
	}
	c.stop = func() {
		cancel()
		for _, n := range c.nodes {
			n.run.Process.Signal(syscall.SIGCONT) // a test that failed may have left it frozen, and calls wait for it
		}
		wg.Wait()
	}
	t.Cleanup(c.stop)
	return c
}

// start starts a process on a node. The default window covers the seconds that the
// cluster takes to notice that a node is gone.
func (c *clusterWorld) start(server, node int, hold bool) *Process {
	return c.w.Start(Config{
		DSN: c.dsn(node, "game"), Server: gameid.ServerID(server), Hold: hold, Rows: true, Batch: 25,
	})
}

// calm waits until the nodes have contended for a while.
func (c *clusterWorld) calm() {
	for c.audit.swapsMade() < 200 {
		time.Sleep(10 * time.Millisecond)
	}
}

// twoAtOnce starts the same server on two nodes at the same instant.
func (c *clusterWorld) twoAtOnce() {
	for i := range 10 {
		a, b := c.start(14, i%3, true), c.start(14, (i+1)%3, true)
		a.Await(Ready)
		b.Await(Ready)
		a.Go()
		b.Go()
		c.w.Fault()
		ofA, ofB := a.Await(Opened, Refused), b.Await(Opened, Refused)
		winner, refusal := a, ofB
		if ofA.What == Refused {
			winner, refusal = b, ofA
		}
		if ofA.What == ofB.What || refusal.Type != "*gameid.HeldError" || refusal.Holder.PID != winner.PID {
			c.t.Fatalf("of two that were started at once, %d and %d:\n%+v\n%+v", a.PID, b.PID, ofA, ofB)
		}
		winner.AwaitMore(100)
		winner.Kill()
	}
}

// killed kills a node, and its process too every other time: that one then
// starts on another node and comes back later.
func (c *clusterWorld) killed(i int) {
	c.t.Logf("%s is killed", c.nodes[i].name)
	c.nodes[i].kill()
	c.w.Fault()
	if i%2 == 0 {
		c.othersGoOn(i)
		c.exhausted(i)
		c.nodes[i].start()
		c.awaitAll()
		c.minters[i].Await(Recovered)
	} else {
		c.minters[i].Kill()
		elsewhere := c.start(11+i, (i+1)%3, false)
		elsewhere.Await(Opened)
		elsewhere.AwaitMore(1000)
		c.othersGoOn(i)
		c.nodes[i].start()
		c.awaitAll()
		elsewhere.Close()
		c.minters[i] = c.start(11+i, i, false)
		c.minters[i].Await(Opened)
	}
	c.minters[i].AwaitMore(1000)
}

// frozen stops a node until the others have gone on without it. When it
// thaws it has missed that, and has to be told.
func (c *clusterWorld) frozen(i int) {
	c.t.Logf("%s is frozen", c.nodes[i].name)
	c.nodes[i].freeze()
	c.w.Fault()
	c.awaitMember(c.nodes[(i+1)%3], 2)
	c.othersGoOn(i)
	c.exhausted(i)
	c.nodes[i].thaw()
	c.awaitAll()
	c.minters[i].Await(Recovered)
	c.minters[i].AwaitMore(1000)
}

// majorityLost leaves one node alone. It must not serve.
func (c *clusterWorld) majorityLost() {
	c.t.Log("n2 and n3 are frozen")
	c.nodes[1].freeze()
	c.nodes[2].freeze()
	c.w.Fault()
	for i := range c.minters {
		e := c.exhausted(i)
		// A statement that had begun waits for a lock until that is given up.
		if i == 0 && !strings.Contains(e.Error, "WSREP") && !strings.Contains(e.Error, "Lock wait timeout") {
			c.t.Errorf("on a node without a majority: %+v", e)
		}
		if i > 0 {
			c.nodes[i].thaw()
		}
	}
	c.awaitAll()
	for _, p := range c.minters {
		p.Await(Recovered)
		p.AwaitMore(1000)
	}
}

// othersGoOn waits until all processes but one have minted for longer than
// the cluster needs to sort itself out.
func (c *clusterWorld) othersGoOn(i int) {
	for j, p := range c.minters {
		if j != i {
			p.AwaitMore(60_000)
		}
	}
}

// exhausted waits until a process has come to the end of its reservation.
func (c *clusterWorld) exhausted(i int) Event {
	e := c.minters[i].Await(Exhausted)
	if e.Type != "*gameid.ExhaustedError" || e.At.Before(e.Until) || len(e.Is) == 0 {
		c.t.Errorf("without its node: %+v", e)
	}
	c.expected[i]++
	return e
}

func (c *clusterWorld) end() {
	for i, p := range c.minters {
		p.Close()
		if n := p.Told(Exhausted); n > c.expected[i] && !c.several {
			c.t.Logf("the process on %s had no ID %d times, and %d times its node was away: the machine was too busy to renew in time", c.nodes[i].name, n, c.expected[i])
		}
		for _, e := range p.Events() {
			if slices.Contains(e.Is, store.ErrDuplicate.Error()) {
				c.t.Errorf("rows that were said not to be there: %+v", e)
			}
		}
	}
	c.stop()
	c.awaitAll()
	c.awaitSame("game.players", "game.items", "game.gameid_servers", "game.contended")
	db := c.databases[0]
	c.audit.check(c.t, db)
	_, err := db.Exec(c.t.Context(), "DELETE FROM players WHERE account = 'audit'")
	must(c.t, err)
	c.w.Check(db)
}

// durability makes sure that what a server may lose by its settings is worth a
// warning while the cluster has it twice, and refused when the server is alone.
func (c *clusterWorld) durability(variables ...string) {
	c.t.Helper()
	settled := storetest.World(c.databases[0])
	settings := func() (all, serious []string) {
		found, err := settled.Durability(c.t.Context())
		must(c.t, err)
		for _, l := range found {
			all = append(all, l.Variable)
			if l.Serious {
				serious = append(serious, l.Variable)
			}
		}
		return all, serious
	}
	all, serious := settings()
	if !slices.Equal(all, variables) || len(serious) > 0 || settled.AdmitNumbers(c.t.Context()) != nil {
		c.t.Errorf("on %d members: %v, of which %v are serious; want warnings of %v", len(c.nodes), all, serious, variables)
	}
	for _, n := range c.nodes[1:] {
		n.stop()
	}
	c.awaitMember(c.nodes[0], 1)
	all, serious = settings()
	lossy := new(registry.LossyError)
	if err := settled.AdmitNumbers(c.t.Context()); !slices.Equal(all, variables) || !slices.Equal(serious, variables[:1]) || !errors.As(err, &lossy) {
		c.t.Errorf("on a member that is alone: %v, of which %v are serious, and %v; want that %s is refused", all, serious, err, variables[0])
	}
	c.t.Logf("settings that may lose what was confirmed: %d warnings and 0 refusals on %d members, %d of %d refused on one that is alone", len(variables), len(c.nodes), len(serious), len(all))
}
