package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// operator is a merge of two worlds in the hands of an operator.
type operator struct {
	t    *testing.T
	plan string
	dsns []string
	db   *sql.DB // the target
}

func newOperator(t *testing.T, dsns []string, driver, target string) *operator {
	t.Helper()
	for i, dsn := range dsns {
		if err := clitest.MakeWorld(t.Context(), dsn, gameid.ServerID(i+1), 4000*i+500, string(rune('a'+i))); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open(driver, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	o := &operator{t, filepath.Join(t.TempDir(), "plan.json"), dsns, db}
	o.run(cli.OK, append([]string{"plan", "-o", o.plan}, dsns...)...)
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

// rows is the answer to a query for a number, 0 where there is no such table.
func (o *operator) rows(query string) (n int64) {
	o.db.QueryRowContext(o.t.Context(), query).Scan(&n)
	return n
}

// state is everything in the tables of the game.
func (o *operator) state() string {
	o.t.Helper()
	var all strings.Builder
	for _, query := range []string{
		"SELECT HEX(id), name, account, gold, level FROM players ORDER BY id", "SELECT HEX(id), HEX(owner_id), template, count FROM items ORDER BY id",
		"SELECT server_id, world, role, reserved_ms FROM gameid_servers ORDER BY server_id",
	} {
		rows, err := o.db.QueryContext(o.t.Context(), query)
		if err != nil {
			o.t.Fatal(err)
		}
		columns, _ := rows.Columns()
		values, dest := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(dest...); err != nil {
				o.t.Fatal(err)
			}
			fmt.Fprintln(&all, values)
		}
		if err := rows.Err(); err != nil {
			o.t.Fatal(err)
		}
		rows.Close()
	}
	return all.String()
}

// halfway starts a command and gives it a signal when a query gives some rows.
// It returns how the command ended.
func (o *operator) halfway(cmd *exec.Cmd, query string, signal syscall.Signal) (output string, code int) {
	o.t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	for o.rows(query) == 0 {
		select {
		case <-ended:
			o.t.Fatalf("%v ended before it was half-way\n%s", cmd.Args[1:], &out)
		case <-time.After(5 * time.Millisecond):
		}
	}
	signalled := time.Now()
	cmd.Process.Signal(signal)
	<-ended
	if signal != syscall.SIGKILL && time.Since(signalled) > 10*time.Second {
		o.t.Errorf("it took %s to stop", time.Since(signalled))
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

const (
	someCopied  = "SELECT SUM(done_rows) FROM mergesafe_progress WHERE step = 'copy'"
	someRemoved = "SELECT SUM(done_rows) FROM mergesafe_progress WHERE step = 'undo'"
	fenced      = "SELECT COUNT(*) FROM gameid_servers WHERE role = 'own' AND holder LIKE '%being carried out in this database%'"
)

// kills goes through a merge in which everything is broken off once: killed, and
// interrupted.
func kills(o *operator) {
	t := o.t
	before := o.state()
	_, code := o.halfway(o.command("apply", "-pause", "200ms"), someCopied, syscall.SIGKILL)
	if code != -1 {
		t.Fatalf("it ended with %d before it was killed", code)
	}
	if status := o.ends(o.command("status"), cli.Stopped); !strings.Contains(status, "NOT COMPLETE") || !strings.Contains(status, "server 1 of ") || o.rows(fenced) != 1 {
		t.Errorf("%d servers of the target are fenced; status: %s", o.rows(fenced), status)
	}
	more := strings.Replace(someCopied, "SUM(done_rows)", fmt.Sprintf("SUM(done_rows) > %d", o.rows(someCopied)), 1)
	said, code := o.halfway(o.command("apply", "-pause", "200ms"), more, syscall.SIGINT)
	if code != int(cli.Stopped) || !strings.Contains(said, "it was begun before") || !strings.Contains(said, "servermerge: interrupted: stopped while copying table") ||
		!strings.Contains(said, "To resume: servermerge apply "+o.plan) {
		t.Errorf("interrupted: exit code %d\n%s", code, said)
	}
	o.ends(o.command("apply"), cli.OK)
	if proof := o.ends(o.command("verify"), cli.OK); !strings.Contains(proof, "\nPASS  ") {
		t.Errorf("verify: %s", proof)
	}
	if n := o.rows("SELECT COUNT(*) FROM players"); n != 5000 {
		t.Errorf("%d players, want 5000", n)
	}
	if o.rows(fenced) != 0 {
		t.Error("the target is fenced after the merge")
	}
	if _, code = o.halfway(o.command("undo", "-pause", "200ms"), someRemoved, syscall.SIGKILL); code != -1 {
		t.Fatalf("it ended with %d before it was killed", code)
	}
	if status := o.ends(o.command("status"), cli.Stopped); !strings.Contains(status, "BEING UNDONE") || o.rows(fenced) != 1 {
		t.Errorf("%d servers of the target are fenced; status: %s", o.rows(fenced), status)
	}
	if done := o.ends(o.command("undo"), cli.OK); !strings.Contains(done, "exactly what it held before") {
		t.Errorf("undo: %s", done)
	}
	if o.rows(fenced) != 0 {
		t.Error("the target is fenced after the undo")
	}
	if o.state() != before {
		t.Error("the target is not what it was before")
	}
}

func TestKillSQLite(t *testing.T) {
	servertest.NotShort(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "s1.db")
	kills(newOperator(t, []string{"sqlite:" + target, "sqlite:" + filepath.Join(dir, "s2.db")}, "sqlite", "file:"+target+"?mode=ro&_pragma=busy_timeout(5000)"))
}

func TestKillMariaDB(t *testing.T) {
	target := servertest.DSN(t)
	kills(newOperator(t, []string{"mysql:" + target, "mysql:" + servertest.DSN(t)}, "mysql", target))
}
