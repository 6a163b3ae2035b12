package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"
)

// host is a private server with a database and an account that is bound by
// read_only.
type host struct {
	*servertest.Server
	address string
	admin   *sql.DB
}

func (h host) set(t *testing.T, statement string) {
	t.Helper()
	_, err := h.admin.Exec(statement)
	must(t, err)
}

func newHost(t *testing.T) host {
	t.Helper()
	server := servertest.Private(t)
	cfg, err := mysql.ParseDSN(server.DSN())
	must(t, err)
	connector, err := mysql.NewConnector(cfg)
	must(t, err)
	h := host{server, cfg.Addr, sql.OpenDB(connector)}
	t.Cleanup(func() { h.admin.Close() })
	for _, statement := range []string{
		"CREATE DATABASE game", "CREATE TABLE game.notes (n INT PRIMARY KEY)",
		"CREATE USER 'game'@'127.0.0.1' IDENTIFIED BY 's3cr3t'", "GRANT ALL ON game.* TO 'game'@'127.0.0.1'",
	} {
		h.set(t, statement)
	}
	return h
}

// With several hosts in the DSN, what writes gets the one that takes writes, also
// after a switch; what only reads gets the first that answers. Two that both take
// writes are refused.
func TestHosts(t *testing.T) {
	a, b, dead := newHost(t), newHost(t), deadAddress(t)
	const readOnly, writable = "SET GLOBAL read_only = ON", "SET GLOBAL read_only = OFF"
	a.set(t, readOnly)
	dsn := fmt.Sprintf("mysql:game:s3cr3t@tcp(%s,%s,%s)/game", dead, a.address, b.address)

	n := 0
	db := dial(t, dsn)
	write := func() error {
		n++
		_, err := db.Exec(t.Context(), "INSERT INTO notes VALUES (?)", n)
		return err
	}
	writes := func(to host) {
		t.Helper()
		must(t, write())
		var there int
		must(t, to.admin.QueryRow("SELECT COUNT(*) FROM game.notes WHERE n = ?", n).Scan(&there))
		if there != 1 {
			t.Errorf("row %d is not on %s", n, to.address)
		}
	}
	busy := func() { // several connections, which are idle afterwards
		var open []*sql.Conn
		for range 5 {
			conn, err := db.Pool().Conn(t.Context())
			must(t, err)
			open = append(open, conn)
		}
		for _, conn := range open {
			must(t, conn.Close())
		}
	}
	writes(b)
	busy()
	reader, err := sqldb.Dial(t.Context(), dsn, sqldb.ReadOnly)
	must(t, err)
	defer reader.Close()
	if got := addressOf(t, reader); got != a.address {
		t.Errorf("what only reads is on %s, want the first that answers, %s", got, a.address)
	}

	// The switch. One change is told so; no other connection leads there then.
	b.set(t, readOnly)
	a.set(t, writable)
	if err := write(); !errors.Is(err, sqldb.ErrReadOnly) || errors.Is(err, sqldb.ErrOutcomeUnknown) {
		t.Errorf("a change on a server that was made read-only: %v", err)
	}
	for range 6 {
		writes(a)
	}
	if first := connection(t, db); first != connection(t, db) {
		t.Error("after the switch no connection is used twice")
	}
	busy()

	a.set(t, readOnly)
	write() // is told so
	err = write()
	for _, want := range []string{"no host takes writes", dead + ": nothing answers", a.address + ": read-only: read_only is ON", b.address + ": read-only: read_only is ON"} {
		if err == nil || !errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrOutcomeUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("without a host that takes writes: %v, want %q", err, want)
		}
	}

	a.set(t, writable)
	b.set(t, writable)
	_, err = sqldb.Dial(t.Context(), dsn, sqldb.ReadWrite)
	if err == nil || !strings.Contains(err.Error(), a.address+" and "+b.address+" both accept writes") {
		t.Errorf("two servers take writes: %v", err)
	}
	b.set(t, readOnly)
	writes(a)

	db = dial(t, fmt.Sprintf("mysql:game:s3cr3t@tcp(%s,%s)/game", silentAddress(t), a.address))
	writes(a)

	// What is said of a host that refuses a later connection is the same.
	a.set(t, "ALTER USER 'game'@'127.0.0.1' REQUIRE SSL")
	reader.Pool().SetMaxIdleConns(0)
	if err := reader.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "must use TLS") {
		t.Errorf("an account that needs TLS: %v", err)
	}
}

// A query that takes longer than its context says nothing of the host: the other connections stay, those of the registry
// among them. A host that does not answer is left.
func TestSlowHost(t *testing.T) {
	a, b := newHost(t), newHost(t)
	b.set(t, "SET GLOBAL read_only = ON")
	connector, err := sqldb.NewConnector(fmt.Sprintf("mysql:game:s3cr3t@tcp(%s,%s)/game", a.address, b.address), sqldb.ReadWrite)
	must(t, err)
	db := sqldb.Wrap(sql.OpenDB(connector), sqldb.MySQL)
	defer db.Close()
	soon := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(t.Context(), 100*time.Millisecond)
	}
	for what, slow := range map[string]func() error{
		"a query": func() error {
			ctx, cancel := soon()
			defer cancel()
			return db.Get(ctx, new(int), "SELECT SLEEP(60)")
		},
		"a query within a transaction": func() error {
			return db.InTx(t.Context(), func(tx *sqldb.Tx) error {
				ctx, cancel := soon()
				defer cancel()
				return tx.Get(ctx, new(int), "SELECT SLEEP(60)")
			})
		},
		"a query of which a transaction reads some rows": func() error {
			return db.InTx(t.Context(), func(tx *sqldb.Tx) error {
				ctx, cancel := context.WithCancel(t.Context())
				return tx.Query(ctx, sqldb.Seldom, func(rows *sql.Rows) error {
					rows.Next()
					cancel()
					for rows.Next() {
					}
					return rows.Err()
				}, "SELECT 1 FROM information_schema.columns AS a, information_schema.columns AS b")
			})
		},
		"a query whose error a transaction passes over": func() error {
			return db.InTx(t.Context(), func(tx *sqldb.Tx) error {
				ctx, cancel := soon()
				defer cancel()
				tx.Get(ctx, new(int), "SELECT SLEEP(60)")
				return nil
			})
		},
		"a new connection": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := connector.Connect(ctx)
			return err
		},
	} {
		held, err := db.Pool().Conn(t.Context())
		must(t, err)
		var id int
		must(t, held.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
		if err := slow(); err == nil {
			t.Errorf("%s was not slow", what)
		}
		must(t, held.Close())
		if now := connection(t, db); now != id {
			t.Errorf("after %s that was slow the pool has the connection %d, want %d", what, now, id)
		}
	}

	must(t, a.Freeze())
	defer a.Thaw()
	b.set(t, "SET GLOBAL read_only = OFF")
	await(t, "the host that does not answer is left", func() bool {
		ctx, cancel := soon()
		defer cancel()
		_, err := db.Exec(ctx, "INSERT INTO notes VALUES (1)")
		return err == nil
	})
}

// A host that takes connections and says nothing holds up nothing beyond the
// context.
func TestSilentHosts(t *testing.T) {
	db, err := sqldb.Open(fmt.Sprintf("mysql:game:s3cr3t@tcp(%s,%s)/game", silentAddress(t), silentAddress(t)), sqldb.ReadWrite)
	must(t, err)
	defer db.Close()
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := db.Exec(ctx, "INSERT INTO notes VALUES (1)")
		cancel()
		if !errors.Is(err, sqldb.ErrUnavailable) || errors.Is(err, sqldb.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "no answer") {
			t.Errorf("with hosts that say nothing: %v", err)
		}
	}
}

func connection(t *testing.T, db *sqldb.DB) (id int) {
	t.Helper()
	must(t, db.Get(t.Context(), &id, "SELECT CONNECTION_ID()"))
	return id
}

// The address to which a pool leads.
func addressOf(t *testing.T, db *sqldb.DB) string {
	t.Helper()
	var port string
	must(t, db.Get(t.Context(), &port, "SELECT @@port"))
	return net.JoinHostPort("127.0.0.1", port)
}

// silentAddress is one at which connections are taken, and nothing is said.
func silentAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// deadAddress is one at which nothing listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func TestHostsOfDSN(t *testing.T) {
	for dsn, want := range map[string]string{
		"mysql:g:s3cr3t@tcp(a:1,b)/d":                   "a:1,b:3306",
		"mysql:g:s3cr3t@tcp(a, b:2 ,c)/d?tls=no":        "",
		"mysql:g:s3cr3t@tcp(a, b:2 ,c)/d":               "a:3306,b:2,c:3306",
		"mysql:g:s3cr3t@tcp([::1]:1,[::2]:3306)/d":      "[::1]:1,[::2]:3306",
		"mysql:g:x,s3cr3t@tcp(y,z)@tcp(a,b)/d":          "a:3306,b:3306",
		"mysql:g:s3cr3t@tcp(a)/d":                       "a:3306",
		"mysql:g:s3cr3t@tcp(a,b)/d?tls-server-name=n/x": "a:3306,b:3306",
		"mysql:g:s3cr3t@unix(/a.b)/d":                   "/a.b",
		"mysql:g:s3cr3t@tcp(a,,b)/d":                    "",
		"mysql:g:s3cr3t@tcp(a,a)/d":                     "",
	} {
		server, ok := sqldb.ParseServer(dsn)
		if server.Address != want || ok != (want != "") {
			t.Errorf("%s: %q, %t, want %q", dsn, server.Address, ok, want)
		}
		shown := sqldb.Redact(dsn)
		if _, err := sqldb.Open(dsn, sqldb.ReadWrite); (err == nil) != ok {
			t.Errorf("%s: %v", dsn, err)
		} else if err != nil {
			shown += err.Error()
		}
		if strings.Contains(shown, "s3cr3t") || ok && !strings.Contains(shown, "("+want+")/d") {
			t.Errorf("%s is shown as %s", dsn, shown)
		}
	}
}
