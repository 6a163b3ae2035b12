package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/merge/report"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
)

// operator is a merge of two worlds in the hands of an operator.
type operator struct {
	t    *testing.T
	plan string
	dsns []string // the new database, then the worlds

	driver, into string // of the new database
}

func newOperator(t *testing.T, dsns []string, driver, into string) *operator {
	t.Helper()
	for i, dsn := range dsns[1:] {
		if err := storetest.MakeWorld(t.Context(), dsn, gameid.ServerID(i+1), 4000*i+500, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	o := &operator{t, filepath.Join(t.TempDir(), "plan.json"), dsns, driver, into}
	o.run(cli.OK, append([]string{"plan", "-o", o.plan, "-into"}, dsns...)...)
	return o
}

// command is the real program. What the databases are is said again: the names
// of MariaDB's are not enough.
func (o *operator) command(name string, flags ...string) *exec.Cmd {
	args := append([]string{name}, flags...)
	return exec.Command("servermerge", append(append(args, o.plan), o.dsns...)...)
}

func (o *operator) run(want cli.Code, args ...string) string {
	o.t.Helper()
	return o.ends(exec.Command("servermerge", args...), want)
}

// ends runs a program to its end, and returns what it prints.
func (o *operator) ends(cmd *exec.Cmd, want cli.Code) string {
	o.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		o.t.Fatal(err)
	} else if ok && cli.Code(exit.ExitCode()) == want || err == nil && want == cli.OK {
		return out.String()
	}
	o.t.Fatalf("%v ends with %v, want %d\n%s", cmd.Args[1:], err, want, &out)
	return ""
}

// copied is how many rows are copied, by status, which may be called while apply runs.
func (o *operator) copied() int64 {
	cmd := o.command("status", "-json")
	out, err := cmd.Output()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		o.t.Fatal(err)
	}
	var d report.Outcome
	if json.Unmarshal(out, &d) != nil || d.Status == nil {
		return 0
	}
	return d.Status.Copied()
}

// halfway starts apply and gives it a signal when it has copied more rows than so many.
// It returns how it ended.
func (o *operator) halfway(more int64, signal syscall.Signal) (output string, code int) {
	o.t.Helper()
	cmd := o.command("apply", "-pause", "200ms")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for o.copied() <= more {
		select {
		case <-ended:
			o.t.Fatalf("%v ended before it was half-way\n%s", cmd.Args[1:], &out)
		case <-time.After(5 * time.Millisecond):
		}
	}
	signalled := time.Now()
	cmd.Process.Signal(signal)
	<-ended
	if signal != syscall.SIGKILL && time.Since(signalled) > time.Minute {
		o.t.Errorf("it took %s to stop", time.Since(signalled))
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// kills goes through a merge in which apply is killed once, and interrupted once.
func kills(o *operator) {
	t := o.t
	_, code := o.halfway(0, syscall.SIGKILL)
	if code != -1 {
		t.Fatalf("it ended with %d before it was killed", code)
	}
	if status := o.ends(o.command("status"), cli.Stopped); !strings.Contains(status, "COPYING") || strings.Count(status, "fenced by this merge") != 2 {
		t.Errorf("status: %s", status)
	}
	said, code := o.halfway(o.copied(), syscall.SIGINT)
	if code != int(cli.Stopped) || !strings.Contains(said, "it was begun earlier") || !strings.Contains(said, "servermerge: interrupted: stopped while copying table") ||
		!strings.Contains(said, "To resume: servermerge apply "+o.plan) {
		t.Errorf("interrupted: exit code %d\n%s", code, said)
	}
	o.ends(o.command("apply"), cli.OK)
	if proof := o.ends(o.command("verify"), cli.OK); !strings.Contains(proof, "\nPASS  ") {
		t.Errorf("verify: %s", proof)
	}
	db, err := sql.Open(o.driver, o.into)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var players int
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM players").Scan(&players); err != nil || players != 5000 {
		t.Errorf("%d players, want 5000: %v", players, err)
	}
	db.Close()
	if status := o.ends(o.command("status"), cli.Stopped); !strings.Contains(status, "MADE") {
		t.Errorf("status: %s", status)
	}
	if done := o.ends(o.command("undo"), cli.OK); !strings.Contains(done, "no row of ") {
		t.Errorf("undo: %s", done)
	}
	if status := o.ends(o.command("status"), cli.OK); !strings.Contains(status, "NOT BEGUN") || strings.Contains(status, "is fenced by this merge") {
		t.Errorf("status: %s", status)
	}
}

func TestKillSQLite(t *testing.T) {
	servertest.NotShort(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".db") }
	kills(newOperator(t, []string{"sqlite:" + file("new"), "sqlite:" + file("s1"), "sqlite:" + file("s2")}, "sqlite", "file:"+file("new")+"?mode=ro"))
}

func TestKillMariaDB(t *testing.T) {
	into := servertest.DSN(t)
	kills(newOperator(t, []string{"mysql:" + into, "mysql:" + servertest.DSN(t), "mysql:" + servertest.DSN(t)}, "mysql", into))
}
