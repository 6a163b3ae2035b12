// Package clitest runs the scripts of a tool's tests against the real program.
package clitest

import (
	"bytes"
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests of a tool. Its scripts, and tests that end processes, have these programs,
// and those that are given:
//
//	mkworld DSN SERVER COUNT PREFIX   makes a game database: see [storetest.MakeWorld]
//	terminal COMMAND...               runs a command in a terminal: see [terminal]
//	sql FILE STATEMENT...             changes an SQLite database
func Main(m *testing.M, programs map[string]func()) {
	programs["mkworld"], programs["terminal"], programs["sql"] = Program(makeWorld), Program(terminal), Program(changeSQLite)
	testscript.Main(m, programs)
}

// Run runs the scripts testdata/*.txtar, each in a folder of its own. The
// programs are those of [Main]. Beside the usual
// commands scripts have this one, which runs a program and demands its exact
// exit code; stdout and stderr look at its output afterwards:
//
//	exits 2 gameid inspect nonsense
//	stderr 'is not an ID'
//
// setup may be nil.
func Run(t *testing.T, setup func(*testscript.Env) error) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			// With the race detector every program would wait a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			if setup == nil {
				return nil
			}
			return setup(env)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d; want %d", got, want)
	}
}

// Screen keeps everything that is written to it, and sends on Wrote after each write. Read
// Text only while no goroutine writes.
type Screen struct {
	Text  bytes.Buffer
	Wrote chan bool
}

// NewScreen returns a Screen that takes up to 100 writes before a test receives from Wrote.
func NewScreen() *Screen { return &Screen{Wrote: make(chan bool, 100)} }

// Write implements [io.Writer].
func (s *Screen) Write(p []byte) (int, error) {
	defer func() { s.Wrote <- true }()
	return s.Text.Write(p)
}
