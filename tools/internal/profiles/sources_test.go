// Package profiles has tests alone: they compare the rules of each profile with the SQL in the source of its game.
package profiles

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/profiles.md, from the sources in MERGESAFE_SOURCES")

const (
	document = "../../../docs/profiles.md"
	begin    = "<!-- games -->\n"
	end      = "<!-- end of games -->\n"
)

// game is a game with a profile, of one file or several. Its source is in a folder with the name of the last one.
type game struct{ files, title string }

var games = []game{
	{"tfs", "The Forgotten Server"}, {"tfs canary", "Canary"}, {"hercules", "Hercules"}, {"rathena", "rAthena"},
	{"cosmic", "Cosmic"}, {"azerothcore", "AzerothCore"}, {"azerothcore trinitycore", "TrinityCore"}, {"l2jmobius", "L2J Mobius"},
	{"landsandboat", "LandSandBoat"},
}

func (g game) profile(t *testing.T) *profile {
	t.Helper()
	var files []string
	for name := range strings.FieldsSeq(g.files) {
		files = append(files, filepath.Join("../../../profiles", name+".toml"))
	}
	p, err := load(files...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The tables of docs/profiles.md are those of the games' sources, and no relation is open. MERGESAFE_SOURCES is a folder
// with these; a game that is not there is not compared. Each game's line of the commit, and each explanation, is that of its profile in any case.
func TestSources(t *testing.T) {
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
	var all []*report
	for _, g := range games {
		p := g.profile(t)
		if !strings.Contains(tables, "* "+g.title+": "+p.source+"\n") {
			t.Errorf("%s was made from another commit than %q: renew it, as it says", document, p.source)
		}
		for pair, why := range p.why {
			if !strings.Contains(tables, ": "+why+"\n") {
				t.Errorf("%s: %q is explained, and not in %s", g.title, pair, document)
			}
		}
		source := filepath.Join(folder, g.files[strings.LastIndexByte(g.files, ' ')+1:])
		if _, err := os.Stat(source); folder == "" || err != nil {
			t.Logf("NOT TESTED: the source of %s, which is in no folder of MERGESAFE_SOURCES", g.title)
			continue
		}
		in, r := os.DirFS(source), newReader(p.schema)
		if err := fs.WalkDir(in, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return r.add(in, name)
		}); err != nil {
			t.Fatal(err)
		}
		compared := p.compare(g.title, r.result())
		for _, j := range compared.open {
			t.Errorf("open: %s: %s (%s) = %s (%s): %s", g.title, j.a, j.isA, j.b, j.isB, strings.Join(j.at[:min(3, len(j.at))], " "))
		}
		if line := compared.line(); !strings.Contains(tables, line) && !*update {
			t.Errorf("%s has not this line; -update renews it: %s", document, line)
		}
		all = append(all, compared)
	}
	if *update {
		if len(all) < len(games) {
			t.Fatal("-update wants the sources of all games")
		}
		var b bytes.Buffer
		b.WriteString(before + begin)
		page(&b, all)
		b.WriteString(end + after)
		if err := os.WriteFile(document, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// report is how the rules of a game compare with its source.
type report struct {
	found
	title, source     string
	has, shared, stay int // relations: the rules have them; the game's own data; of tables that stay behind
	why, open         []judged
}

// judged is a relation that the rules do not have.
type judged struct {
	relation
	isA, isB string // what the rules say of its columns
	why      string // "" if no comment says
}

func (p *profile) compare(title string, found found) *report {
	r := &report{found: found, title: title, source: p.source}
	for _, rel := range found.relations {
		a, ofA := p.of(rel.a)
		b, ofB := p.of(rel.b)
		j := judged{rel, a, b, p.why[[2]string{rel.a.String(), rel.b.String()}]}
		switch {
		case slices.ContainsFunc(ofA, func(s string) bool { return slices.Contains(ofB, s) }):
			r.has++
		case j.why != "":
			r.why = append(r.why, j)
		case a == "shared" && b == "shared":
			r.shared++
		case p.stays(rel.a.Table) || p.stays(rel.b.Table):
			r.stay++
		default:
			r.open = append(r.open, j)
		}
	}
	return r
}

// line is the line of a game in the table of docs/profiles.md.
func (r *report) line() string {
	return fmt.Sprintf("| %s | %d + %d | %d | %d | %d | %d | %d | %d |\n", r.title, r.statements, r.computed,
		len(r.relations), r.has, r.shared, r.stay, len(r.why), len(r.open))
}

// page writes the tables of docs/profiles.md.
func page(w io.Writer, all []*report) {
	fmt.Fprint(w, "| game | statements | relations | in the profile | game's own data | stay behind | explained | open |\n"+strings.Repeat("|---", 8)+"|\n")
	for _, r := range all {
		fmt.Fprint(w, r.line())
	}
	fmt.Fprintln(w)
	for _, r := range all {
		fmt.Fprintf(w, "* %s: %s\n", r.title, r.source)
		for _, j := range slices.Concat(r.why, r.open) {
			fmt.Fprintf(w, "  * `%s` = `%s`: %s\n", j.a, j.b, cmp.Or(j.why, "open"))
		}
	}
}

const madeUp = `# SQL compares hero.gold with item.id: gold buys items
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
		at := func(text string) (c column) {
			c.Table, c.Name, _ = strings.Cut(text, ".")
			return c
		}
		r := p.compare("", found{relations: []relation{{a: at(c.a), b: at(c.b)}}})
		got := map[string]int{"has": r.has, "shared": r.shared, "stay": r.stay, "why": len(r.why), "open": len(r.open)}
		if got[c.want] != 1 {
			t.Errorf("%s = %s: %v, want %s", c.a, c.b, got, c.want)
		}
	}
}
