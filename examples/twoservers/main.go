// Twoservers tells in one command what this project is for: two worlds whose keys come from nodes are merged as they
// are, and two worlds whose keys count from 1 are merged with new keys.
//
//	go run ./examples/twoservers
//
// It needs nothing but Go, and works at the top of this repository, with its config.toml. Everything that it shows is
// real: worlds are made in data/twoservers, and the tools of the operators merge them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/store"
	"mergesafe/store/starter"

	_ "mergesafe/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := story{ctx, os.Stdout, "."}
	if err := s.tell(); err != nil {
		fmt.Fprintln(os.Stderr, "twoservers:", err)
		os.Exit(1)
	}
}

// story is told in the working directory.
type story struct {
	ctx  context.Context
	out  io.Writer
	root string // of this repository
}

const dir = "data/twoservers/" // where config.toml has the worlds

// rules say what the schema of the counting game does not.
const rules = `[merge]
rekey = true

[[check.reference]]
at = ["items.owner"]
to = "heroes.id"
`

func (s story) tell() error {
	// Only what an earlier run left is here.
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	s.say(`
Online games run many small worlds, each with a database of its own. When worlds empty, operators
merge their databases. Two rows with the same key then collide.

== New game code: keys that never collide ==

Server 1 runs the world s1, and server 2 the world s2. Neither knows of the other. Players join and
find items. An item of each, by its ID:
`)
	one, err := play(s.ctx, "sqlite:"+dir+"s1.db", "s1", 1, 400)
	if err != nil {
		return err
	}
	two, err := play(s.ctx, "sqlite:"+dir+"s2.db", "s2", 2, 300)
	if err != nil {
		return err
	}
	for _, id := range []gameid.Of[entity.Item]{one.ID, two.ID} {
		text := id.String()
		s.say("    %s %s %s   made by server %d at %s", text[:11], text[11:16], text[16:], id.Server(), id.Time().Format("2006-01-02T15:04:05.000Z"))
	}
	s.say(`    time        server
                      sequence

Whatever they do, they cannot make the same ID: the server is part of it. And a server makes none
twice, also after a crash or with a wrong clock: it uses only times that its database has reserved.

So the worlds can be merged as they are. These are the tools of the operators (building them takes
a while the first time; of their output you see the main lines):
`)
	bin, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	build := exec.CommandContext(s.ctx, "go", "build", "-C", s.root, "-o", bin, "./tools/mergecheck", "./tools/servermerge")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the tools: %w\n%s", err, text)
	}
	if err := errors.Join(
		s.run(0, "^PASS  merging", "mergecheck s1 s2"),
		s.run(0, "^READY|^  contents", "servermerge plan -into new -o "+dir+"new.json s1 s2"),
		s.run(0, "^DONE", "servermerge apply "+dir+"new.json"),
		s.run(0, "^DONE", "servermerge open "+dir+"new.json"),
	); err != nil {
		return err
	}
	owner, err := s.ownerIn("sqlite:"+dir+"new.db", two.ID)
	if err != nil {
		return err
	}
	s.say(`Each row has kept its ID. The item %s of s2 is in new, and still belongs to
%s. Links, logs and mails that name it stay right.

== Games that exist: keys that count from 1 ==

east and west are worlds of such a game: hero 7 is in both, and so is item 7.
`, two.ID, owner)
	if err := errors.Join(count(s.ctx, dir+"east.db", "east", 400), count(s.ctx, dir+"west.db", "west", 300)); err != nil {
		return err
	}
	if err := s.run(1, "^  key-collision|^Failed", "mergecheck east west"); err != nil {
		return err
	}
	s.say(`One world's keys can get new values, if it is known what refers to them. The schema does not say
that an item has an owner, so the merge asks, until a person writes it into a file of rules:

%s`, indented(rules))
	if err := os.WriteFile(dir+"rules.toml", []byte(rules), 0o666); err != nil {
		return err
	}
	if err := errors.Join(
		s.run(0, "^READY|^New keys|[+]1,000 ", "servermerge plan -rules "+dir+"rules.toml -into both -o "+dir+"both.json east west"),
		s.run(0, "^DONE", "servermerge apply "+dir+"both.json"),
		s.run(0, "^DONE|^  PASS +(rows|references)", "servermerge open "+dir+"both.json"),
		s.run(0, "", "servermerge whois both heroes 1007"),
	); err != nil {
		return err
	}
	s.say(`Each item of west has the owner that it had, under his new key. No row of s1, s2, east and west was
written, so both merges can be taken back.

== Continue from here ==

    go run ./tools/mergecheck -propose east west                     # what the columns of a game seem to be
    go run ./tools/servermerge verify %[1]sboth.json      # proves every row and key again
    go run ./tools/servermerge undo %[1]sboth.json        # takes the merge back
    go run ./tools/gameid inspect %[2]s               # what an ID says
    GAME_DSN=sqlite:%[1]snew.db go run ./examples/gameserver  # the game of s1 continues`, dir, two.ID)
	return nil
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

func (s story) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// run runs a tool, shows the lines of its output that fit, each once, and wants its exit code.
func (s story) run(code int, show, command string) error {
	s.say("    $ %s", command)
	words := strings.Fields(command)
	tool := exec.CommandContext(s.ctx, dir+words[0], words[1:]...)
	text, err := tool.CombinedOutput()
	if e, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || ok && e.ExitCode() != code || !ok && code != 0 {
		return fmt.Errorf("%s: %v, want exit code %d\n%s", command, err, code, text)
	}
	seen, fits := make(map[string]bool), regexp.MustCompile(show)
	for line := range strings.Lines(string(text)) {
		if fits.MatchString(line) && !seen[line] {
			s.say("    %s", strings.TrimRight(line, "\n"))
		}
		seen[line] = true
	}
	s.say("")
	return nil
}

// ownerIn returns the name of the player who has an item.
func (s story) ownerIn(dsn string, id gameid.Of[entity.Item]) (string, error) {
	db, err := store.OpenReadOnly(s.ctx, dsn)
	if err != nil {
		return "", err
	}
	defer db.Close()
	item, err := starter.Items.Get(s.ctx, db, id)
	if err != nil {
		return "", err
	}
	owner, err := starter.Players.Get(s.ctx, db, item.Owner)
	return owner.Name, err
}
