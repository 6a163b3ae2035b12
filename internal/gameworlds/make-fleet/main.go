// Make-fleet makes a fleet of made-up worlds to try the tools on, and a config.toml for them:
//
//	go run ./internal/gameworlds/make-fleet -dir /tmp/fleet
//	go run ./internal/gameworlds/make-fleet -dir /tmp/fleet -databases 40 -server 'mysql:root:PASSWORD@tcp(127.0.0.1:3306)/mysql'
//	servermerge plan -config /tmp/fleet/config.toml -into sqlite:/tmp/fleet/new.db w1 w2
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mergesafe/internal/gameworlds"
)

func main() {
	o := gameworlds.FleetOptions{Now: time.Now().Truncate(time.Second)}
	flag.StringVar(&o.Dir, "dir", "fleet", "the folder for the files")
	flag.Uint64Var(&o.Seed, "seed", 1, "the same seed makes the same worlds")
	flag.IntVar(&o.Worlds, "worlds", 400, "worlds in SQLite files")
	flag.IntVar(&o.Databases, "databases", 0, "worlds in databases of the server")
	flag.StringVar(&o.Server, "server", os.Getenv("FLEET_SERVER"), "the DSN of a MariaDB or MySQL server, by an account that makes databases; the default is FLEET_SERVER of the environment")
	flag.StringVar(&o.Prefix, "prefix", "fleet_", "of the names of databases, which are made anew")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	f, err := gameworlds.MakeFleet(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "make-fleet:", err)
		os.Exit(1)
	}
	fmt.Printf("%d worlds: %s\n", len(f.Worlds), f.Config)
	for _, w := range f.Worlds {
		if w.Odd != "" {
			fmt.Printf("  %s %s\n", w.Name, w.Odd)
		}
	}
}
