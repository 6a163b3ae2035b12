//go:build linux

package main

import (
	"bytes"
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"mergesafe/internal/servertest"
)

// The test program stands in for with-server, and for commands that it runs.
func TestMain(m *testing.M) {
	switch os.Getenv("WITH_SERVER_TEST") {
	case "main":
		os.Setenv("WITH_SERVER_TEST", os.Getenv("WITH_SERVER_COMMAND"))
		main()
	case "query":
		db, err := sql.Open("mysql", os.Getenv(servertest.EnvMariaDB))
		if err == nil {
			err = db.Ping()
		}
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(42)
	default:
		os.Exit(m.Run())
	}
}

// withServer returns a run of with-server that keeps its server below tmp. The command is one of TestMain's.
func withServer(t *testing.T, tmp, command string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "WITH_SERVER_TEST=main", "WITH_SERVER_COMMAND="+command, "TMPDIR="+tmp, servertest.EnvMariaDB+"=")
	return cmd
}

func needProgram(t *testing.T) {
	t.Helper()
	if _, err := servertest.Find(t.Context(), servertest.MariaDB); err != nil {
		t.Skip(err)
	}
}

func TestCommandGetsAServerAndItsExitCodeComesBack(t *testing.T) {
	needProgram(t)
	tmp := t.TempDir()
	cmd := withServer(t, tmp, "query", "mariadb", "--", os.Args[0])
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 42 {
		t.Errorf("exit code %d; want 42\n%s", code, out)
	}
	awaitEmpty(t, tmp)
}

func TestServerOfTheEnvironmentIsUsed(t *testing.T) {
	tmp := t.TempDir()
	cmd := withServer(t, tmp, "", "mariadb", "--", "sh", "-c", "echo $TEST_MARIADB_DSN; ls $TMPDIR; kill -KILL $$")
	cmd.Env = append(cmd.Env, servertest.EnvMariaDB+"=theirs")
	out, _ := cmd.CombinedOutput()
	if string(out) != "theirs\n" {
		t.Errorf("output %q; want the DSN, and no folder of a server", out)
	}
	if code, want := cmd.ProcessState.ExitCode(), 128+int(syscall.SIGKILL); code != want {
		t.Errorf("exit code %d after SIGKILL; want %d", code, want)
	}
}

func TestSignalEndsEverything(t *testing.T) {
	needProgram(t)
	for _, tt := range []struct {
		name   string
		parent bool // the signal goes to the parent of with-server, as with "go run"
		sig    syscall.Signal
	}{
		{"SIGINT", false, syscall.SIGINT},
		{"SIGTERM", false, syscall.SIGTERM},
		{"the parent is killed", true, syscall.SIGKILL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tmp, fifo := t.TempDir(), filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			// The command leaves a child in the background, as "go test" does with test programs, that ignores SIGTERM.
			cmd := withServer(t, tmp, "", "mariadb", "--", "sh", "-c", `sh -c 'trap "" TERM; echo $PPID $$ >`+fifo+`; while :; do sleep 1; done' & wait`)
			if tt.parent {
				cmd.Args = append([]string{"sh", "-c", `"$0" "$@"; exit`, os.Args[0]}, cmd.Args[1:]...)
				cmd.Path = "/bin/sh"
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := os.ReadFile(fifo) // waits until the command runs
			if err != nil {
				t.Fatal(err)
			}
			cmd.Process.Signal(tt.sig)
			cmd.Wait()
			if code, want := cmd.ProcessState.ExitCode(), 128+int(syscall.SIGTERM); !tt.parent && code != want {
				t.Errorf("exit code %d; want %d", code, want)
			}
			for _, pid := range strings.Fields(string(line)) {
				awaitGone(t, pid)
			}
			awaitEmpty(t, tmp)
		})
	}
}

func TestCannotRun(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "usage: with-server"},
		{[]string{"--", "true"}, "usage: with-server"},
		{[]string{"mariadb", "--"}, "usage: with-server"},
		{[]string{"mariadb", "true"}, "usage: with-server"},
		{[]string{"-no-such-flag", "mariadb", "--", "true"}, "usage: with-server"},
		{[]string{"mariadb", "--", "no-such-command"}, "no-such-command"},
	} {
		cmd := withServer(t, t.TempDir(), "", tt.args...)
		cmd.Env = append(cmd.Env, servertest.EnvMariaDB+"=theirs")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != exitCannot || !strings.Contains(string(out), tt.want) {
			t.Errorf("%q: exit code %d, output %q; want %d and %q", tt.args, code, out, exitCannot, tt.want)
		}
	}
}

// A server that is not here is an error that says how to bring it; or, if it is optional and not required, one line, and the
// command runs without.
func TestServerIsNotHere(t *testing.T) {
	for _, tt := range []struct {
		args     []string
		required string
		ran      bool
	}{
		{[]string{"mariadb-11.8"}, "", false},
		{[]string{"-optional", "mariadb-11.8"}, "", true},
		{[]string{"-optional", "mariadb-11.8"}, "1", false},
	} {
		cmd := withServer(t, t.TempDir(), "", append(tt.args, "--", "sh", "-c", `echo "ran on <$TEST_MARIADB_DSN>"`)...)
		cmd.Env = append(cmd.Env, "TEST_SERVER_PROGRAMS="+t.TempDir(), servertest.EnvRequired+"="+tt.required)
		out, _ := cmd.CombinedOutput()
		code := cmd.ProcessState.ExitCode()
		if ran := strings.Contains(string(out), "ran on <>"); ran != tt.ran || (code == 0) != tt.ran || !strings.Contains(string(out), ".ci/server mariadb-11.8") {
			t.Errorf("%q, required %q: exit code %d\n%s", tt.args, tt.required, code, out)
		}
		if loud := strings.Contains(string(out), "NOT TESTED ON MARIADB-11.8"); loud != tt.ran {
			t.Errorf("%q, required %q: %s", tt.args, tt.required, out)
		}
	}
}

// awaitGone waits for the end of a process.
func awaitGone(t *testing.T, pid string) {
	t.Helper()
	await(t, "process "+pid+" to end", func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || bytes.Contains(stat, []byte(") Z ")) // Z: ended, but nobody has asked for its exit code
	})
}

func awaitEmpty(t *testing.T, dir string) {
	t.Helper()
	await(t, "the folder to be empty", func() bool {
		left, err := os.ReadDir(dir)
		return err == nil && len(left) == 0
	})
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}
