// Command with-server runs a command with TEST_MYSQL_DSN set to a private database server, which it
// starts before and stops after, whatever happens. It also stops every process that the command has
// started. TEST_SERVER is the name of the server: mariadb, mariadb-11.8 or mysql. For postgres it is TEST_POSTGRES_DSN
// that is set, and no other.
//
//	go run ./internal/servertest/with-server mysql -- go test ./store/...
//
// If TEST_MYSQL_DSN is set already, it starts no server and the command uses that one.
//
// If this machine does not have the server, it says how to bring it. With -optional it then says in
// one line what is not tested and runs the command without TEST_MYSQL_DSN, so that tests are skipped;
// unless TEST_SERVERS_REQUIRED is set.
//
// Its exit code is that of the command (128 + the signal's number if a signal ended it), or 2 if it
// could not run it. Note that "go run" turns every exit code but 0 into 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"mergesafe/internal/servertest"
)

const (
	exitCannot = 2

	// envRequired, if set, makes a server that is not here an error in any case.
	envRequired = "TEST_SERVERS_REQUIRED"

	// startTimeout bounds the start of the server on a slow and busy machine.
	startTimeout = 2 * time.Minute
	// grace is what a command gets to end by itself after SIGINT or SIGTERM.
	grace = 10 * time.Second
)

func main() {
	dieWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("with-server", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	optional := flags.Bool("optional", false, "run the command without a server if this machine has none")
	err := flags.Parse(args)
	args = flags.Args()
	if err != nil || len(args) < 3 || args[1] != "--" {
		fmt.Fprintln(stderr, "usage: with-server [-optional] NAME -- COMMAND [ARGUMENT...]")
		return exitCannot
	}
	name, args := args[0], args[2:]
	env := append(os.Environ(), servertest.EnvServer+"="+name)
	switch {
	case name == servertest.PostgreSQL && os.Getenv(servertest.EnvPostgres) == "":
		starting, cancel := context.WithTimeout(ctx, startTimeout)
		server, err := servertest.StartPostgres(starting, servertest.Options{})
		cancel()
		switch {
		case err == nil:
			defer server.Stop()
			env = append(os.Environ(), servertest.EnvPostgres+"="+server.DSN())
		case *optional && errors.Is(err, servertest.ErrNoProgram) && os.Getenv(envRequired) == "":
			fmt.Fprintf(stderr, "\n*** NOT TESTED ON %s: %v ***\n\n", strings.ToUpper(name), err)
		default:
			fmt.Fprintf(stderr, "with-server: %v\n", err)
			return exitCannot
		}
	case name != servertest.PostgreSQL && os.Getenv(servertest.EnvDSN) == "":
		starting, cancel := context.WithTimeout(ctx, startTimeout)
		server, err := servertest.Start(starting, servertest.Options{Name: name})
		cancel()
		switch {
		case err == nil:
			fmt.Fprintf(stderr, "with-server: %s\n", server.Program())
			defer func() {
				if err := server.Stop(); err != nil {
					fmt.Fprintf(stderr, "with-server: %v\n", err)
				}
			}()
			env = append(env, servertest.EnvDSN+"="+server.DSN())
		case *optional && errors.Is(err, servertest.ErrNoProgram) && os.Getenv(envRequired) == "":
			fmt.Fprintf(stderr, "\n*** NOT TESTED ON %s: %v ***\n\n", strings.ToUpper(name), err)
		default:
			fmt.Fprintf(stderr, "with-server: %v\n", err)
			return exitCannot
		}
	}

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, stdin, stdout, stderr
	ownGroup(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintf(stderr, "with-server: %v\n", err)
		return exitCannot
	}
	signalGroup(cmd, syscall.SIGKILL) // what the command has left behind
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
