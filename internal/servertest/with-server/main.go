// Command with-server runs a command beside private database servers, which it starts before and stops after,
// whatever happens. It also stops every process that the command has started. NAME is mariadb, mariadb-11.8, mysql,
// postgres, or several of them with commas; TEST_MARIADB_DSN, TEST_MYSQL_DSN and TEST_POSTGRES_DSN then lead to them.
//
//	go run ./internal/servertest/with-server mariadb,postgres -- go test ./store/...
//
// A server whose variable is set already is not started: the command uses that one.
//
// If this machine does not have a server, it says how to bring it. With -optional it then says in one line what is not
// tested and runs the command without it, so that tests are skipped; unless TEST_SERVERS_REQUIRED is set.
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
		fmt.Fprintln(stderr, "usage: with-server [-optional] NAME[,NAME...] -- COMMAND [ARGUMENT...]")
		return exitCannot
	}
	names, args := strings.Split(args[0], ","), args[2:]
	env := os.Environ()
	for _, name := range names {
		if os.Getenv(servertest.Env(name)) != "" {
			continue
		}
		dsn, stop, err := start(ctx, name)
		switch {
		case err == nil:
			defer func() {
				if err := stop(); err != nil {
					fmt.Fprintf(stderr, "with-server: %v\n", err)
				}
			}()
			env = append(env, servertest.Env(name)+"="+dsn)
		case *optional && errors.Is(err, servertest.ErrNoProgram) && os.Getenv(servertest.EnvRequired) == "":
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

// start starts a server, which stop stops.
func start(ctx context.Context, name string) (dsn string, stop func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if name == servertest.PostgreSQL {
		server, err := servertest.StartPostgres(ctx, servertest.Options{})
		if err != nil {
			return "", nil, err
		}
		return server.DSN(), func() error { server.Stop(); return nil }, nil
	}
	server, err := servertest.Start(ctx, servertest.Options{Name: name})
	if err != nil {
		return "", nil, err
	}
	return server.DSN(), server.Stop, nil
}
