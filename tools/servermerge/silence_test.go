package main

import (
	"bytes"
	"context"
	"database/sql"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"mergesafe/internal/fleet"
	"mergesafe/tools/internal/cli"
)

// silentServer accepts connections, and never answers. It returns the DSN of a database there.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				conn.Read(make([]byte, 1)) // until the other side gives up
			})
		}
	})
	return "mysql:keeper:s3cret@tcp(" + l.Addr().String() + ")/fleet"
}

// untilSaid is a log that ends what is under way as soon as it says something.
type untilSaid struct {
	said bytes.Buffer
	text string
	end  context.CancelFunc
}

func (u *untilSaid) Write(p []byte) (int, error) {
	n, err := u.said.Write(p)
	if strings.Contains(u.said.String(), u.text) {
		u.end()
	}
	return n, err
}

// While the fleet registry does not answer, open and undo say so again and again, without
// a terminal.
func TestSilentFleetRegistry(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for _, name := range []string{"s1", "s2"} {
		file := filepath.Join(folder, name+".db")
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("CREATE TABLE chars (guid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); INSERT INTO chars VALUES (1, '" + name + "')"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		files = append(files, "sqlite:"+file)
	}
	registry, err := fleet.Open("sqlite:" + filepath.Join(folder, "fleet.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	registry.Close()
	plan, rules := filepath.Join(folder, "plan.json"), filepath.Join(folder, "rules.toml")
	if err := os.WriteFile(rules, []byte("[merge]\nrekey = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	into := "sqlite:" + filepath.Join(folder, "new.db")
	ran(t, cli.OK, "plan", "-into", into, "-rules", rules, "-o", plan, files[0], files[1])
	ran(t, cli.OK, append([]string{"apply", plan, into}, files...)...)

	silent := silentServer(t)
	for _, args := range [][]string{
		append([]string{"open", "-fleet", silent, plan, into}, files...),
		append([]string{"undo", "-force", "-fleet", silent, plan, into}, files...),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // unless nothing is ever said
		log := &untilSaid{text: "asking the fleet registry", end: cancel}
		noEnv := func(string) (string, bool) { return "", false }
		var stdout bytes.Buffer
		root := command(noEnv, &stdout)
		cli.WaitingLinesEvery(root, 20*time.Millisecond)
		code := cli.Run(ctx, root, append([]string{"servermerge"}, args...), &stdout, log)
		cancel()
		said := log.said.String()
		if code == cli.OK || !strings.Contains(said, "asking the fleet registry") || !strings.Contains(said, ": no answer for ") || strings.Contains(said, "s3cret") {
			t.Errorf("%s: exit code %d\n%s%s", args[0], code, &stdout, said)
		}
	}
}
