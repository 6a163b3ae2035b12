package postgres_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
	"mergesafe/store"
	"mergesafe/store/storetest"
)

// A pooler is refused, unless the DSN says that a connection has one session behind it, as in PgBouncer's pool_mode session.
func TestPooler(t *testing.T) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("PgBouncer is not installed")
	}
	server := servertest.PrivatePostgres(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := free.Addr().(*net.TCPAddr)
	must(t, free.Close())
	file := filepath.Join(t.TempDir(), "pgbouncer.ini")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "[databases]\npostgres = host=127.0.0.1 port=%d user=root\n[pgbouncer]\nlisten_addr=127.0.0.1\n"+
		"listen_port=%d\nauth_type=any\npool_mode=session\nunix_socket_dir=\n", server.Port, address.Port), 0o644))
	pooler := exec.CommandContext(t.Context(), program, file)
	if os.Getuid() == 0 { // which it refuses to be
		for dir := filepath.Dir(file); dir != os.TempDir(); dir = filepath.Dir(dir) {
			must(t, os.Chmod(dir, 0o755))
		}
		pooler.Args = []string{program, "-u", "nobody", file}
	}
	must(t, pooler.Start())
	t.Cleanup(func() { pooler.Process.Kill(); pooler.Wait() })
	storetest.Await(t, "PgBouncer listens", func() bool {
		conn, err := net.Dial("tcp", address.String())
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	dsn := fmt.Sprintf("postgres://root@%s/postgres", address)
	if _, err := store.Open(t.Context(), dsn); err == nil || !strings.Contains(err.Error(), "a pooler between this program and the server") {
		t.Errorf("a pooler: %v", err)
	}
	db := storetest.WithTables(t, dsn+"?pooler=session")
	node, err := db.OpenNode(t.Context(), 7, storetest.NodeOptions)
	must(t, err)
	must(t, node.Close())
}
