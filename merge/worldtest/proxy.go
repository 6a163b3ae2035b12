package worldtest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// CutAt says what a [proxy] does with the connection on which a COMMIT goes by. Either way the client gets no answer.
type CutAt int

const (
	CutNever  CutAt = iota
	CutBefore       // the COMMIT does not reach the server, which rolls back
	CutAfter        // the server has committed
)

// proxy passes connections on to a server, and cuts those that it is asked to. Its methods are safe for concurrent use.
type proxy struct {
	cfg     *mysql.Config // of the way through the proxy
	server  string
	decide  func(n int64) CutAt
	commits atomic.Int64
}

// NewProxy starts a proxy on loopback in front of the server that the DSN names, in the form of
// go-sql-driver/mysql, and stops it at the test's end. decide is asked at each COMMIT, which come as
// statements of their own, and gets how many went by before; it may be called by several goroutines at
// once.
func NewProxy(t testing.TB, dsn string, decide func(n int64) CutAt) *proxy {
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
		cut := CutNever
		if string(packet[4:]) == query+"COMMIT" {
			cut = p.decide(p.commits.Add(1) - 1)
		}
		if cut == CutBefore {
			return
		}
		mute.Store(cut == CutAfter)
		if _, err := server.Write(packet); err != nil || cut == CutAfter {
			return
		}
	}
}
