package docs

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"mergesafe/internal/servertest"
)

// night is a folder with two worlds and the tools.
type night struct {
	bin, dir string
}

// newNight makes the worlds s1 and s2, and a configuration that names them, and the database new
// that does not exist; more is added to it. s2 counts its keys from first on.
func newNight(t *testing.T, bin string, first int, more string) night {
	t.Helper()
	n := night{bin, t.TempDir()}
	var config string
	for i, name := range []string{"s1", "s2", "new"} {
		config += "[[source]]\nname = \"" + name + "\"\ndsn = \"sqlite:" + name + ".db\"\n"
		if name == "new" {
			continue
		}
		n.exec(t, name, `CREATE TABLE chars (guid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, level INTEGER);
			CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, owner INTEGER REFERENCES chars (guid));
			CREATE TABLE mail (id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER, sender INTEGER, body TEXT)`)
		key := 1 + i*(first-1)
		n.exec(t, name, "INSERT INTO chars VALUES (?, ? || 'Aria', 10), (? + 1, ? || 'Bob', 9)", key, name, key, name)
		n.exec(t, name, "INSERT INTO items VALUES (?, ?), (? + 2, ? + 1)", key, key, key, key)
	}
	n.write(t, "config.toml", config+more)
	return n
}

func (n night) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// exec carries out a statement in the database of that name.
func (n night) exec(t *testing.T, name, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(n.dir, name+".db"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), statement, args...)
		db.Close()
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// run runs a command line as a page shows it, which may end with a comment.
func (n night) run(t *testing.T, line string) (out string, code int) {
	t.Helper()
	line, _, _ = strings.Cut(line, "#")
	words := strings.Fields(line)
	cmd := exec.CommandContext(t.Context(), filepath.Join(n.bin, words[0]), words[1:]...)
	cmd.Dir = n.dir
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// bin is the folder of the tools, which the first test that needs them builds.
var bin string

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(bin)
	os.Exit(code)
}

// tools builds the tools, once.
func tools(t *testing.T) string {
	t.Helper()
	if bin != "" {
		return bin
	}
	dir, err := os.MkdirTemp("", "tools")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), "./tools/mergecheck", "./tools/servermerge", "./tools/fleet", "./tools/gameid")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		os.RemoveAll(dir)
		t.Fatalf("%v\n%s", err, out)
	}
	bin = dir
	return bin
}

// The night of docs/merge-night.md goes as it is told: each command prints the lines below it.
func TestNight(t *testing.T) {
	servertest.NotShort(t)
	pages := pages(t)
	rules := regexp.MustCompile("(?s)```toml\n(# mine.toml\n.*?)```").FindStringSubmatch(pages["docs/rules.md"])
	if rules == nil {
		t.Fatal("docs/rules.md has no mine.toml")
	}
	n := newNight(t, tools(t), 1, "[merge]\nrules = [\"game.toml\"]\n")
	n.write(t, "game.toml", "[merge]\nrekey = true\n\n"+rules[1])
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(pages["docs/merge-night.md"], -1) {
		var command, out string
		for line := range strings.Lines(block[1]) {
			line = strings.TrimSuffix(line, "\n")
			shown, is := strings.CutPrefix(line, "$ ")
			if !is {
				_, rest, found := strings.Cut("\n"+out, "\n"+line)
				if !found {
					t.Fatalf("%s does not print %q, or not in this order:\n%s", command, line, out)
				}
				out = rest
				continue
			}
			if command = shown; strings.Contains(command, "undo -force") {
				n.testersPlay(t)
			}
			want, code := 0, 0
			if strings.Contains(command, " status ") {
				want = 4 // until it is open
			}
			if out, code = n.run(t, command); code != want {
				t.Fatalf("%s: exit code %d, want %d\n%s", command, code, want, out)
			}
			ran++
		}
	}
	if ran != 6 {
		t.Errorf("%d commands ran, want 6", ran)
	}
	if _, err := os.Stat(filepath.Join(n.dir, "new.db")); !os.IsNotExist(err) {
		t.Errorf("new.db is there after the undo: %v", err)
	}
}

// testersPlay writes to the new database. Then undo refuses without -force.
func (n night) testersPlay(t *testing.T) {
	t.Helper()
	n.exec(t, "new", "UPDATE chars SET level = level + 1 WHERE guid = 1")
	out, code := n.run(t, "servermerge undo plan.json")
	if code != 1 || !strings.Contains(out, `table "chars"`) || !strings.Contains(out, "-force") {
		t.Errorf("undo after play: exit code %d\n%s", code, out)
	}
}

// The commands of a merge work as README.md shows them.
func TestMergeCommands(t *testing.T) {
	servertest.NotShort(t)
	bin, pages := tools(t), pages(t)
	for name, want := range map[string]int{"README.md": 5} {
		ran := 0
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(pages[name], -1) {
			if !strings.Contains(block[1], "servermerge plan") {
				continue
			}
			n := newNight(t, bin, 1001, "")
			for line := range strings.Lines(block[1]) {
				if out, code := n.run(t, line); code != 0 {
					t.Fatalf("%s: %sexit code %d\n%s", name, line, code, out)
				}
				ran++
			}
		}
		if ran != want {
			t.Errorf("%s: %d commands ran, want %d", name, ran, want)
		}
	}
}
