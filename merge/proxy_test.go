package merge

import (
	"context"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// cutAt says what a [proxy] does with the connection on which a COMMIT goes by. Either way the client gets no answer.
type cutAt int

const (
	cutNever  cutAt = iota
	cutBefore       // the COMMIT does not reach the server, which rolls back
	cutAfter        // the server has committed
)

// proxy passes connections on to a server, and cuts those that it is asked to. Its methods are safe for concurrent use.
type proxy struct {
	cfg     *mysql.Config // of the way through the proxy
	server  string
	decide  func(n int64) cutAt
	commits atomic.Int64
}

// newProxy starts a proxy on loopback in front of the server that the DSN names, in the form of
// go-sql-driver/mysql, and stops it at the test's end. decide is asked at each COMMIT, which come as
// statements of their own, and gets how many went by before; it may be called by several goroutines at
// once.
func newProxy(t testing.TB, dsn string, decide func(n int64) cutAt) *proxy {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{cfg: cfg.Clone(), server: cfg.Addr, decide: decide}
	p.cfg.Net, p.cfg.Addr = "tcp", listen.Addr().String()
	ctx, cancel := context.WithCancel(context.Background()) // not the test's: its cleanups may need the proxy
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.pass(ctx, client) })
		}
	})
	t.Cleanup(func() {
		listen.Close()
		cancel()
		all.Wait()
	})
	return p
}

// DSN is that of the server, by way of the proxy.
func (p *proxy) DSN() string { return p.cfg.FormatDSN() }

// Commits returns how many COMMITs went by, those included at which the connection was cut.
func (p *proxy) Commits() int64 { return p.commits.Load() }

// pass serves one connection until it ends, is cut, or the context ends.
func (p *proxy) pass(ctx context.Context, client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { client.Close(); server.Close() })()
	var mute atomic.Bool // the next answer is not passed on
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		defer client.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := server.Read(buffer)
			if err != nil || mute.Load() {
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	p.requests(client, server, &mute)
	if mute.Load() {
		<-answers // the server has answered, so it has committed
	}
	server.Close()
	<-answers
}

// requests passes on what a client asks, packet by packet. It sets mute before the last one if that is a COMMIT whose
// answer is not to be passed on.
func (p *proxy) requests(client io.Reader, server io.Writer, mute *atomic.Bool) {
	for {
		// Three bytes of length, little-endian, and one that counts; then the command.
		packet := make([]byte, 4, 4<<10)
		if _, err := io.ReadFull(client, packet); err != nil {
			return
		}
		size := int(binary.LittleEndian.Uint32(packet) & 0xffffff)
		packet = append(packet, make([]byte, size)...)
		if _, err := io.ReadFull(client, packet[4:]); err != nil {
			return
		}
		const query = "\x03" // COM_QUERY
		cut := cutNever
		if string(packet[4:]) == query+"COMMIT" {
			cut = p.decide(p.commits.Add(1) - 1)
		}
		if cut == cutBefore {
			return
		}
		mute.Store(cut == cutAfter)
		if _, err := server.Write(packet); err != nil || cut == cutAfter {
			return
		}
	}
}

// What passes through a proxy is what the server says, and a connection that is cut at a COMMIT has lost either the
// transaction or the answer only.
func TestProxy(t *testing.T) {
	dsn := servertest.DSN(t)
	connect := func(dsn string) *sql.DB {
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	direct := connect(dsn)
	if _, err := direct.ExecContext(t.Context(), "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB"); err != nil {
		t.Fatal(err)
	}
	var next atomic.Int64 // the cut at the next COMMIT
	p := newProxy(t, dsn, func(int64) cutAt { return cutAt(next.Load()) })
	db := connect(p.DSN())
	db.SetMaxIdleConns(0) // or the driver would take one that was cut
	for i, test := range []struct {
		cut    cutAt
		fails  bool
		stored int // rows with n = i
	}{{cutNever, false, 1}, {cutBefore, true, 0}, {cutAfter, true, 1}, {cutNever, false, 1}} {
		next.Store(int64(test.cut))
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", i); err != nil {
			t.Fatal(err)
		}
		if err := tx.Commit(); (err != nil) != test.fails {
			t.Errorf("cut %d: COMMIT says %v; want an error: %t", test.cut, err, test.fails)
		}
		// FOR UPDATE waits for what the server has not rolled back yet.
		var n int
		if err := direct.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM t WHERE n = ? FOR UPDATE", i).Scan(&n); err != nil || n != test.stored {
			t.Errorf("cut %d: %d rows, %v; want %d", test.cut, n, err, test.stored)
		}
	}
	if n := p.Commits(); n != 4 {
		t.Errorf("%d COMMITs were seen; want 4", n)
	}
}
