//go:build linux

package torture

import (
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/store/storetest"
)

// clusterPatience is how long a test waits for the cluster, on a slow and busy machine.
const clusterPatience = 3 * time.Minute

// cluster is three database servers that have one state.
type cluster struct {
	engine
	t        *testing.T
	password string
	nodes    []*node
	several  bool // a DSN names all nodes
}

// engine is what kinds of clusters differ in.
type engine interface {
	// command returns how a program of the server is run.
	command(n *node, program string, args []string) *exec.Cmd

	// start starts a node that was there before, and has it join the others.
	start(n *node)

	// look returns what a node says of itself, and what it says when it serves in
	// a cluster of so many.
	look(n *node, size int) (state, want string, err error)
}

// node is one of the servers, running or not.
type node struct {
	c      *cluster
	name   string
	t      *testing.T
	user   *syscall.Credential // nil: who runs the test
	env    []string
	dir    string
	port   int
	args   []string
	admin  *sql.DB
	run    *exec.Cmd
	exited chan struct{}

	network *network // nil: the machine's
}

// server stands for the program of the database server.
const server = "the server"

// onEach runs a test on a cluster of each kind.
func onEach(t *testing.T, test func(*testing.T, *cluster)) {
	if !*wanted {
		t.Skip("it takes minutes and three database servers: LONG=1 go test ./store/torture")
	}
	t.Run("Galera", func(t *testing.T) { test(t, startGalera(t)) })
	t.Run("group of one primary", func(t *testing.T) { test(t, startGroup(t, true)) })
}

// writer returns the node that takes writes; any, if all do.
func (c *cluster) writer(seenBy *node, any int) int {
	if g, ok := c.engine.(*group); ok {
		return g.primary(seenBy)
	}
	return any
}

// dsn names the database on the cluster, as package store takes it: on this node,
// or on this node first.
func (c *cluster) dsn(node int, database string) string {
	hosts := address(c.nodes[node].port)
	for i := 1; c.several && i < len(c.nodes); i++ {
		hosts += "," + address(c.nodes[(node+i)%len(c.nodes)].port)
	}
	return fmt.Sprintf("mysql:test:%s@tcp(%s)/%s", c.password, hosts, database)
}

// awaitAll waits until all nodes are in one cluster and serve.
func (c *cluster) awaitAll() {
	c.t.Helper()
	c.await(len(c.nodes), c.nodes...)
}

// awaitMember waits until a node serves in a cluster of so many.
func (c *cluster) awaitMember(n *node, size int) {
	c.t.Helper()
	c.await(size, n)
}

// await waits until nodes say at the same time that they serve in a cluster of so
// many: one that was cut off does not know that at first.
func (c *cluster) await(size int, nodes ...*node) {
	c.t.Helper()
	for deadline := time.Now().Add(clusterPatience); ; time.Sleep(50 * time.Millisecond) {
		var missing []string
		for _, n := range nodes {
			state, want, err := c.look(n, size)
			if err == nil && state == want {
				continue
			}
			missing = append(missing, fmt.Sprintf("%s is %q, want %q (%v)\n%s", n.name, state, want, err, n.logTail()))
			select {
			case <-n.exited:
				c.t.Fatalf("%s ended:\n%s", n.name, n.logTail())
			default:
			}
		}
		if len(missing) == 0 {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatal(strings.Join(missing, "\n"))
		}
	}
}

// awaitSame waits until all nodes have the same rows.
func (c *cluster) awaitSame(tables ...string) {
	c.t.Helper()
	var all []string
	for deadline := time.Now().Add(clusterPatience); ; time.Sleep(50 * time.Millisecond) {
		all = all[:0]
		for _, n := range c.nodes {
			var sums []string
			for _, table := range tables {
				var sum string
				must(c.t, n.admin.QueryRow("CHECKSUM TABLE "+table).Scan(new(string), &sum))
				sums = append(sums, sum)
			}
			all = append(all, strings.Join(sums, " "))
		}
		if len(slices.Compact(slices.Clone(all))) == 1 {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("the nodes have different rows: the checksums of %s are %q", strings.Join(tables, ", "), all)
		}
	}
}

// createDatabase creates a database, and waits until all nodes have it.
func (c *cluster) createDatabase(name string) {
	c.t.Helper()
	_, err := c.nodes[0].admin.Exec("CREATE DATABASE " + name)
	must(c.t, err)
	c.awaitTables(name)
}

// awaitTables waits until all nodes have the database and the tables that the
// first has: an answer from that one does not mean that the others have followed.
func (c *cluster) awaitTables(database string) {
	c.t.Helper()
	count := func(n *node) (found int) {
		must(c.t, n.admin.QueryRow("SELECT (SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?)"+
			" + (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?)", database, database).Scan(&found))
		return found
	}
	want := count(c.nodes[0])
	for _, n := range c.nodes {
		storetest.Await(c.t, fmt.Sprintf("%s has %q and its tables", n.name, database), func() bool { return count(n) == want })
	}
}

func (n *node) data() string { return filepath.Join(n.dir, "data") }

func (n *node) log() string { return filepath.Join(n.dir, "error.log") }

func (n *node) connect() *sql.DB {
	n.t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "test", n.c.password, "tcp", address(n.port)
	cfg.Timeout, cfg.ReadTimeout = 2*time.Second, 2*time.Second
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	must(n.t, err)
	db := sql.OpenDB(connector)
	n.t.Cleanup(func() { db.Close() })
	return db
}

// start starts a node that was killed, and has it join the others.
func (n *node) start() {
	n.t.Helper()
	n.c.engine.start(n)
}

// launch starts the server program.
func (n *node) launch(args ...string) {
	n.t.Helper()
	n.run, n.exited = n.prepare(n.c.command(n, server, append(n.args[:len(n.args):len(n.args)], args...))), make(chan struct{})
	n.inside(func() { must(n.t, n.run.Start()) })
	run, exited := n.run, n.exited
	go func() {
		run.Wait()
		syscall.Kill(-run.Process.Pid, syscall.SIGKILL) // its helpers, which copy data between nodes, are in its process group
		close(exited)
	}()
	n.t.Cleanup(func() {
		run.Process.Kill()
		<-exited
	})
}

// kill ends the node as kill -9 does.
func (n *node) kill() {
	n.t.Helper()
	must(n.t, n.run.Process.Kill())
	<-n.exited
}

// stop shuts the node down: it takes leave of the others.
func (n *node) stop() {
	n.t.Helper()
	must(n.t, n.run.Process.Signal(syscall.SIGTERM))
	<-n.exited
}

// freeze cuts the node off: to the others it is gone, and it knows nothing.
func (n *node) freeze() {
	n.t.Helper()
	must(n.t, n.run.Process.Signal(syscall.SIGSTOP))
}

func (n *node) thaw() {
	n.t.Helper()
	must(n.t, n.run.Process.Signal(syscall.SIGCONT))
}

func (n *node) logTail() string {
	b, err := os.ReadFile(n.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// do runs a program to its end.
func (n *node) do(stdin, program string, args ...string) {
	n.t.Helper()
	cmd := n.prepare(n.c.command(n, program, args))
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("%s: %s: %v\n%s\n%s", n.name, program, err, out, n.logTail())
	}
}

// inside calls f where the node's sockets are.
func (n *node) inside(f func()) {
	if n.network == nil {
		f()
	} else {
		n.network.do(f)
	}
}

// prepare gives a program the folder, the account and the end of the node.
func (n *node) prepare(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir, cmd.Env = n.dir, n.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: n.user}
	return cmd
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// freePorts returns loopback ports that are free now, below those that systems
// take for outgoing connections.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for port := 16000 + os.Getpid()%8000; len(ports) < n; port++ {
		if l, err := net.Listen("tcp4", address(port)); err == nil {
			l.Close()
			ports = append(ports, port)
		}
	}
	return ports
}
