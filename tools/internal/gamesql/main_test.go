package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mergesafe/internal/gamesql"
)

var update = flag.Bool("update", false, "write the tables of docs/profiles.md, from the sources in MERGESAFE_SOURCES")

const (
	document = "../../../docs/profiles.md"
	begin    = "<!-- games -->\n"
	end      = "<!-- end of games -->\n"
)

// The tables of docs/profiles.md are those of the games' sources, and nothing is open. MERGESAFE_SOURCES is a folder
// with these. Without it, the tables are compared with the comments and the commits of the profiles.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	tables, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no tables between %q and %q", document, begin, end)
	}
	folder := os.Getenv("MERGESAFE_SOURCES")
	if folder == "" {
		for _, g := range games {
			p, err := load(g.files("../../../profiles")...)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(tables, "* "+g.title+": "+p.source+"\n") {
				t.Errorf("%s was made from another commit than %q: renew it, as it says", document, p.source)
			}
			for pair, why := range p.why {
				if !strings.Contains(tables, ": "+why+"\n") {
					t.Errorf("%s: %q is explained, and not in %s", g.title, pair, document)
				}
			}
		}
		t.Log("NOT TESTED: the tables themselves, since MERGESAFE_SOURCES names no folder with the sources of games")
		return
	}
	all, err := judgeAll(folder, "../../../profiles")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, r := range all {
		r.doubtful(&b)
	}
	if b.Len() > 0 {
		t.Errorf("open:\n%s", &b)
	}
	b.Reset()
	page(&b, all)
	if *update {
		err = os.WriteFile(document, []byte(before+begin+b.String()+end+after), 0o666)
	} else if b.String() != tables {
		t.Errorf("%s has other tables than the sources; -update renews it:\n%s", document, &b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const madeUp = `# SQL compares hero.gold with item.id: gold buys items
# SQL binds what: of all kinds
[check]
shared = ["*.kind", "item.map", "log.map"]
plain = ["hero.name", "hero.gold", "hero.title", "log.hero", "log.what"]
[[check.reference]]
to = "hero.id"
at = ["item.holder", "mail.sender", "log.sender"]
[[check.reference]]
to = "hero.id"
at = ["mail.thing"]
when = { column = "kind", is = [1] }
[[check.reference]]
to = ["space:parties"]
at = ["hero.party", "mail.party"]
[[check.reference]]
to = "hero.name"
at = ["mail.name"]
by = "sender"
[[merge.space]]
keys = ["hero.id"]
[[merge.space]]
keys = ["item.id"]
[[merge.space]]
name = "parties"
[[merge.table]]
tables = ["bag"]
policy = "skip"
[schema]
name = "made up"
source = "here"
tables = { hero = "id name gold party title", item = "id holder map", mail = "id sender thing kind party name", log = "hero what map sender", bag = "item" }
`

// What becomes of a relation, by what the rules say of its columns.
func TestCompare(t *testing.T) {
	file := filepath.Join(t.TempDir(), "made-up.toml")
	if err := os.WriteFile(file, []byte(madeUp), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ a, b, want string }{
		{"hero.id", "item.holder", "has"},
		{"item.holder", "mail.sender", "has"}, // both name heroes
		{"hero.id", "mail.thing", "has"},      // in some rows
		{"hero.party", "mail.party", "has"},   // of a space without a table
		{"hero.name", "mail.name", "has"},     // a name
		{"item.map", "log.map", "shared"},
		{"bag.item", "item.id", "stay"},
		{"hero.gold", "item.id", "why"},
		{"hero.id", "log.hero", "open"}, // plain
		{"hero.id", "item.id", "open"},  // keys of two kinds
		{"hero.name", "hero.title", "open"},
		{"item.map", "hero.id", "open"},
		{"mail.id", "hero.id", "open"}, // of which nothing is said
	} {
		at := func(text string) (c gamesql.Column) {
			c.Table, c.Name, _ = strings.Cut(text, ".")
			return c
		}
		r := p.compare("", gamesql.Found{Relations: []gamesql.Relation{{A: at(c.a), B: at(c.b)}}})
		got := map[string]int{"has": r.has, "shared": r.shared, "stay": r.stay, "why": len(r.why), "open": len(r.open)}
		if got[c.want] != 1 {
			t.Errorf("%s = %s: %v, want %s", c.a, c.b, got, c.want)
		}
	}
	bound := func(value, column string) gamesql.Binding {
		table, name, _ := strings.Cut(column, ".")
		return gamesql.Binding{Column: gamesql.Column{Table: table, Name: name}, Value: value}
	}
	r := p.compare("", gamesql.Found{Bindings: []gamesql.Binding{
		bound("p.hero_id", "hero.id"), bound("player.getHeroId()", "item.holder"), // one name, and both move
		bound("s.owner", "hero.id"), bound("s.owner", "log.hero"), // one of them is plain
		bound(`rs.getInt("thing")`, "hero.id"), bound("x.thing", "item.id"), // keys of two kinds
		bound("id", "hero.id"), bound("id", "log.hero"), // a name that says nothing
		bound("what", "hero.id"), bound("what", "log.what"), // explained
	}})
	var doubts []string
	for _, d := range r.doubts {
		doubts = append(doubts, d.member+": "+d.columns+d.why)
	}
	want := []string{"owner: hero.id beside log.hero", "thing: hero.id, item.id beside each other", "what: hero.id beside log.whatof all kinds"}
	if r.members != 4 || !slices.Equal(doubts, want) {
		t.Errorf("%d members, %q", r.members, doubts)
	}
}
