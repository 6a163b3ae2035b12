package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/servertest"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/world"
	"mergesafe/tools/internal/cli"
)

// The command for a new plan has a variable in the place of a DSN with a secret, named after what it is for, and the
// worlds as words of their own.
func TestPlanAgainWithSecrets(t *testing.T) {
	plan := &merge.Plan{Typed: []string{"plan", "-into", cli.NewDSN, "-fleet", cli.FleetDSN}, Worlds: []merge.World{{Name: "127.0.0.1:1/s1"}, {Name: "127.0.0.1:1/s2"}}}
	if got, want := planAgain("plan.json", plan), `servermerge plan -into "$NEW_DSN" -fleet "$FLEET_DSN" -o plan-2.json WORLD...`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	plan.Typed = nil // it is not servermerge that made it
	for file, want := range map[string]string{"night.toml.plans/s1.json": "fleet plan night.toml 127.0.0.1:1/s1", "plan.json": ""} {
		if got := planAgain(file, plan); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
	cmd := command(nil, io.Discard).Command("plan")
	cmd.Action = func(_ context.Context, cmd *cliv3.Command) error {
		if got, want := strings.Join(typedOf(cmd), " "), "plan -into "+cli.NewDSN; got != want {
			t.Errorf("typed %s, want %s", got, want)
		}
		return nil
	}
	if err := cmd.Run(t.Context(), []string{"plan", "-into", "mysql:game:hunter2@tcp(127.0.0.1:1)/new", "s1", "s2"}); err != nil {
		t.Error(err)
	}
}

// The commands that open and undo print have the -fleet that was typed; a DSN with a secret has a variable in its place.
func TestFleetIsRepeated(t *testing.T) {
	for dsn, want := range map[string]string{"sqlite:fleet.db": "sqlite:fleet.db", "mysql:game:hunter2@tcp(127.0.0.1:1)/fleet": `"$FLEET_DSN"`} {
		cmd := command(nil, io.Discard).Command("open")
		cmd.Action = func(_ context.Context, cmd *cliv3.Command) error {
			c := call{file: "plan.json", fleet: fleetTyped(cmd)}.commands("open")
			if c.Open != "servermerge open -fleet "+want+" plan.json" || c.Undo != "servermerge undo -fleet "+want+" plan.json" || c.Apply != "servermerge apply plan.json" {
				t.Errorf("%+v", c)
			}
			return nil
		}
		if err := cmd.Run(t.Context(), []string{"open", "-fleet", dsn, "plan.json"}); err != nil {
			t.Error(err)
		}
	}
}

// An interrupt is on the page, with where the merge is: what was begun when it
// came was done.
func TestInterruptedPage(t *testing.T) {
	s1, s2, file := files(t)
	ran(t, cli.OK, "plan", "-into", into(file), "-o", file, s1, s2)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	name := filepath.Join(t.TempDir(), "page.html")
	if r := servermerge(ended, "apply", "-html", name, file); r.code != cli.Stopped {
		t.Fatalf("%+v", r)
	}
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>STOPPED: apply", "fenced by this merge: it cannot be started"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}

// What a world has lost is said also of what is never opened, and by who only reads.
func TestWorldIsGone(t *testing.T) {
	s1, s2, file := files(t)
	ran(t, cli.OK, "plan", "-into", into(file), "-o", file, s1, s2)
	ran(t, cli.OK, "apply", "-try", "-yes", file)
	db, err := sql.Open("sqlite", strings.TrimPrefix(s1, "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"guild_members", "guilds", "items", "players", "gameid_servers"} {
		if _, err := db.Exec("DROP TABLE " + table); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	if r := ran(t, cli.Conflicts, "open", "-yes", file); !strings.Contains(r.stdout, "any more: restore it, or correct its DSN") || !strings.Contains(r.stdout, "REFUSED  nothing was changed now") {
		t.Errorf("open: %+v", r)
	}
	if err := os.Remove(strings.TrimPrefix(s2, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	if r := servermerge(t.Context(), "verify", file); !strings.Contains(r.stdout, `s2.db": there is no such database any more: restore it, or correct its DSN`) || strings.Contains(r.stdout, "is kept") {
		t.Errorf("verify: %+v", r)
	}
	// A rehearsal fenced nothing, and what it made is no world's only copy: its undo needs none of them.
	if r := ran(t, cli.Stopped, "status", file); !strings.HasPrefix(r.stdout, "TRIED ") || !strings.Contains(r.stdout, "servermerge undo ") {
		t.Errorf("status: %+v", r)
	}
	ran(t, cli.OK, "undo", "-yes", file)
	if _, err := os.Stat(strings.TrimPrefix(into(file), "sqlite:")); !os.IsNotExist(err) {
		t.Errorf("new is there: %v", err)
	}
}

// An undo beside another one says what comes next.
func TestUndoBesideAnother(t *testing.T) {
	dsns := []string{"mysql:" + servertest.DSN(t), "mysql:" + servertest.DSN(t), "mysql:" + servertest.DSN(t)}
	file := filepath.Join(t.TempDir(), "plan.json")
	worlds(t, dsns[1:]...)
	ran(t, cli.OK, append([]string{"plan", "-o", file, "-into"}, dsns...)...)
	ran(t, cli.OK, append([]string{"apply", "-yes", file}, dsns...)...)
	other := &world.Connection{Database: world.Database{Name: "new", DSN: dsns[0]}}
	defer other.Close()
	if _, alone, err := world.Undo(t.Context(), other, 0); err != nil || !alone {
		t.Fatal(alone, err)
	}
	again := "servermerge undo -force " + file + " " + which
	r := ran(t, cli.Incomplete, append([]string{"undo", "-yes", "-force", "-patience", "0s", file}, dsns...)...)
	if !strings.Contains(r.stderr, "another undo is at work") || !strings.Contains(r.stderr, "When the other process has ended, run it again: "+again) {
		t.Errorf("%+v", r)
	}
	other.Close()
	ran(t, cli.OK, append([]string{"undo", "-yes", file}, dsns...)...)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plan, err := merge.ReadPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []merge.Database
	for i, name := range plan.Databases() {
		all = append(all, merge.Database{Name: name, DSN: dsns[i]})
	}
	undone := func() {
		t.Helper()
		if said := (&job{plan: plan, into: all[0], worlds: all[1:]}).undoAgain(t.Context(), again, "this one"); !strings.HasSuffix(said, "there is nothing left to undo.") {
			t.Error(said)
		}
	}
	undone()
	ran(t, cli.OK, append([]string{"apply", "-yes", file}, dsns...)...) // another one by the same plan
	undone()
}

// A page that cannot be written in the end is an error, and hides nothing of
// what the command came to.
func TestPageFails(t *testing.T) {
	var out bytes.Buffer
	newJob := func() *job {
		name := filepath.Join(t.TempDir(), "page.html")
		page, err := cli.NewFile("html", name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(name, 0o700); err != nil { // nothing can be given its name any more
			t.Fatal(err)
		}
		out.Reset()
		return &job{plan: &merge.Plan{Worlds: make([]merge.World, 1)}, ending: ending{out: &out, page: page}}
	}

	j := newJob()
	o := j.outcome("undo")
	o.Ending, o.Reason = report.Changed, "so far"
	err := j.conclude(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "write ") || !strings.Contains(err.Error(), "page.html") {
		t.Errorf("got %v", err)
	}
	if out.String() != "CHANGED  so far\n" {
		t.Errorf("printed %q", &out)
	}

	j = newJob()
	err = j.failed(t.Context(), &merge.StoppedError{Doing: "copying", Cause: errors.New("disk full")}, j.outcome("apply"))
	if err == nil || !strings.Contains(err.Error(), "stopped while copying: disk full; and write ") {
		t.Errorf("got %v", err)
	}
	if code, ok := errors.AsType[cli.Code](err); !ok || code != cli.Stopped {
		t.Errorf("ends with %v", code)
	}
}

// A registry that is locked when a command looks whether it is bound elsewhere: the holder is named, and the database.
func TestLockedRegistryIsTold(t *testing.T) {
	all := []string{"mysql:" + servertest.DSN(t), "mysql:" + servertest.DSN(t), "mysql:" + servertest.DSN(t)}
	file := filepath.Join(t.TempDir(), "plan.json")
	worlds(t, all[1:]...)
	ran(t, cli.OK, append([]string{"plan", "-o", file, "-into"}, all...)...)
	ran(t, cli.OK, append([]string{"apply", "-yes", file}, all...)...)
	db, err := sql.Open("mysql", strings.TrimPrefix(all[1], "mysql:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "LOCK TABLES gameid_servers WRITE"); err != nil {
		t.Fatal(err)
	}
	all[1] += "?lock_wait_timeout=1"
	r := servermerge(t.Context(), append([]string{"open", "-yes", file}, all...)...)
	if !strings.Contains(r.stderr, ": its registry: ") || !strings.Contains(r.stderr, "KILL") {
		t.Errorf("%+v", r)
	}
}
