package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"mergesafe/internal/servertest"
)

// What docs/rules.md says about a game of one's own works as it is written: each command ends with 0,
// but for the first, which reads what nothing is declared of.
func TestPages(t *testing.T) {
	servertest.NotShort(t)
	dir := t.TempDir()
	if _, err := mergecheck(); err != nil {
		t.Fatal(err)
	}
	rules := page(t, "rules.md")
	_, own, found := strings.Cut(rules, "\n## Rules for a game of your own\n")
	own, _, _ = strings.Cut(own, "\n## ")
	mine := regexp.MustCompile("(?s)```toml\n(# mine.toml\n.*?)```").FindStringSubmatch(own)
	if !found || mine == nil {
		t.Fatal("docs/rules.md has no such section, or no mine.toml in it")
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.toml", mine[1])
	write("config.toml", worldsOfPages(t, dir))
	runPage(t, dir, own, 10)
}

// mergecheck builds the program mergecheck once, beside those that TestMain puts into PATH.
var mergecheck = sync.OnceValues(func() (path string, err error) {
	beside, err := exec.LookPath("servermerge")
	if err != nil {
		return "", err
	}
	path = filepath.Join(filepath.Dir(beside), "mergecheck")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "mergesafe/tools/mergecheck").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// worldsOfPages makes the two worlds of the page, and returns the configuration that names them and what is made.
func worldsOfPages(t *testing.T, dir string) (config string) {
	t.Helper()
	for name, rows := range map[string]string{
		"s1": "INSERT INTO chars VALUES (1, 'Aria', 10), (2, 'Bob', 9), (4, 'Cleo', 3); INSERT INTO items VALUES (1, 1), (2, 4), (3, 0), (5, 3); INSERT INTO mail VALUES (1, 0, 4, 'at 3'), (2, 1, 3, 'sold')",
		"s2": "INSERT INTO chars VALUES (1, 'Dan', 2), (3, 'Fay', 4); INSERT INTO items VALUES (1, 3), (2, 1), (4, 0); INSERT INTO mail VALUES (1, 0, 1, 'hi'), (4, 1, 2, 'sold 4')",
	} {
		db, err := sql.Open("sqlite", filepath.Join(dir, name+".db"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`CREATE TABLE chars (guid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, level INTEGER);
			CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER);
			CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER, sender INTEGER, body TEXT);` + rows); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		config += "[[source]]\nname = \"" + name + "\"\ndsn = \"sqlite:" + name + ".db\"\n"
	}
	for _, made := range []string{"try", "new"} {
		config += "[[source]]\nname = \"" + made + "\"\ndsn = \"sqlite:" + made + ".db\"\n"
	}
	return config
}

// runPage runs the commands of a page in their order. What the page adds to config.toml is added when it says so.
func runPage(t *testing.T, dir, page string, commands int) {
	t.Helper()
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```(sh|toml)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if block[1] == "toml" {
			if strings.HasPrefix(block[2], "[merge]\nrules = ") {
				config, err := os.OpenFile(filepath.Join(dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, err = config.WriteString(block[2])
				}
				if err := errors.Join(err, config.Close()); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		for line := range strings.Lines(block[2]) {
			args := strings.Fields(line)
			cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			want := 0
			if strings.Contains(line, "-propose") {
				want = 3
			}
			if got := cmd.ProcessState.ExitCode(); got != want || err != nil && want == 0 {
				t.Fatalf("%sexit code %d, want %d\n%s", line, got, want, out)
			}
			ran++
		}
	}
	if ran != commands {
		t.Errorf("%d commands ran, want %d", ran, commands)
	}
}
