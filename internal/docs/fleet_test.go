package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mergesafe/internal/servertest"
)

// The commands of docs/fleet.md work as they are written, with its campaign file: six worlds are merged in a night.
// Left out are the window, which would have to be waited for, and pages that are served until Ctrl-C.
func TestFleet(t *testing.T) {
	servertest.NotShort(t)
	page := pages(t)["docs/fleet.md"]
	n := night{tools(t), t.TempDir()}
	if err := os.Mkdir(filepath.Join(n.dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	n.write(t, "config.toml", `[[source]]
name = "w{1..6}"
dsn  = "sqlite:w{1..6}.db"
[fleet]
players = "characters"
active  = "logout_time"
names   = ["characters.name"]
[check]
plain = ["characters.*"]
`)
	for i := range 6 {
		world := fmt.Sprintf("w%d", i+1)
		n.exec(t, world, "CREATE TABLE characters (guid INTEGER PRIMARY KEY, name TEXT, logout_time INTEGER)")
		n.exec(t, world, "INSERT INTO characters VALUES (?, 'Aria of ' || ?, ?)", 1000*i+1, world, time.Now().Unix())
	}
	campaign := regexp.MustCompile("(?s)```toml\n(# night.toml\n.*?)```").FindStringSubmatch(page)
	if campaign == nil {
		t.Fatal("docs/fleet.md has no night.toml")
	}
	file := regexp.MustCompile(`(?m)^(window|zone) .*\n`).ReplaceAllString(campaign[1], "")
	file = strings.Replace(file, `"mysql:tcp(db4:3306)/w4_2026"`, `"w4_2026"`, 1)

	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(block[1]) {
			switch {
			case strings.HasPrefix(line, "go ") || strings.HasPrefix(line, "ssh ") || strings.Contains(line, "-http") || strings.Contains(line, "fleet serve"):
				continue
			case strings.HasPrefix(line, "gameid servers places set"): // the registry is made by a command further below
				n.run(t, "gameid servers init -fleet sqlite:data/fleet.db")
			case strings.HasPrefix(line, "gameid servers init"): // and was made above
				continue
			}
			want := 0
			if strings.HasPrefix(line, "fleet status -html") {
				want = 3 // a merge was undone
			}
			if out, code := n.run(t, strings.ReplaceAll(line, "'", "")); code != want { // no shell takes the quotes away
				t.Fatalf("%sexit code %d, want %d\n%s", line, code, want, out)
			}
			ran++
			if strings.HasPrefix(line, "fleet suggest") {
				n.write(t, "night.toml", file)
			}
		}
	}
	if ran != 17 {
		t.Errorf("%d commands ran, want 17", ran)
	}
}
