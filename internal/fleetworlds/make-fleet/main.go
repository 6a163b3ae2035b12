// Make-fleet makes a fleet of made-up worlds to try the tools on, and a config.toml for them:
//
//	go run ./internal/fleetworlds/make-fleet -dir /tmp/fleet
//	go run ./internal/fleetworlds/make-fleet -dir /tmp/fleet -databases 40 -server 'mysql:root:PASSWORD@tcp(127.0.0.1:3306)/mysql'
//	servermerge plan -config /tmp/fleet/config.toml w1 w2
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mergesafe/internal/fleetworlds"
)

func main() {
	o := fleetworlds.Options{}
	flag.StringVar(&o.Dir, "dir", "fleet", "the folder for the files")
	flag.Uint64Var(&o.Seed, "seed", 1, "the same seed and -now make the same rows")
	flag.IntVar(&o.Worlds, "worlds", 400, "worlds in SQLite files")
	flag.IntVar(&o.Databases, "databases", 0, "worlds in databases of the server")
	flag.StringVar(&o.Server, "server", os.Getenv("FLEET_SERVER"), "the DSN of a MariaDB or MySQL server, by an account that makes databases; the default is FLEET_SERVER of the environment")
	flag.StringVar(&o.Prefix, "prefix", fleetworlds.DefaultPrefix, "of the names of databases, which are made anew")
	now := flag.String("now", "", "the time up to which players were active, such as 2026-11-21T03:00:00Z (default: now)")
	flag.Parse()
	if err := run(o, *now); err != nil {
		fmt.Fprintln(os.Stderr, "make-fleet:", err)
		os.Exit(1)
	}
}

func run(o fleetworlds.Options, now string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o.Now = time.Now().Truncate(time.Second)
	if now != "" {
		if o.Now, err = time.Parse(time.RFC3339, now); err != nil {
			return fmt.Errorf("-now %q: want a time such as 2026-11-21T03:00:00Z", now)
		}
	}
	start := time.Now()
	f, err := fleetworlds.Make(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d worlds in %s: %s\n", len(f.Worlds), time.Since(start).Round(time.Second/10), f.Config)
	for _, w := range f.Worlds {
		if text := w.Odd(); text != "" {
			fmt.Printf("  %s %s\n", w.Name, text)
		}
	}
	return nil
}
