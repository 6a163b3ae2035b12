package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store/storetest"

	"mergesafe/merge/campaign"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

// What a tool says of a server is tried on MySQL; what a merge does, on MariaDB.
func init() { servertest.Prefer(servertest.MySQL) }

var must = storetest.Must

// bookIn opens the book of the campaign in a folder.
func bookIn(t *testing.T, dir string) *campaign.Book {
	t.Helper()
	file := filepath.Join(dir, "night.toml")
	c, err := campaign.Load(file)
	must(t, err)
	book, err := campaign.Open(t.Context(), c, file)
	must(t, err)
	t.Cleanup(func() { book.Close() })
	return book
}

// nightIn makes worlds of some sizes in a folder, and a campaign that merges each two of them.
func nightIn(t *testing.T, dir string, players ...int) {
	t.Helper()
	config, file := "", "[campaign]\nname = 'night'\nparallel = 2\nstopped = 'by hand'\nbackup = 'by hand'\n"
	for i, n := range players {
		name := fmt.Sprint("w", i+1)
		must(t, storetest.MakeWorld(t.Context(), "sqlite:"+filepath.Join(dir, name+".db"), gameid.ServerID(i+1), n, string(rune('a'+i))))
		config += fmt.Sprintf("[[source]]\nname = '%s'\ndsn = 'sqlite:%s.db'\n", name, name)
		if i%2 == 1 {
			file += fmt.Sprintf("[[merge]]\nworlds = ['w%d', 'w%d']\n", i, i+1)
		}
	}
	must(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "night.toml"), []byte(file), 0o600))
}

// fleetIn is the real program in a folder.
func fleetIn(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("fleet", args...)
	cmd.Dir = dir
	return cmd
}

// ends runs a program to its end, and returns what it prints.
func ends(t *testing.T, cmd *exec.Cmd, want cli.Code) string {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if code := 0; err != nil && !failed {
		t.Fatal(err)
	} else {
		if failed {
			code = exit.ExitCode()
		}
		if cli.Code(code) != want {
			t.Fatalf("%v ends with %d, want %d\n%s", cmd.Args, code, want, &out)
		}
	}
	return out.String()
}

// dump is everything in the tables of the game in a world, and its registry.
func dump(t *testing.T, file string) string {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	must(t, err)
	defer db.Close()
	var b strings.Builder
	for _, query := range []string{
		"SELECT HEX(id) || ' ' || name || ' ' || account || ' ' || gold FROM players ORDER BY id",
		"SELECT HEX(id) || ' ' || HEX(owner_id) || ' ' || template || ' ' || count FROM items ORDER BY id",
		"SELECT server_id || ' ' || world || ' ' || role || ' ' || reserved_ms || ' ' || COALESCE(holder, '') FROM gameid_servers ORDER BY server_id",
	} {
		rows, err := db.QueryContext(t.Context(), query)
		must(t, err)
		for rows.Next() {
			var line string
			must(t, rows.Scan(&line))
			b.WriteString(line + "\n")
		}
		must(t, rows.Err())
		rows.Close()
	}
	return fencedSince.ReplaceAllString(b.String(), "")
}

// fencedSince is when a fence was set.
var fencedSince = regexp.MustCompile(`"since":"[^"]*"`)

// A campaign whose process is killed at random moments, again and again, ends as the same merges
// do one by one; its events have no gaps, and its state tells the truth. Undone, while it is killed too, it
// leaves the worlds as they were.
func TestKilled(t *testing.T) {
	servertest.NotShort(t)
	dir, alone := t.TempDir(), t.TempDir()
	nightIn(t, dir, 400, 1300, 30, 20, 600, 450)
	before := make(map[string]string)
	for i := range 6 {
		before[fmt.Sprint("w", i+1)] = rowsOf(t, filepath.Join(dir, fmt.Sprintf("w%d.db", i+1)))
	}
	ends(t, fleetIn(dir, "plan", "night.toml"), cli.OK)
	must(t, os.CopyFS(alone, os.DirFS(dir)))
	book := bookIn(t, dir)
	killOften(t, book, servertest.Scale(4, 8), func() *exec.Cmd { return fleetIn(dir, "apply", "-pause", "20ms", "night.toml") })
	ends(t, fleetIn(dir, "apply", "night.toml"), cli.OK)
	ends(t, fleetIn(dir, "apply", "night.toml"), cli.OK)

	for _, m := range book.Campaign().Merges {
		text, err := os.ReadFile(filepath.Join(alone, "night.toml.plans", m.Name()+".json"))
		must(t, err)
		plan, err := merge.ReadPlan(bytes.NewReader(text))
		must(t, err)
		at := func(name string) merge.Database {
			return merge.Database{Name: name, DSN: "sqlite:" + filepath.Join(alone, name+".db")}
		}
		into, worlds := at(plan.New.Name), []merge.Database{at(m.Worlds[0]), at(m.Worlds[1])}
		_, err = merge.Apply(t.Context(), plan, into, worlds, merge.Options{})
		must(t, err)
		_, err = merge.Verify(t.Context(), plan, into, worlds, merge.Options{})
		must(t, err)
		_, err = merge.Open(t.Context(), plan, into, worlds, merge.OpenOptions{})
		must(t, err)
		for _, world := range append(m.Worlds, into.Name) {
			if diff := cmp.Diff(dump(t, filepath.Join(alone, world+".db")), dump(t, filepath.Join(dir, world+".db"))); diff != "" {
				t.Errorf("%s is not as after a merge alone: %s", world, diff)
			}
		}
	}
	events, err := book.Events(t.Context(), 0, 1<<20)
	must(t, err)
	for i, e := range events {
		if e.Number != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, e.Number)
		}
	}
	var s campaign.Status
	must(t, json.Unmarshal([]byte(output(t, fleetIn(dir, "status", "-json", "night.toml"))), &s))
	for _, m := range s.Merges {
		if m.Phase != campaign.Verified {
			t.Errorf("%s is %s", m.Name(), m.Phase)
		}
	}

	killOften(t, book, 4, func() *exec.Cmd { return fleetIn(dir, "undo", "-all", "-pause", "20ms", "night.toml") })
	ends(t, fleetIn(dir, "undo", "-all", "night.toml"), cli.OK)
	for w, was := range before {
		if diff := cmp.Diff(was, rowsOf(t, filepath.Join(dir, w+".db"))); diff != "" {
			t.Errorf("%s after the undo: %s", w, diff)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*_m2.db*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// killOften starts a program again and again, and kills it at random moments.
func killOften(t *testing.T, book *campaign.Book, times int, command func() *exec.Cmd) {
	t.Helper()
	// A kill comes at any moment of the first second, or so many events after the start.
	for i := range times {
		cmd := command()
		must(t, cmd.Start())
		before, err := book.Status(t.Context())
		must(t, err)
		delay := time.Duration(rand.N(1000)) * time.Millisecond
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }()
		for start := time.Now(); time.Since(start) < delay; time.Sleep(time.Millisecond) {
			now, err := book.Status(t.Context())
			must(t, err)
			if i%2 == 0 && now.LastEvent >= before.LastEvent+int64(1+i) {
				break
			}
		}
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		<-ended
		now, err := book.Status(t.Context())
		must(t, err)
		if now.Doing != "" {
			t.Errorf("a process that was killed does %q", now.Doing)
		}
		for _, m := range now.Merges {
			if m.Active {
				t.Errorf("%s is active", m.Name())
			}
		}
	}
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.Output()
	must(t, err)
	return string(out)
}

// Of two processes one works on the campaign; the other says which.
func TestTwoProcesses(t *testing.T) {
	servertest.NotShort(t)
	dir := t.TempDir()
	nightIn(t, dir, 20, 400)
	ends(t, fleetIn(dir, "plan", "night.toml"), cli.OK)
	ends(t, fleetIn(dir, "pause", "night.toml"), cli.OK)
	first := fleetIn(dir, "apply", "night.toml")
	must(t, first.Start())
	book := bookIn(t, dir)
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		s, err := book.Status(t.Context())
		must(t, err)
		if s.Waits != "" {
			break
		}
		if time.Since(start) > 5*time.Minute {
			first.Process.Kill()
			t.Fatal("it does not wait")
		}
	}
	said := ends(t, fleetIn(dir, "apply", "night.toml"), cli.Incomplete)
	if want := fmt.Sprintf("campaign night.toml: process %d on ", first.Process.Pid); !strings.Contains(said, want) || !strings.Contains(said, "To see its progress: fleet status night.toml") {
		t.Errorf("got %s", said)
	}
	if said := ends(t, fleetIn(dir, "status", "night.toml"), cli.Stopped); !strings.Contains(said, "PAUSED  night: paused by the operator") || !strings.Contains(said, "0 of 1 merge verified") {
		t.Errorf("got %s", said)
	}
	ends(t, fleetIn(dir, "resume", "night.toml"), cli.OK)
	must(t, first.Wait())
}
