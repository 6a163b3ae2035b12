//go:build linux

package torture

import (
	"testing"
)

// The same load on a group of three, whose members all stand in the DSN: what was
// on a member that is killed, frozen or cut off goes on with another by itself. If
// there is no majority, minting stops after the window, and recovers when there is
// one again.
func TestGroup(t *testing.T) {
	if !*wanted {
		t.Skip("it takes minutes and three database servers: LONG=1 go test ./store/torture")
	}
	for _, mode := range []struct {
		name       string
		onePrimary bool
	}{{"one primary", true}, {"every member takes writes", false}} {
		t.Run(mode.name, func(t *testing.T) {
			c := newWorld(t, startGroup(t, mode.onePrimary))
			c.calm()
			c.twoAtOnce()
			for range *rounds {
				c.memberKilled()
				c.memberFrozen()
				c.memberCutOff()
				c.groupLost()
			}
			c.end()
			c.durability("innodb_flush_log_at_trx_commit", "sync_binlog")
		})
	}
}

func (c *clusterWorld) group() *group { return c.engine.(*group) }

// goesOn waits until every process has rows confirmed again.
func (c *clusterWorld) goesOn() {
	c.t.Helper()
	for _, p := range c.minters {
		p.AwaitRows(20)
		p.AwaitMore(1000)
	}
}

// away makes sure that the group goes on without a member, and with it when it is
// back.
func (c *clusterWorld) away(member int, what string, back func()) {
	c.t.Helper()
	c.t.Logf("%s, which takes writes, is %s", c.nodes[member].name, what)
	c.w.Fault()
	for i, n := range c.nodes {
		if i != member {
			c.awaitMember(n, len(c.nodes)-1)
		}
	}
	c.goesOn()
	back()
	c.awaitAll()
	c.goesOn()
}

func (c *clusterWorld) memberKilled() {
	i := c.group().primary(c.nodes[0])
	c.nodes[i].kill()
	c.away(i, "killed", c.nodes[i].start)
}

func (c *clusterWorld) memberFrozen() {
	i := c.group().primary(c.nodes[0])
	c.nodes[i].freeze()
	c.away(i, "frozen", c.nodes[i].thaw)
}

func (c *clusterWorld) memberCutOff() {
	i := c.group().primary(c.nodes[0])
	heal := c.group().cut(i)
	c.away(i, "cut off from the others, not from its clients", heal)
}

// groupLost leaves the primary alone. It must not serve.
func (c *clusterWorld) groupLost() {
	i := c.group().primary(c.nodes[0])
	c.t.Logf("all members but %s, which takes writes, are frozen", c.nodes[i].name)
	others := []*node{c.nodes[(i+1)%3], c.nodes[(i+2)%3]}
	for _, n := range others {
		n.freeze()
	}
	c.w.Fault()
	for i := range c.minters {
		c.exhausted(i)
	}
	for _, n := range others {
		n.thaw()
	}
	c.awaitAll()
	for _, p := range c.minters {
		p.Await(Recovered)
	}
	c.goesOn()
}
