package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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
		{"rows of a table", `[[check.reference]]
to = "auctions.id"
at = ["a.auction"] # why

[[check.reference]]
to = ["b.id", "auctions.id"]
at = ["b.any"]
gone = "none"

[[merge.table]]
tables = ["auct*"]
policy = "skip"
rows = "drop" # they go
`, `[[check.reference]]
to = "auctions.id"
at = ["a.auction"] # why
gone = "drop"

[[check.reference]]
to = ["b.id", "auctions.id"]
at = ["b.any"]
gone = "none"

[[merge.table]]
tables = ["auct*"]
policy = "skip"
# they go
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

// All files of the repository that have rules, those in scripts of tests too, keep what they say and their
// comments; what was rewritten is not changed again.
func TestRewriteFiles(t *testing.T) {
	changes := 0
	for name, text := range filesOfTOML(t) {
		if kind := kindOf(text); kind != "rules" && kind != "config" || readers[kind](text) != nil {
			continue
		}
		w, err := Rewrite(name, text, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		changes += len(w.Changes)
		if before, after := comments(text), comments(w.Text); !maps.Equal(before, after) {
			t.Errorf("%s: comments (-before +after):\n%s", name, cmp.Diff(before, after))
		}
		if again, err := Rewrite(name, w.Text, nil); err != nil || again.Text != w.Text {
			t.Errorf("%s: again: %v, %v", name, again.Changes, err)
		}
	}
	if changes < 20 {
		t.Errorf("%d changes in all files", changes)
	}
}

// Files of random statements in older words, with comments everywhere, keep what they say.
func TestRewriteProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		comment := func() string {
			n++
			return rapid.SampledFrom([]string{"", "", fmt.Sprintf(" # %d \"quoted' [x]", n)}).Draw(t, "comment")
		}
		above := func() string {
			n++
			return rapid.SampledFrom([]string{"", "\n", fmt.Sprintf("# above %d\n", n)}).Draw(t, "above")
		}
		places := []string{`"a.x"`, `'b.#y'`, `"*.z"`, `"c.account"`, `"d.[w]"`, `"e.f"`, `'e."g"'`, `"e.h"`, `"e.i"`, `"e.\\\"j"`, `"e.k"`, `"e.l"`, `"e.m"`}
		list := func(key string) string {
			chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(places), 0, 3, rapid.ID).Draw(t, key)
			places = slices.DeleteFunc(places, func(p string) bool { return slices.Contains(chosen, p) })
			if rapid.Bool().Draw(t, "one line") {
				return key + " = [" + strings.Join(chosen, ", ") + "]" + comment() + "\n"
			}
			text := key + " = [" + comment() + "\n"
			for i, p := range chosen {
				if text += above() + "  " + p; i < len(chosen)-1 || rapid.Bool().Draw(t, "comma") {
					text += ","
				}
				text += comment() + "\n"
			}
			return text + above() + "]" + comment() + "\n"
		}
		var b strings.Builder
		b.WriteString(above() + "[check]" + comment() + "\n")
		for _, key := range rapid.Permutation([]string{"plain", "natural", "shared", "undecided"}).Draw(t, "lists") {
			if rapid.Bool().Draw(t, key) {
				b.WriteString(above() + list(key))
			}
		}
		statements := [][]string{
			{"[[check.unique]]", `table = "a"`, `columns = ["x", "y"]`, `name = "x"`}, {"[[check.id]]", `table = "a"`, `column = "x"`},
			{"[[check.account]]", `table = "c"`, `column = "account"`, "max = 4"}, {"[[check.world]]", `at = "a.x"`, `value = "id / 10"`},
			{"[[check.reference]]", `table = "a"`, `columns = ["b"]`, `to_table = "d"`, `to_columns = ["e"]`, "none = [0]"},
			{"[[check.reference]]", `table = "a.b"`, `columns = ["b", "c"]`, `to_table = "d"`, `to_columns = ["e", "f"]`},
			{"[[merge.copy]]", `table = "a"`, `column = "b"`, `key = "c"`, `of_table = "d"`, `of_column = "e"`},
			{"[[merge.name]]", `table = "a"`, `column = "b"`, "max_length = 1_0", `template = "{name}#"`}, {"[[merge.counter]]", `at = "a.b"`, `space = "a.c"`},
			{"[[merge.space]]", `keys = ["a.c"]`, "step = 1_000", `keep = "<10"`}, {"[[merge.table]]", `tables = ["a"]`, `renumber = "b"`, `within = ["c", "d"]`, "max = 8"},
			{"[[merge.table]]", `tables = ["b"]`, `policy = "combine"`, `columns = { a = "sum" }`},
		}
		for _, s := range rapid.Permutation(statements).Draw(t, "statements")[:rapid.IntRange(0, len(statements)).Draw(t, "n")] {
			b.WriteString(above() + s[0] + comment() + "\n")
			for _, line := range rapid.Permutation(s[1:]).Draw(t, "keys") {
				b.WriteString(above() + line + comment() + "\n")
			}
		}
		text := b.String()
		w, err := Rewrite("rules.toml", text, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if before, after := comments(text), comments(w.Text); !maps.Equal(before, after) {
			t.Fatalf("comments (-before +after):\n%s\n%s\n%s", cmp.Diff(before, after), text, w.Text)
		}
		if again, err := Rewrite("rules.toml", w.Text, nil); err != nil || again.Text != w.Text {
			t.Fatalf("again: %v, %v in\n%s", again.Changes, err, w.Text)
		}
	})
}

// No text makes Rewrite panic, and what it takes it leaves alone the second time.
func FuzzRewrite(f *testing.F) {
	f.Add("[check]\nnatural = ['''\na#.b''']\nshared = ['a.b']\n")
	f.Add("[check]\nnatural = ['''\n#.b''']\nshared = ['a.b']\n")
	f.Add("[[check.unique]]\n\"table\" = 'a'\n\"columns\" = ['b']\n")
	f.Add("[[merge.copy]]\ntable='a'\ncolumn='b'\nkey='c'\nof_table='d'\nof_column='e'")
	f.Add("check.natural = ['a.b']\n[[merge.table]]\ntables=['a']\nrenumber='b'\nwithin=['c']\n")
	f.Add("[check]\nshared=[\"c.a\"]\n[[check.account]]\ntable='c'\ncolumn='a'\nmax=3 # x")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Rewrite("rules.toml", text, nil)
		if err != nil {
			return
		}
		if again, err := Rewrite("rules.toml", w.Text, nil); err != nil || again.Text != w.Text {
			t.Errorf("%q: %q, then %q, %v", text, w.Text, again.Text, err)
		}
	})
}

// comments counts the lines of a text that have a comment, by what it says.
func comments(text string) map[string]int {
	all := make(map[string]int)
	for line := range strings.Lines(text) {
		if _, c := cutComment(strings.TrimSuffix(line, "\n")); c != "" {
			all[strings.TrimSpace(c)]++
		}
	}
	return all
}
