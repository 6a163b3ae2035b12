package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What docs/rules.md says about a game of one's own works as it is written: each command
// ends with 0, but for the first, which reads what nothing is declared of.
func TestRulesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, own, found := strings.Cut(string(page), "\n## Rules for a game of your own\n")
	if !found {
		t.Fatal("no such section")
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../mergecheck", ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	config := ""
	for name, rows := range map[string]string{
		"s1": "INSERT INTO chars VALUES (1, 'Aria', 10), (2, 'Bob', 9), (4, 'Cleo', 3); INSERT INTO items VALUES (1, 1), (2, 4), (3, 0), (5, 3); INSERT INTO mail VALUES (1, 0, 4, 'at 3'), (2, 1, 3, 'sold')",
		"s2": "INSERT INTO chars VALUES (1, 'Dan', 2), (3, 'Fay', 4); INSERT INTO items VALUES (1, 3), (2, 1), (4, 0); INSERT INTO mail VALUES (1, 0, 1, 'hi'), (4, 1, 2, 'sold 4')",
	} {
		db, err := sql.Open("sqlite", filepath.Join(dir, name+".db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(`CREATE TABLE chars (guid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, level INTEGER);
			CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER);
			CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER, sender INTEGER, body TEXT);` + rows); err != nil {
			t.Fatal(err)
		}
		config += "[[source]]\nname = \"" + name + "\"\ndsn = \"sqlite:" + name + ".db\"\n"
	}
	mine := regexp.MustCompile("(?s)```toml\n(# mine.toml\n.*?)```").FindStringSubmatch(own)
	if mine == nil {
		t.Fatal("no mine.toml")
	}
	for name, text := range map[string]string{"config.toml": config, "mine.toml": mine[1]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(own, -1) {
		for line := range strings.Lines(block[1]) {
			args := strings.Fields(line)
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, args[0]), args[1:]...)
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
	if ran != 10 {
		t.Errorf("%d commands ran", ran)
	}
}
