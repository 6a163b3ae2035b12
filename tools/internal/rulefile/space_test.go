package rulefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/rules"
)

// A counter is a column, or a sequence by its name alone.
func TestParseCounter(t *testing.T) {
	got, err := parse("[[merge.counter]]\nat = 'seq.next'\nwhen = { column = 'name', is = ['item'] }\nto = 'items.id'\n[[merge.counter]]\nat = 'char_seq'\nto = 'chars.guid'\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []rules.CounterRow{{At: "seq.next", When: &rules.When{Column: "name", Is: []string{"item"}}, Space: "items.id"}, {At: "char_seq", Space: "chars.guid"}}
	if diff := cmp.Diff(want, got.Check.Rekey.Counters, noPlaces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A space may say which of its rows are the same thing, or take its map from a plan, which is
// looked for beside the file.
func TestParseMatch(t *testing.T) {
	got, err := parse("[[merge.space]]\nkeys = ['accounts.id']\nmatch = ['accounts.name', 'accounts.realm']\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"accounts.name", "accounts.realm"}, got.Check.Rekey.Spaces[0].Match); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "auth.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"auth.json": "the plan has version 0", "other.json": "no such file"} {
		file := filepath.Join(dir, "rules.toml")
		if err := os.WriteFile(file, []byte("[[merge.space]]\nname = 'accounts'\noffset = '"+name+"'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := new(Rules).Load(file); err == nil || !strings.Contains(err.Error(), "merge.space.offset") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "3:") {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
