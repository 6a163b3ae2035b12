//go:build unix

package servertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Each server that is here starts, is what its name says, freezes, and keeps what was committed when it is killed.
func TestServers(t *testing.T) {
	NotShort(t)
	for _, name := range []string{MariaDB, MariaDB11, MySQL} {
		t.Run(name, func(t *testing.T) {
			s, err := Start(t.Context(), Options{Name: name})
			skipWithoutProgram(t, err)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Stop()
			dsn, err := s.Database(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			db := connect(t, dsn)
			var version string
			if err := db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil || strings.Contains(version, "MariaDB") == (name == MySQL) {
				t.Errorf("it is %q, %v", version, err)
			}
			mustExec(t, db, "CREATE TABLE t (n INT PRIMARY KEY) ENGINE=InnoDB")
			mustExec(t, db, "INSERT INTO t VALUES (1)")

			if err := s.Freeze(); err != nil {
				t.Fatal(err)
			}
			short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if err := db.PingContext(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a frozen server answers: %v", err)
			}
			cancel()
			if err := s.Thaw(); err != nil {
				t.Fatal(err)
			}
			if err := db.PingContext(t.Context()); err != nil {
				t.Errorf("after Thaw: %v", err)
			}

			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := db.PingContext(t.Context()); err == nil || s.Alive() {
				t.Fatal("the server answers after Kill")
			}
			if err := s.Kill(); err != nil {
				t.Errorf("a second Kill: %v", err)
			}
			for _, how := range []string{"after Kill", "while it runs"} {
				if err := s.Restart(t.Context()); err != nil {
					t.Fatalf("Restart %s: %v", how, err)
				}
				var n int
				if err := connect(t, dsn).QueryRowContext(t.Context(), "SELECT n FROM t").Scan(&n); err != nil || n != 1 {
					t.Errorf("Restart %s: got %d, %v; want the committed row", how, n, err)
				}
			}
		})
	}
}

// Data folders are copies of one, and yet each server has an identity of its own.
func TestIdentities(t *testing.T) {
	var seen []string
	for range 2 {
		s, err := Start(t.Context(), Options{Name: MySQL})
		skipWithoutProgram(t, err)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		var id string
		if err := connect(t, s.DSN()).QueryRowContext(t.Context(), "SELECT @@server_uuid").Scan(&id); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, id)
	}
	if seen[0] == seen[1] {
		t.Errorf("two servers are both %s", seen[0])
	}
}

// A server that is not here is told apart from one that does not work, and the error says how to bring it.
func TestNoProgram(t *testing.T) {
	t.Setenv("TEST_SERVER_PROGRAMS", t.TempDir())
	if _, err := Find(t.Context(), MariaDB11); !errors.Is(err, ErrNoProgram) || !strings.Contains(err.Error(), "run .ci/server mariadb-11.8") {
		t.Errorf("got %v", err)
	}
	if _, err := Find(t.Context(), "oracle"); err == nil || errors.Is(err, ErrNoProgram) {
		t.Errorf("a name that means nothing: %v", err)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	s, err := Start(t.Context(), Options{Dir: parent})
	skipWithoutProgram(t, err)
	if err != nil {
		t.Fatal(err)
	}
	process := s.run.process
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("a second Stop: %v", err)
	}
	if err := syscall.Kill(process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the server process is still there: %v", err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("Restart after Stop: no error")
	}
}

func TestStartSaysWhyTheServerDoesNotComeUp(t *testing.T) {
	parent := t.TempDir()
	_, err := Start(t.Context(), Options{Dir: parent, Args: []string{"--no-such-option"}})
	skipWithoutProgram(t, err)
	if err == nil || !strings.Contains(err.Error(), "no-such-option") {
		t.Errorf("got %v; want an error with the server's own words", err)
	}
	if left, _ := os.ReadDir(parent); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOptionsArgsWin(t *testing.T) {
	s := Private(t, "--innodb-flush-log-at-trx-commit=1")
	var got string
	err := connect(t, s.DSN()).QueryRowContext(t.Context(), "SELECT @@innodb_flush_log_at_trx_commit").Scan(&got)
	if err != nil || got != "1" {
		t.Errorf("got %q, %v; want 1", got, err)
	}
}

// A process that is killed can't clean up: the server must die with it, and the next start removes its folder.
func TestServerDiesWithItsParent(t *testing.T) {
	if parent := os.Getenv("MARIADBTEST_PARENT"); parent != "" { // we are the one that gets killed
		if _, err := Start(t.Context(), Options{Dir: parent}); err != nil {
			t.Fatal(err)
		}
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	_, err := Find(t.Context(), MariaDB)
	skipWithoutProgram(t, err)

	parent := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "MARIADBTEST_PARENT="+parent)
	out, err := cmd.CombinedOutput()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
	left, _ := filepath.Glob(filepath.Join(parent, "mergesafe-server-*"))
	if len(left) != 1 {
		t.Fatalf("folders left by the killed process: %v; want one", left)
	}
	// The kernel sends the signal at once, but the process takes a moment to go.
	for deadline := time.Now().Add(time.Minute); processOf(t, left[0]); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server outlives its parent")
		}
	}

	s, err := Start(t.Context(), Options{Dir: parent})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if _, err := os.Stat(left[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the next Start left the abandoned folder: %v", err)
	}
}

// processOf reports whether a process has dir in its command line.
func processOf(t *testing.T, dir string) bool {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Skip("no /proc here")
	}
	for _, path := range lines {
		if line, _ := os.ReadFile(path); strings.Contains(string(line), dir+"/") {
			return true
		}
	}
	return false
}

func skipWithoutProgram(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, ErrNoProgram) {
		t.Skip(err)
	}
}
