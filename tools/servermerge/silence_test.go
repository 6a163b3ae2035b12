package main

import (
	"bytes"
	"context"
	"database/sql"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

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
		if _, err := db.Exec("CREATE TABLE chars (guid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); INSERT INTO chars VALUES (" + name[1:] + ", '" + name + "')"); err != nil {
			t.Fatal(err)
		}
		db.Close()
		files = append(files, "sqlite:"+file)
	}
	plan, into := filepath.Join(folder, "plan.json"), "sqlite:"+filepath.Join(folder, "new.db")
	ran(t, cli.OK, "plan", "-into", into, "-o", plan, files[0], files[1])
	ran(t, cli.OK, "apply", plan)

	silent := silentServer(t)
	for _, name := range []string{"open", "undo"} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // unless nothing is ever said
		log := &untilSaid{text: "asking the fleet registry", end: cancel}
		noEnv := func(string) (string, bool) { return "", false }
		var stdout bytes.Buffer
		root := command(noEnv, &stdout)
		cli.WaitingLinesEvery(root, 20*time.Millisecond)
		code := cli.Run(ctx, root, []string{"servermerge", name, "-fleet", silent, plan}, &stdout, log)
		cancel()
		said := log.said.String()
		if code == cli.OK || !strings.Contains(said, "asking the fleet registry") || !strings.Contains(said, ": no answer for ") || strings.Contains(said, "s3cret") {
			t.Errorf("%s: exit code %d\n%s%s", name, code, &stdout, said)
		}
	}
}
