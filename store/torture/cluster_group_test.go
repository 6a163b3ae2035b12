//go:build linux

package torture

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// group is MySQL Group Replication. Each member has a network of its own, so that
// it can be cut off from the others while its clients still reach it.
type group struct {
	t       *testing.T
	program *servertest.Program
	gates   []*gate // of each member, to the others
}

// startGroup starts a group, whose processes and folder are gone at the test's
// end. If it is not of one primary, every member takes writes.
func startGroup(t *testing.T, onePrimary bool) *cluster {
	t.Helper()
	program, err := servertest.Find(t.Context(), servertest.MySQL)
	must(t, err)
	g := &group{t: t, program: program}
	dir := newHome(t)
	c := &cluster{engine: g, t: t, password: rand.Text()[:24], several: true}
	ports := freePorts(t, 2*3)
	name := fmt.Sprintf("00000000-0000-4000-8000-%012x", os.Getpid())
	var seeds []string
	for i := range 3 {
		seeds = append(seeds, address(ports[2*i+1]))
	}
	for i := range 3 {
		n := &node{c: c, name: fmt.Sprintf("m%d", i+1), t: t, env: os.Environ(), dir: filepath.Join(dir, fmt.Sprint(i+1)), port: ports[2*i], network: newNetwork(t)}
		must(t, os.MkdirAll(n.dir, 0o700))
		n.args = append(g.arguments(n),
			fmt.Sprintf("--server-id=%d", i+1), "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--report-host=127.0.0.1", fmt.Sprintf("--report-port=%d", n.port),
			"--plugin-load-add=group_replication.so")
		for _, option := range []string{
			"group-name=" + name, "start-on-boot=OFF", "local-address=" + seeds[i], "group-seeds=" + strings.Join(seeds, ","), "ip-allowlist=127.0.0.1",
			fmt.Sprintf("single-primary-mode=%t", onePrimary), "recovery-get-public-key=ON", "consistency=BEFORE_ON_PRIMARY_FAILOVER",
			"member-expel-timeout=0", "unreachable-majority-timeout=10", "exit-state-action=READ_ONLY", "autorejoin-tries=0", // see look
		} {
			n.args = append(n.args, "--loose-group-replication-"+option)
		}
		n.admin = n.connect()
		c.nodes, g.gates = append(c.nodes, n), append(g.gates, new(gate))
	}
	for i, n := range c.nodes {
		forward(t, nil, n.network, n.port)
		for j, other := range c.nodes {
			if i != j {
				forward(t, other.network, n.network, n.port, g.gates[i], g.gates[j])
				forward(t, other.network, n.network, ports[2*i+1], g.gates[i], g.gates[j])
			}
		}
	}
	// Not in the binary log: each member makes the account for itself.
	account := filepath.Join(dir, "account.sql")
	must(t, os.WriteFile(account, []byte(fmt.Sprintf("SET SESSION sql_log_bin = 0;\nCREATE USER 'test'@'127.0.0.1' IDENTIFIED BY '%s';\nGRANT ALL ON *.* TO 'test'@'127.0.0.1';\n", c.password)), 0o600))
	for i, n := range c.nodes {
		must(t, program.Initialize(t.Context(), n.data()))
		n.launch("--init-file=" + account)
		n.awaitAnswer()
		g.run(n, fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_USER = 'test', SOURCE_PASSWORD = '%s' FOR CHANNEL 'group_replication_recovery'", c.password))
		if i == 0 {
			g.run(n, "SET GLOBAL group_replication_bootstrap_group = ON", "START GROUP_REPLICATION", "SET GLOBAL group_replication_bootstrap_group = OFF")
		} else {
			g.run(n, "START GROUP_REPLICATION")
		}
	}
	c.awaitAll()
	return c
}

func (g *group) arguments(n *node) []string {
	return []string{
		"--datadir=" + n.data(), "--tmpdir=" + n.dir, "--socket=" + filepath.Join(n.dir, "socket"),
		"--pid-file=" + filepath.Join(n.dir, "pid"), "--log-error=" + n.log(), "--bind-address=127.0.0.1", fmt.Sprintf("--port=%d", n.port),
		"--skip-name-resolve", "--mysqlx=OFF", "--secure-file-priv=", "--max-connections=300", "--innodb-buffer-pool-size=64M", "--innodb-redo-log-capacity=64M",
		// What is durable is what the group has; see store.Registry.
		"--innodb-flush-log-at-trx-commit=2", "--sync-binlog=0",
	}
}

func (g *group) command(n *node, program string, args []string) *exec.Cmd {
	g.t.Helper()
	if program != server {
		g.t.Fatalf("the group has no program %q", program)
	}
	return g.program.Command(context.Background(), args...)
}

// awaitAnswer waits until a server is up.
func (n *node) awaitAnswer() {
	n.t.Helper()
	for deadline := time.Now().Add(clusterPatience); n.admin.Ping() != nil; time.Sleep(50 * time.Millisecond) {
		select {
		case <-n.exited:
			n.t.Fatalf("%s ended:\n%s", n.name, n.logTail())
		default:
		}
		if time.Now().After(deadline) {
			n.t.Fatalf("%s does not answer\n%s", n.name, n.logTail())
		}
	}
}

// run runs statements that may take long.
func (g *group) run(n *node, statements ...string) {
	g.t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr, cfg.Logger = "test", n.c.password, "tcp", address(n.port), &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	must(g.t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			g.t.Fatalf("%s: %.60s: %v\n%s", n.name, statement, err, n.logTail())
		}
	}
}

// start starts a member that was killed. It joins by itself.
func (g *group) start(n *node) {
	g.t.Helper()
	n.launch("--loose-group-replication-start-on-boot=ON")
}

// look stops and starts a member that the group has expelled, as an operator does.
// The answers to that may take longer than the connection waits: the next look
// tells.
func (g *group) look(n *node, size int) (state, want string, err error) {
	err = n.admin.QueryRow(`SELECT CONCAT(MAX(IF(MEMBER_ID = @@server_uuid, MEMBER_STATE, '')), ', ', SUM(MEMBER_STATE = 'ONLINE'), ' of ', COUNT(*))
		FROM performance_schema.replication_group_members`).Scan(&state)
	switch {
	case strings.HasPrefix(state, "ERROR"):
		n.admin.Exec("STOP GROUP_REPLICATION")
	case strings.HasPrefix(state, "OFFLINE"):
		n.admin.Exec("START GROUP_REPLICATION")
	}
	return state, fmt.Sprintf("ONLINE, %d of %[1]d", size), err
}

// primary returns which member takes writes, as another one sees it.
func (g *group) primary(seenBy *node) (primary int) {
	g.t.Helper()
	var port int
	must(g.t, seenBy.admin.QueryRow("SELECT MEMBER_PORT FROM performance_schema.replication_group_members WHERE MEMBER_ROLE = 'PRIMARY' ORDER BY MEMBER_STATE = 'ONLINE' DESC").Scan(&port))
	for i, n := range seenBy.c.nodes {
		if n.port == port {
			return i
		}
	}
	g.t.Fatalf("no member has the port %d", port)
	return 0
}

// cut cuts a member off from the others, and heals what it has cut.
func (g *group) cut(member int) (heal func()) {
	g.gates[member].Lock()
	return g.gates[member].Unlock
}
