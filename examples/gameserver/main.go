// Gameserver is a small game server that keeps a world of players, items and
// guilds, spoken to over HTTP with JSON. It shows how gameid, entity and store
// go together in a real program: see run.go for how it starts and ends,
// server.go for its answers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/postgres"
	_ "mergesafe/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr, nil))
}
