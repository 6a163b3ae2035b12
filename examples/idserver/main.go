// Idserver gives out the IDs of one world over HTTP and a Unix socket, to game
// servers that are not written in Go. See run.go for how it starts and ends,
// answers for what it answers, load for a program that measures it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr))
}
