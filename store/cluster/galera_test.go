//go:build linux

package cluster

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// patience is how long a test waits for the cluster, on a slow and busy machine.
const patience = 3 * time.Minute

// galera is a cluster of three nodes.
type galera struct {
	t        *testing.T
	password string
	nodes    []*galeraNode
}

// galeraNode is one of them, running or not.
type galeraNode struct {
	name   string
	t      *testing.T
	user   *syscall.Credential
	env    []string
	dir    string
	port   int
	args   []string
	admin  *sql.DB
	run    *exec.Cmd
	exited chan struct{}
}

// variants are what the nodes differ in: how they answer to a conflict.
var variants = [3][]string{
	{},
	{"--wsrep-retry-autocommit=0"},     // 1213 also for a single statement
	{"--innodb-snapshot-isolation=ON"}, // the default of later versions: 1020 for what changed since it was read
}

// startGalera starts a cluster, whose processes and folder are gone at the
// test's end.
func startGalera(t *testing.T) *galera {
	t.Helper()
	dir, user := newHome(t)
	env := append(os.Environ(), "PATH="+strings.Join([]string{transferScripts(t, dir), os.Getenv("PATH"), "/usr/sbin", "/sbin"}, ":"))
	g := &galera{t: t, password: rand.Text()}
	ports := freePorts(t, 4*3)
	var peers []string
	for i := range 3 {
		peers = append(peers, address(ports[4*i+1]))
	}
	for i := range 3 {
		n := &galeraNode{name: fmt.Sprintf("n%d", i+1), t: t, user: user, env: env, dir: filepath.Join(dir, fmt.Sprint(i+1)), port: ports[4*i]}
		must(t, os.MkdirAll(n.data(), 0o700))
		must(t, own(n.dir, user))
		must(t, own(n.data(), user))
		n.args = append(n.arguments(ports[4*i:4*i+4], peers), variants[i]...)
		n.admin = n.connect(g.password)
		g.nodes = append(g.nodes, n)
	}
	g.create()
	g.nodes[0].start("--wsrep-new-cluster")
	g.nodes[0].awaitSynced()
	for _, n := range g.nodes[1:] {
		n.start()
	}
	g.awaitSynced()
	return g
}

// create makes the data folder of the first node. The others get a copy of it
// from the cluster.
func (g *galera) create() {
	g.t.Helper()
	n := g.nodes[0]
	n.do("", "mariadb-install-db", "--no-defaults", "--datadir="+n.data(), "--skip-test-db", "--skip-name-resolve")
	n.do(fmt.Sprintf("FLUSH PRIVILEGES;\nCREATE USER 'test'@'127.0.0.1' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO 'test'@'127.0.0.1';\n", g.password),
		"mariadbd", "--no-defaults", "--datadir="+n.data(), "--bootstrap", "--tmpdir="+n.dir)
}

// dsn names the database on one of the nodes, as package store takes it.
func (g *galera) dsn(node int, database string) string {
	return fmt.Sprintf("mysql:test:%s@tcp(%s)/%s", g.password, address(g.nodes[node].port), database)
}

// awaitSynced waits until all nodes are in one cluster and serve.
func (g *galera) awaitSynced() {
	g.t.Helper()
	for _, n := range g.nodes {
		n.awaitSynced()
		n.awaitStatus("wsrep_cluster_size", fmt.Sprint(len(g.nodes)))
	}
}

func (n *galeraNode) data() string { return filepath.Join(n.dir, "data") }

func (n *galeraNode) arguments(ports []int, peers []string) []string {
	return []string{
		"--no-defaults", "--datadir=" + n.data(), "--tmpdir=" + n.dir, "--socket=" + filepath.Join(n.dir, "socket"),
		"--pid-file=" + filepath.Join(n.dir, "pid"), "--log-error=" + n.log(),
		"--bind-address=127.0.0.1", "--port=" + fmt.Sprint(ports[0]), "--skip-name-resolve", "--max-connections=300",
		"--character-set-server=utf8mb4", "--performance-schema=OFF", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M",
		// What is durable is what the cluster has; see store.Registry.
		"--innodb-flush-log-at-trx-commit=2", "--innodb-autoinc-lock-mode=2", "--binlog-format=ROW",
		"--wsrep-on=ON", "--wsrep-provider=" + provider, "--wsrep-cluster-name=mergesafe",
		"--wsrep-cluster-address=gcomm://" + strings.Join(peers, ","),
		"--wsrep-node-name=" + n.name, "--wsrep-node-address=" + address(ports[1]), "--wsrep-node-incoming-address=" + address(ports[0]),
		"--wsrep-sst-method=rsync", "--wsrep-sst-receive-address=" + address(ports[3]),
		// The loss of a node is noticed in a second or three, rather than in five or fifteen.
		"--wsrep-provider-options=gmcast.listen_addr=tcp://" + address(ports[1]) + ";ist.recv_addr=" + address(ports[2]) +
			";gcache.size=64M;evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.2S;evs.suspect_timeout=PT1S" +
			";evs.inactive_timeout=PT3S;evs.install_timeout=PT3S;pc.recovery=true",
	}
}

func (n *galeraNode) log() string { return filepath.Join(n.dir, "error.log") }

func (n *galeraNode) connect(password string) *sql.DB {
	n.t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "test", password, "tcp", address(n.port)
	cfg.Timeout, cfg.ReadTimeout = 2*time.Second, 2*time.Second
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	must(n.t, err)
	db := sql.OpenDB(connector)
	n.t.Cleanup(func() { db.Close() })
	return db
}

// start starts the node. One that was killed says by itself how far its data
// goes, and gets the rest.
func (n *galeraNode) start(args ...string) {
	n.t.Helper()
	if position := n.position(); position != "" {
		args = append(args, "--wsrep-start-position="+position)
	}
	n.run, n.exited = n.command("mariadbd", append(slices.Clone(n.args), args...)...), make(chan struct{})
	must(n.t, n.run.Start())
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

var recovered = regexp.MustCompile(`Recovered position:\s*(\S+:\d+)`)

// position reads from the data how far they go; "" where there are none.
func (n *galeraNode) position() string {
	n.t.Helper()
	if _, err := os.Stat(filepath.Join(n.data(), "grastate.dat")); err != nil {
		return ""
	}
	report := filepath.Join(n.dir, "recover.log")
	os.Remove(report)
	n.do("", "mariadbd", append(slices.Clone(n.args), "--wsrep-recover", "--log-error="+report)...)
	b, err := os.ReadFile(report)
	must(n.t, err)
	if m := recovered.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return ""
}

// kill ends the node as kill -9 does.
func (n *galeraNode) kill() {
	n.t.Helper()
	must(n.t, n.run.Process.Kill())
	<-n.exited
}

// freeze cuts the node off: to the others it is gone, and it knows nothing.
func (n *galeraNode) freeze() {
	n.t.Helper()
	must(n.t, n.run.Process.Signal(syscall.SIGSTOP))
}

func (n *galeraNode) thaw() {
	n.t.Helper()
	must(n.t, n.run.Process.Signal(syscall.SIGCONT))
}

func (n *galeraNode) awaitSynced() {
	n.t.Helper()
	n.awaitStatus("wsrep_local_state_comment", "Synced")
}

// awaitStatus waits until a status variable of the node has a value.
func (n *galeraNode) awaitStatus(name, want string) {
	n.t.Helper()
	var value string
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var ignored string
		if err = n.admin.QueryRow("SHOW STATUS LIKE '"+name+"'").Scan(&ignored, &value); err == nil && value == want {
			return
		}
		select {
		case <-n.exited:
			n.t.Fatalf("%s ended:\n%s", n.name, n.logTail())
		default:
		}
	}
	n.t.Fatalf("%s: %s is %q, want %q (%v)\n%s", n.name, name, value, want, err, n.logTail())
}

func (n *galeraNode) logTail() string {
	b, err := os.ReadFile(n.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "\n")
}

// do runs a program to its end.
func (n *galeraNode) do(stdin, program string, args ...string) {
	n.t.Helper()
	cmd := n.command(program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("%s: %s: %v\n%s\n%s", n.name, program, err, out, n.logTail())
	}
}

func (n *galeraNode) command(program string, args ...string) *exec.Cmd {
	n.t.Helper()
	path, err := exec.LookPath(program)
	if program == "mariadbd" {
		var server *servertest.Program
		if server, err = servertest.Find(n.t.Context(), servertest.MariaDB); err == nil {
			path = server.Path
		}
	}
	must(n.t, err)
	cmd := exec.Command(path, args...)
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
