// Gameserver is a small game server over HTTP, to begin from: players of accounts, their items, trades and
// guilds. It stands behind the game's gateway, which knows who a player is, and what he may do.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mergesafe/gameid"
	"mergesafe/number"
	"mergesafe/store"
	"mergesafe/store/numbers"
	"mergesafe/store/starter"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite"
)

func main() {
	dsn := cmp.Or(os.Getenv("GAME_DSN"), "sqlite:gameserver.db") // no flag: it may have a password
	server := flag.Uint("server", 1, "the `server` in all IDs of this world; no other world may be the same")
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` for HTTP")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: gameserver [flags]. GAME_DSN names the database; the default is sqlite:gameserver.db.")
		flag.PrintDefaults()
	}
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serving := func(address net.Addr) { slog.Info("serving", "server", *server, "address", address.String()) }
	if err := run(ctx, dsn, gameid.ServerID(*server), *listen, serving); err != nil {
		fmt.Fprintln(os.Stderr, "gameserver:", err)
		os.Exit(1)
	}
}

// run opens the world, calls serving, and serves it until ctx ends.
func run(ctx context.Context, dsn string, server gameid.ServerID, listen string, serving func(net.Addr)) (err error) {
	closing := func(close func() error) { err = errors.Join(err, close()) }
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer closing(db.Close)
	if err := createTables(ctx, db); err != nil {
		return err
	}
	node, err := db.OpenNode(ctx, server, store.NodeOptions{}) // with a fleet registry: fleet.Join
	if err != nil {
		return err
	}
	defer closing(node.Close)
	sequence, err := numbers.Open(ctx, db.Registry(), server, "player",
		numbers.Options{CheckDigit: true, Reserved: number.Pretty, InUse: starter.Players.NumbersIn(db)})
	if err != nil {
		return err
	}
	defer closing(sequence.Close)

	// Only now: a second process for this world is told that the server is taken, not that the address is.
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	handler := newGame(db, node, sequence).routes()
	web := &http.Server{Handler: handler, ReadTimeout: requestTimeout, WriteTimeout: 2 * requestTimeout, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	serving(listener.Addr())
	select {
	case <-ctx.Done():
	case <-node.Done(): // another process is this server now
		err = node.Err()
	case err = <-failed:
	}
	drain, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	return errors.Join(err, web.Shutdown(drain)) // the requests under way are answered
}
