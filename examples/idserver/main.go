// Idserver gives out the IDs of one world over HTTP and a Unix socket, to game servers that are not written in Go.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/fleet"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite"
)

const help = `Usage: idserver [-server SERVER] [-listen ADDRESS] [-socket PATH] [-kinds LIST]

Gives out the IDs of one world to game servers in any language, until SIGINT or
SIGTERM. The environment has what may be secret:
  GAME_DSN   the database of the world (default sqlite:idserver.db)
  FLEET_DSN  the fleet registry, if there is one

  POST /ids/{kind}?count=N   N new IDs, 1 to 10000 (default 1), rising:
                             {"ids":["00ddceac5bd00007003f"]}
                             if Accept begins with text/plain, one on each line.
                             The body is not read; one that says count is refused
  GET  /healthz              200 if IDs can be made, else 503
  GET  /metrics              for Prometheus

503 means that no IDs can be made now, and the body says why. With Retry-After
the service recovers by itself; without, another process has taken over its
server: restart it. If an answer is lost, ask again: its IDs are not given again.

Every program that reaches the address can take IDs without a password.

Flags:
`

// options are what the command line and the environment say.
type options struct {
	gameDSN, fleetDSN string
	server            gameid.ServerID
	listen, socket    string
	kinds             []string
}

func main() {
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), help); flag.PrintDefaults() }
	o := options{gameDSN: cmp.Or(os.Getenv("GAME_DSN"), "sqlite:idserver.db"), fleetDSN: os.Getenv("FLEET_DSN")}
	server := flag.Uint("server", 1, "the `server` in all IDs of this world; no other world may be the same")
	flag.StringVar(&o.listen, "listen", "127.0.0.1:8080", "the `address` for HTTP; empty: only the socket")
	flag.StringVar(&o.socket, "socket", "", "the `path` of a Unix socket to listen at too, for the owner and the group of the process")
	kinds := flag.String("kinds", "player,item,guild", "the `list` of the kinds that may be asked for, which are counted apart")
	flag.Parse()
	o.server, o.kinds = gameid.ServerID(*server), strings.Split(*kinds, ",")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, func(at net.Addr) {
		slog.Info("serving", "server", *server, "network", at.Network(), "address", at.String())
	}); err != nil {
		fmt.Fprintln(os.Stderr, "idserver:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends. It calls serving for each address. After the end of the node it keeps answering, with the
// reason, which it also returns.
func run(ctx context.Context, o options, serving func(net.Addr)) (err error) {
	closing := func(close func() error) { err = errors.Join(err, close()) }
	db, err := store.Open(ctx, o.gameDSN)
	if err != nil {
		return err
	}
	defer closing(db.Close)
	if err := db.CreateRegistry(ctx); err != nil {
		return err
	}
	var node *gameid.Node
	if o.fleetDSN == "" {
		if node, err = db.OpenNode(ctx, o.server, store.NodeOptions{}); err != nil {
			return err
		}
		defer closing(node.Close)
	} else {
		worlds, err := fleet.Open(o.fleetDSN)
		if err != nil {
			return err
		}
		defer closing(worlds.Close)
		member, err := worlds.Join(ctx, db.Registry(), o.server, store.NodeOptions{}, fleet.Options{OnChange: func(s fleet.Status) {
			slog.Info("fleet registry", "state", s.State, "err", s.Err)
		}})
		if err != nil {
			return err
		}
		defer closing(member.Close)
		node = member.Node
	}

	// Only now: a second process for this world is told that the server is taken, and leaves the first one's socket alone.
	web := &http.Server{Handler: newServer(node, o.kinds), ReadTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	failed := make(chan error, 2)
	for network, address := range map[string]string{"tcp": o.listen, "unix": o.socket} {
		if address == "" {
			continue
		}
		l, err := listen(network, address)
		if err != nil {
			return errors.Join(err, web.Close())
		}
		serving(l.Addr())
		go func() { failed <- web.Serve(l) }()
	}
	select {
	case <-node.Done():
		slog.Error("the node has ended: restart this process", "err", node.Err())
		<-ctx.Done()
		err = node.Err()
	case <-ctx.Done():
	case err = <-failed:
	}
	drain, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(err, web.Shutdown(drain)) // the requests under way are answered
}

// listen also replaces a Unix socket that a killed process has left.
func listen(network, address string) (net.Listener, error) {
	if info, err := os.Lstat(address); network == "unix" && err == nil && info.Mode().Type() == fs.ModeSocket {
		if conn, err := net.Dial(network, address); err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(address)
		}
	}
	l, err := net.Listen(network, address)
	if err == nil && network == "unix" {
		err = os.Chmod(address, 0o660)
	}
	return l, err
}
