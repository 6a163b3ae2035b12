// Rekey tells in one command how two worlds of a game that counts its keys 1..N
// become one in a new database: the check that says that they collide, the rules that are
// proposed and reviewed, a rehearsal that is dropped again, the merge, its proof and its
// opening, where a key came from, and play that continues.
//
//	go run ./examples/rekey
//
// It needs nothing but Go, and leaves its databases below data/rekey. Everything that it shows
// is real.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Stdout, os.Stderr))
}

// run tells the story in the working directory, and returns the exit code: 0 if all went
// as told, else 1.
func run(ctx context.Context, stdout, stderr io.Writer) int {
	s := &story{out: stdout, dir: "data/rekey"}
	if err := s.run(ctx); err != nil {
		fmt.Fprintf(stderr, "rekey: %v\n", err)
		return 1
	}
	return 0
}
