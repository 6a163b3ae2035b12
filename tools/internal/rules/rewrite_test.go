package rules

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/declare"
)

// Every older word gets the new one, comments and order stay, and what the file says does too.
func TestRewrite(t *testing.T) {
	for _, tt := range []struct{ name, older, want string }{
		{"natural alone", `# A game.
[check]
# Of the game's own data.
natural = [ # of the client
  "*.map", # Map.dbc
  "a.b"
]
`, `# A game.
[check]
# Of the game's own data.
shared = [ # of the client
  "*.map", # Map.dbc
  "a.b"
]
`},
		{"natural before shared", `[check]
natural = ["*.map", 'a.[#]'] # Map.dbc
plain = ["a.b"] # not "natural"

# One account database.
shared = [
  "c.account"  # Login
] # all worlds

[[check.unique]]
at = "a.b"
`, `[check]
shared = [
  # Map.dbc
  "*.map", 'a.[#]',
  # One account database.
  # all worlds
  "c.account",  # Login
]
plain = ["a.b"] # not "natural"

[[check.unique]]
at = "a.b"
`},
		{"natural behind shared", `[check]
shared = ["c.account"]
# Spells.
natural = [
  "*.spell",
]
plain = []
`, `[check]
shared = [
  "c.account",
  # Spells.
  "*.spell",
]
plain = []
`},
		{"accounts", `[check]
shared = ["c.account", "c.other"]

# The client shows ten.
[[check.account]]
table  = "c"
column = "account" # of login
max    = 10

[[check.account]]
table = "c"
column = "other"

[[check.unique]]
at = "a.b"
`, `[check]
# The client shows ten.
# of login
shared = [{ at = "c.account", max = 10 }, { at = "c.other" }]

[[check.unique]]
at = "a.b"
`},
		{"columns", `[[check.unique]]
table   = "characters" # all
columns = ["name", "realm"]
name    = "character name"
[[check.id]]
table = "mail"
column = "item"
[[merge.name]]
table      = "players"
column     = "name" # shown
template   = "{name}."
max_length = 32 # letters
[[merge.counter]]
at    = "seq.next"
when  = { column = "name", is = ["item"] }
space = "a.id" # the last one
[[merge.space]]
keys = ["a.id"]
step = 100
[[merge.table]]
tables   = ["characters"]
renumber = "slot"
within   = "account" # of login
max      = 8
[[merge.table]]
tables  = ["currency"]
policy  = "combine"
columns = { gold = "sum" } # earned
[[check.world]]
at = "a.id"
value = "id / 10"
`, `[[check.unique]]
at      = ["characters.name", "characters.realm"] # all
name    = "character name"
[[check.id]]
at = "mail.item"
[[merge.name]]
at         = "players.name" # shown
template   = "{name}."
max        = 32 # letters
[[merge.counter]]
at    = "seq.next"
when  = { column = "name", is = ["item"] }
to    = "a.id" # the last one
[[merge.space]]
keys = ["a.id"]
offset = 100
[[merge.table]]
tables   = ["characters"]
renumber = { column = "slot", within = "account", max = 8 } # of login
[[merge.table]]
tables  = ["currency"]
policy  = "combine"
set     = { gold = "sum" } # earned
[[check.world]]
at = "a.id"
by = "id / 10"
`},
		{"references", `[[check.reference]]
# Guild.cpp
table        = "ranks"
columns      = ["guild", "rank"] # both
to_table     = "guild_ranks"
to_columns   = ["guild_id", "rank_id"]
[[check.reference]]
table = "mail"
columns = ["receiver"]
to_table = "characters"
to_columns = ["guid"]
none = [0]
# Mail.cpp writes it.
[[merge.copy]]
table     = "mail"
column    = "sender_name" # varchar
# the key
key       = "sender"
of_table  = "players"
of_column = "name"
`, `[[check.reference]]
# Guild.cpp
to           = "guild_ranks.(guild_id, rank_id)"
at           = ["ranks.(guild, rank)"] # both
[[check.reference]]
to = "characters.guid"
at = ["mail.receiver"]
none = [0]
# Mail.cpp writes it.
[[check.reference]]
to = "players.name"
at = ["mail.sender_name"]
by = "sender" # varchar
# the key
`},
	} {
		w, err := Rewrite("rules.toml", tt.older, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, w.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		again, err := Rewrite("rules.toml", w.Text, nil)
		if err != nil || again.Text != w.Text || len(again.Changes) > 0 {
			t.Errorf("%s: again: %v, %v", tt.name, again.Changes, err)
		}
	}
}

// Lines end as the editor ended them.
func TestRewriteLineEnds(t *testing.T) {
	w, err := Rewrite("rules.toml", "\uFEFF[check]\r\nnatural = ['*.map']\r\n", nil)
	if want := "[check]\r\nshared = ['*.map']\r\n"; err != nil || w.Text != want {
		t.Errorf("%q, %v, want %q", w.Text, err, want)
	}
	const mixed = "[check]\r\nshared = ['*.map']\n"
	if w, err := Rewrite("rules.toml", mixed, nil); err != nil || w.Text != mixed {
		t.Errorf("%q, %v, want it unchanged", w.Text, err)
	}
}

// What no new word says stays, and is named.
func TestRewriteLeaves(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[check]\nexclude = ['log_*']", "line 2: exclude is an older word: tables that it leaves out are NOT VERIFIED."},
		{"[check]\nnatural = ['*.account']\n[[check.account]]\ntable='c'\ncolumn='account'", "line 2: natural is an older word, and has the account c.account"},
		{"[check]\nshared = ['*.account']\n[[check.account]]\ntable='c'\ncolumn='account'\nmax=3", `line 3: [[check.account]] is an older word: if the same value is one account in every world, write shared = [{ at = "c.account", max = 3 }]`},
		{"[[check.reference]]\ntable='a'\ncolumns=['b', 'c']\nto_table='d'\nto_columns=['e', 'f']\nzero_is_none=false", "line 6: zero_is_none is an older word"},
		{"[[check.reference]]\ntable='a'\ncolumns=['b']\nto_table='d'\nto_columns=['e']\n[[check.reference]]\ntable='a'\ncolumns=['b']\nto_table='f'\nto_columns=['e']", "line 1: another reference has the column a.b too"},
		{"[[merge.space]]\nkeys=['a.b']\nstep=100\noffset={ s2 = 100 }", "line 3: step is the older word for offset, which stands there as well"},
	} {
		w, err := Rewrite("rules.toml", tt.text, nil)
		if err != nil || len(w.Left) == 0 || !strings.HasPrefix(w.Left[0].String(), tt.want) {
			t.Errorf("%q: %v, %v, want %s", tt.text, w.Left, err, tt.want)
		}
	}
	// An account of another file.
	w, err := Rewrite("rules.toml", "[check]\nnatural = ['*.account']", []declare.AccountColumn{{Table: "c", Column: "account"}})
	if err != nil || len(w.Left) == 0 || len(w.Changes) > 0 {
		t.Errorf("%+v, %v", w, err)
	}
	// A file that is wrong is not touched.
	if _, err := Rewrite("rules.toml", "[check]\nnaturel = []", nil); err == nil {
		t.Error("a file with an unknown key was rewritten")
	}
}

// All files of the repository that have rules keep what they say.
func TestRewriteFiles(t *testing.T) {
	for _, pattern := range []string{"../../../profiles/*.toml", "../../../config.toml", "../../../internal/fleetworlds/rules.toml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Rewrite(file, string(text), nil)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, c := range w.Changes {
				t.Log(file, c)
			}
			for _, c := range w.Left {
				t.Log(file, "left", c)
			}
			before, after := comments(string(text)), comments(w.Text)
			if !maps.Equal(before, after) {
				t.Errorf("%s: comments (-before +after):\n%s", file, cmp.Diff(before, after))
			}
		}
	}
}

// comments counts the lines of a text that have a comment, by what it says.
func comments(text string) map[string]int {
	all := make(map[string]int)
	for line := range strings.Lines(text) {
		if _, c, has := strings.Cut(line, "#"); has {
			all[strings.TrimSpace(c)]++
		}
	}
	return all
}
