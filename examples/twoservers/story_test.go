package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"mergesafe/entity"
	"mergesafe/gameid"
	"mergesafe/internal/servertest"
	"mergesafe/store/starter"
	"mergesafe/store/storetest"
)

// The story goes as told, twice in the same place, and what it says is in the databases.
func TestStory(t *testing.T) {
	servertest.NotShort(t)
	root := storetest.First(filepath.Abs("../.."))
	config := storetest.First(os.ReadFile(filepath.Join(root, "config.toml")))
	t.Chdir(t.TempDir())
	storetest.Must(t, os.WriteFile("config.toml", config, 0o600))
	var told string
	for range 2 {
		var out bytes.Buffer
		s := story{t.Context(), &out, root}
		if err := s.tell(); err != nil {
			t.Fatalf("%v, after\n%s", err, &out)
		}
		told = out.String()
	}
	t.Log(told)
	for _, want := range []string{
		`PASS  merging s1 and s2 is safe`,
		`READY  merging s1 and s2 into the new database new`,
		`DONE  new is open: every row of s1 and s2 is there`,
		`key-collision heroes id: 300 keys occur more than once`,
		`READY  merging east and west into the new database both`,
		`west +\d+ .* \+1,000 `,
		`PASS +references point to the same row as before, or to none as before +1,400 references`,
		`heroes 7 of west became 1007 `,
	} {
		if !regexp.MustCompile(want).MatchString(told) {
			t.Errorf("the story does not say %q", want)
		}
	}
	for line := range strings.Lines(told) {
		if n := utf8.RuneCountInString(line); n > 130 {
			t.Errorf("%d columns: %s", n, line)
		}
	}

	said := regexp.MustCompile(`The item ([0-9a-f]{20}) of s2 is in new, and still belongs to\n(\w+ of s2)\.`).FindStringSubmatch(told)
	if said == nil {
		t.Fatal("the story names no item")
	}
	for _, name := range []string{"s2", "new"} {
		db := storetest.OpenReadOnly(t, "sqlite:"+dir+name+".db")
		item, err := starter.Items.Get(t.Context(), db, storetest.First(gameid.ParseOf[entity.Item](said[1])))
		storetest.Must(t, err)
		owner, err := starter.Players.Get(t.Context(), db, item.Owner)
		if err != nil || owner.Name != said[2] {
			t.Errorf("in %s the item is of %q, %v, the story says %s", name, owner.Name, err, said[2])
		}
	}
	both := storetest.OpenReadOnly(t, "sqlite:"+dir+"both.db")
	var seven string
	if err := both.Get(t.Context(), &seven, "SELECT name FROM heroes WHERE id = 1007"); err != nil || seven != name(6)+" of west" {
		t.Errorf("hero 1007 is %q, %v", seven, err)
	}

	for _, try := range regexp.MustCompile(`(?m)^    go run \./tools/(\w+) (.*?) +# `).FindAllStringSubmatch(told, -1) {
		if _, err := os.Stat(dir + try[1]); err != nil {
			continue // not built for the story
		}
		out, err := exec.CommandContext(t.Context(), dir+try[1], strings.Fields(try[2])...).CombinedOutput()
		if try[1] != "mergecheck" && err != nil {
			t.Errorf("%s: %v\n%s", try[0], err, out)
		}
		if try[1] == "mergecheck" && !strings.Contains(string(out), "items.owner") {
			t.Errorf("%s:\n%s", try[0], out)
		}
	}
}
