//go:build linux

package torture

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

// galera is MariaDB Galera.
type galera struct{ t *testing.T }

// variants are what the nodes differ in: how they answer to a conflict.
var variants = [3][]string{
	{},
	{"--wsrep-retry-autocommit=0"},     // 1213 also for a single statement
	{"--innodb-snapshot-isolation=ON"}, // the default of later versions: 1020 for what changed since it was read
}

// startGalera starts a cluster, whose processes and folder are gone at the
// test's end.
func startGalera(t *testing.T) *cluster {
	t.Helper()
	requireGalera(t)
	dir := newHome(t)
	user := unprivileged(t)
	must(t, own(dir, user))
	env := append(os.Environ(), "PATH="+strings.Join([]string{transferScripts(t, dir), os.Getenv("PATH"), "/usr/sbin", "/sbin"}, ":"))
	g := galera{t}
	c := &cluster{engine: g, t: t, password: rand.Text()}
	ports := freePorts(t, 4*3)
	var peers []string
	for i := range 3 {
		peers = append(peers, address(ports[4*i+1]))
	}
	for i := range 3 {
		n := &node{c: c, name: fmt.Sprintf("n%d", i+1), t: t, user: user, env: env, dir: filepath.Join(dir, fmt.Sprint(i+1)), port: ports[4*i]}
		must(t, os.MkdirAll(n.data(), 0o700))
		must(t, own(n.dir, user))
		must(t, own(n.data(), user))
		n.args = append(g.arguments(n, ports[4*i:4*i+4], peers), variants[i]...)
		n.admin = n.connect()
		c.nodes = append(c.nodes, n)
	}
	g.create(c)
	c.nodes[0].launch("--wsrep-new-cluster")
	c.awaitMember(c.nodes[0], 1)
	for _, n := range c.nodes[1:] {
		n.start()
	}
	c.awaitAll()
	return c
}

// create makes the data folder of the first node. The others get a copy of it
// from the cluster.
func (g galera) create(c *cluster) {
	g.t.Helper()
	n := c.nodes[0]
	n.do("", "mariadb-install-db", "--no-defaults", "--datadir="+n.data(), "--skip-test-db", "--skip-name-resolve")
	n.do(fmt.Sprintf("FLUSH PRIVILEGES;\nCREATE USER 'test'@'127.0.0.1' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO 'test'@'127.0.0.1';\n", c.password),
		server, "--no-defaults", "--datadir="+n.data(), "--bootstrap", "--tmpdir="+n.dir)
}

func (g galera) command(n *node, program string, args []string) *exec.Cmd {
	g.t.Helper()
	path, err := exec.LookPath(program)
	if program == server {
		var found *servertest.Program
		if found, err = servertest.Find(g.t.Context(), servertest.MariaDB); err == nil {
			path = found.Path
		}
	}
	must(g.t, err)
	return exec.Command(path, args...)
}

func (g galera) arguments(n *node, ports []int, peers []string) []string {
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

// start starts a node. One that was killed says by itself how far its data goes,
// and gets the rest.
func (g galera) start(n *node) {
	g.t.Helper()
	if position := g.position(n); position != "" {
		n.launch("--wsrep-start-position=" + position)
	} else {
		n.launch()
	}
}

var recovered = regexp.MustCompile(`Recovered position:\s*(\S+:\d+)`)

// position reads from the data how far they go; "" where there are none.
func (g galera) position(n *node) string {
	g.t.Helper()
	if _, err := os.Stat(filepath.Join(n.data(), "grastate.dat")); err != nil {
		return ""
	}
	report := filepath.Join(n.dir, "recover.log")
	os.Remove(report)
	n.do("", server, append(slices.Clone(n.args), "--wsrep-recover", "--log-error="+report)...)
	b, err := os.ReadFile(report)
	must(g.t, err)
	if m := recovered.FindSubmatch(b); m != nil {
		return string(m[1])
	}
	return ""
}

func (g galera) look(n *node, size int) (state, want string, err error) {
	rows, err := n.admin.Query("SHOW STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_size')")
	if err != nil {
		return "", "", err
	}
	defer rows.Close()
	has := make(map[string]string)
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return "", "", err
		}
		has[name] = value
	}
	return has["wsrep_local_state_comment"] + ", " + has["wsrep_cluster_size"], fmt.Sprintf("Synced, %d", size), rows.Err()
}
