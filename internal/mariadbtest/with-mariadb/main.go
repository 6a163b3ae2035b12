// Command with-mariadb runs a command with TEST_MYSQL_DSN set to a private MariaDB or MySQL server, which it starts before
// and stops after, whatever happens; and so with all that the command has started. Where TEST_MYSQL_DSN is set already, it
// starts no server and the command uses that one.
//
//	go run ./internal/mariadbtest/with-mariadb -- go test ./...
//
// Where no server program is found, it installs one on Debian and Ubuntu as root, and says elsewhere what to install.
// Its exit code is that of the command (128 + the signal's number if a signal ended it), or 2 if it could not run it. Note
// that "go run" turns every exit code but 0 into 1.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"mergesafe/internal/mariadbtest"
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
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: with-mariadb -- COMMAND [ARGUMENT...]")
		return exitCannot
	}
	env := os.Environ()
	if os.Getenv(mariadbtest.EnvDSN) == "" {
		server, err := start(ctx, stderr)
		if err != nil {
			fmt.Fprintf(stderr, "with-mariadb: %v\n", err)
			return exitCannot
		}
		defer func() {
			if err := server.Stop(); err != nil {
				fmt.Fprintf(stderr, "with-mariadb: %v\n", err)
			}
		}()
		env = append(env, mariadbtest.EnvDSN+"="+server.DSN())
	}

	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, stdin, stdout, stderr
	ownGroup(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintf(stderr, "with-mariadb: %v\n", err)
		return exitCannot
	}
	signalGroup(cmd, syscall.SIGKILL) // what the command has left behind
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}

func start(ctx context.Context, stderr io.Writer) (*mariadbtest.Server, error) {
	if _, err := mariadbtest.FindProgram(); errors.Is(err, mariadbtest.ErrNoProgram) {
		if err := install(ctx, stderr); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return mariadbtest.Start(ctx, mariadbtest.Options{})
}

// packages are the sets of packages that hold a server program, of which the first that the system has is taken: first
// MariaDB's, then what older systems offer. These have no system service, so that nothing starts to run. The client's
// package has my_print_defaults, without which mariadb-install-db does not work.
func packages() [][]string {
	return [][]string{
		{"mariadb-server-core", "mariadb-client-core"},
		{"default-mysql-server-core", "default-mysql-client-core"},
	}
}

// install puts the server program on the machine.
func install(ctx context.Context, stderr io.Writer) error {
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return mariadbtest.ErrNoProgram
	}
	run := func(args ...string) error {
		cmd := exec.CommandContext(ctx, apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		cmd.Stdout, cmd.Stderr = stderr, stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s %s: %w", apt, strings.Join(args, " "), err)
		}
		return nil
	}
	if err := run("update", "-q"); err != nil {
		return fmt.Errorf("%w\n%w", err, mariadbtest.ErrNoProgram)
	}
	var errs error
	for _, set := range packages() {
		err := run(append([]string{"install", "-q", "-y", "--no-install-recommends"}, set...)...)
		if err == nil {
			return nil
		}
		errs = errors.Join(errs, err)
	}
	return fmt.Errorf("%w\n%w", errs, mariadbtest.ErrNoProgram)
}
