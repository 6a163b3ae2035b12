// Twoservers tells in one command what this project is for: two game servers
// live through a few seconds of play, their databases turn out to be fit for a
// merge, and those of a server that was given a wrong number do not; then the
// merge is carried out, and play continues in the merged world.
//
//	go run ./examples/twoservers
//
// It needs nothing but Go, and leaves its databases below data/. Everything that it
// shows is real: the IDs, the rows, the check.
package main

import (
	"context"
	"errors"
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
	os.Exit(run(ctx, 2000, os.Stdout, os.Stderr))
}

// run tells the story, with play of that many beats, in the working directory.
// It returns the exit code: 0 if all went as told, else 1.
func run(ctx context.Context, beats int, stdout, stderr io.Writer) int {
	s := story{out: stdout, beats: beats}
	err := s.run(ctx)
	switch {
	case ctx.Err() != nil:
		err = errors.New("interrupted")
	case err == nil:
		err = s.failed
	}
	if err != nil {
		fmt.Fprintf(stderr, "twoservers: %v\n", err)
		return 1
	}
	return 0
}
