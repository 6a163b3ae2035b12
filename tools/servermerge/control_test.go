package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
	"mergesafe/merge/sqlsource"
	"mergesafe/merge/transfer"
	"mergesafe/store/storetest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/throttle"
)

// A merge that runs is paused, slowed, resumed and stopped from another terminal; afterwards the same command ends it, and
// no file of this is left.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	dsns := []string{"sqlite:" + filepath.Join(dir, "new.db"), "sqlite:" + filepath.Join(dir, "s1.db"), "sqlite:" + filepath.Join(dir, "s2.db")}
	o := newOperator(t, dsns, "sqlite", filepath.Join(dir, "new.db"))
	if out := o.run(cli.Incomplete, "pause", o.plan); !strings.Contains(out, "no servermerge works on the rows of") {
		t.Errorf("before: %s", out)
	}
	said := filepath.Join(dir, "said")
	file, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log := func() string { text, _ := os.ReadFile(said); return string(text) }
	defer func() {
		if t.Failed() {
			t.Log(log())
		}
	}()
	const rest = time.Second // before each batch
	apply := o.command("apply", "-yes", "-pause", rest.String())
	apply.Stderr = file
	if err := apply.Start(); err != nil {
		t.Fatal(err)
	}
	defer apply.Process.Kill()
	storetest.Await(t, "a batch", func() bool { _, err := os.Stat(controlFile(o.plan)); return err == nil })
	if out := o.run(cli.OK, "pause", o.plan); !strings.HasPrefix(out, "apply of "+o.plan+" (process ") {
		t.Error(out)
	}
	storetest.Await(t, "its pause", func() bool { return strings.Contains(log(), "paused; to resume: servermerge resume "+o.plan) })
	before := o.copied()
	time.Sleep(rest * 3 / 2) // in which there would be a batch
	if after := o.copied(); after != before {
		t.Errorf("paused: %d rows became %d", before, after)
	}
	if out := o.run(cli.OK, "limit", "-config", "other.toml", "-pause", "20ms", "-max-load", "30", o.plan); !strings.Contains(out, "rests 20ms before every batch, and while a server runs more than 30 threads") {
		t.Error(out)
	}
	o.run(cli.OK, "stop", o.plan) // also while it is paused
	err = apply.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || cli.Code(exit.ExitCode()) != cli.Stopped {
		t.Errorf("stopped: %v", err)
	}
	if want := "from now on: rests 20ms"; !strings.Contains(log(), want) {
		t.Errorf("%q was not said", want)
	}
	if _, err := os.Stat(controlFile(o.plan)); err == nil {
		t.Error("the control file is left")
	}
	o.ends(o.command("apply", "-yes"), cli.OK)
}

// What cannot be written leaves nothing behind.
func TestControlNotWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.json.control")
	if err := os.Mkdir(name, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := (control{}).write(name); err == nil {
		t.Error("it takes the place of a folder")
	}
	if _, err := os.Stat(name + ".part"); err == nil {
		t.Error("a part is left")
	}
}

// A pause ends with resume.
func TestControlResume(t *testing.T) {
	plan := filepath.Join(t.TempDir(), "plan.json")
	var spared []throttle.Throttle
	c := &controlled{command: "apply", plan: plan, say: func(string) {}, changed: func(t throttle.Throttle) { spared = append(spared, t) }}
	c.waits = func(string) { // as another terminal would
		now, err := readControl(controlFile(plan))
		if err != nil {
			t.Fatal(err)
		}
		now.Paused, now.Limits.MaxLag = false, "7s"
		if err := now.write(controlFile(plan)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := readControl(controlFile(plan))
	if err != nil {
		t.Fatal(err)
	}
	now.Paused = true
	if err := now.write(controlFile(plan)); err != nil {
		t.Fatal(err)
	}
	c.looked = time.Time{}
	if err := c.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(spared) != 1 || spared[0] != (throttle.Throttle{MaxLag: 7 * time.Second}) {
		t.Errorf("the limits were %v", spared)
	}
	now.PID++ // another process works on it now
	if err := now.write(controlFile(plan)); err != nil {
		t.Fatal(err)
	}
	c.looked = time.Time{}
	if err := c.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.close()
	if _, err := os.Stat(controlFile(plan)); err != nil {
		t.Error("the file of another process was removed")
	}
}

// A server that is no replica, or whose replication stands still, has no lag that is known.
func TestLag(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := &load{}
	l.database.Name, l.database.DSN = "replica", "mysql:"+servertest.DSN(t)
	if lag, err := l.lag(ctx); !errors.Is(err, sqlsource.ErrNotReplicating) {
		t.Fatalf("got %s, %v", lag, err)
	}
	if err := l.reached(ctx); err != nil {
		t.Error(err)
	}
	l.source.Close()
	away := &load{database: transfer.Database{Name: "away", DSN: "mysql:game:secret@tcp(127.0.0.1:1)/away"}}
	if err := away.reached(ctx); err == nil || !strings.Contains(err.Error(), "-replica away: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a replica that cannot be asked: %v", err)
	}
}

// The work does not rest for a replica that cannot be asked: nothing would end that.
func TestReplicaAway(t *testing.T) {
	dir := t.TempDir()
	dsns := []string{"sqlite:" + filepath.Join(dir, "new.db"), "sqlite:" + filepath.Join(dir, "s1.db"), "sqlite:" + filepath.Join(dir, "s2.db")}
	o := newOperator(t, dsns, "sqlite", filepath.Join(dir, "new.db"))
	args := append([]string{"apply", "-yes", "-replica", "mysql:game:secret@tcp(127.0.0.1:1)/away", o.plan}, dsns...)
	if out := o.run(cli.Incomplete, args...); !strings.Contains(out, "-replica 127.0.0.1:1/away: ") || strings.Contains(out, "secret") {
		t.Error(out)
	}
	o.run(cli.OK, append([]string{"apply", "-yes", o.plan}, dsns...)...)
}
