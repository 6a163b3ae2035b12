package layers

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers are the packages of this module, from the lowest up. A package imports those of its own layer and of those
// above it in this list, and no others. A word stands for a package and for all below it, unless a longer one is there.
var layers = []struct{ what, packages string }{
	{"IDs and numbers", "gameid number entity"},
	{"texts", "internal/printable internal/columns internal/slice internal/naming internal/strict internal/sqltext internal/garbage"},
	{"databases", "internal/sqldb internal/worldregistry internal/config"},
	{"a game's database", "store internal/fleet"},
	{"keys", "merge/keys"},
	{"catalogue, rules, verdicts", "merge/catalog merge/rules merge/verdict"},
	{"the check", "merge/stream merge/leave merge/check"},
	{"guesses", "merge/propose"},
	{"a world", "merge/world"},
	{"the plan and the record", "merge/plan merge/record merge/evidence"},
	{"a row on its way", "merge/mapping merge/job merge/change"},
	{"planning", "merge/planner"},
	{"the proof", "merge/prove"},
	{"making it", "merge/build"},
	{"the face", "merge"},
	{"many merges and reports", "merge/report merge/inventory merge/estimate merge/campaign merge/suggest merge/live"},
	{"programs", "tools examples"},
	{"for tests", "gameid/sim store/storetest store/torture merge/mergetest merge/worldtest merge/oracle tools/internal/cli/clitest " +
		"tools/servermerge/life internal/servertest internal/smalldisk internal/browsertest internal/gameworlds internal/odddsn internal/inventory internal/mutant"},
	{"this repository", "internal/docs internal/layers tools/internal/profiles"},
}

// apart are pairs of which the first never imports the second, in any number of steps.
var apart = []struct{ program, without string }{
	{"gameid", "mergesafe/number mergesafe/entity mergesafe/internal github.com modernc.org golang.org"},
	{"number", "mergesafe/gameid mergesafe/entity mergesafe/internal github.com modernc.org golang.org"},
	{"entity", "mergesafe/internal github.com modernc.org golang.org"},
	{"store", "mergesafe/entity mergesafe/number github.com/go-sql-driver modernc.org github.com/jackc"}, // with no driver that a game does not name
	{"store/starter", "github.com/go-sql-driver modernc.org github.com/jackc"},
	{"store/fleet", "github.com/go-sql-driver modernc.org github.com/jackc"},
	{"store/numbers", "github.com/go-sql-driver modernc.org github.com/jackc"},
	{"store/mysql", "modernc.org github.com/jackc"},
	{"store/sqlite", "github.com/go-sql-driver github.com/jackc"},
	{"store/postgres", "github.com/go-sql-driver modernc.org"},
	{"examples/quickstart", "mergesafe/merge mergesafe/tools"}, // a game links no merge
	{"examples/gameserver", "mergesafe/merge mergesafe/tools"},
	{"examples/idserver", "mergesafe/merge mergesafe/tools"},
	{"merge/check", "mergesafe/store mergesafe/internal/sqldb github.com/jmoiron github.com/go-sql-driver modernc.org"}, // a check knows no database
	{"merge/propose", "mergesafe/store mergesafe/internal/sqldb github.com/jmoiron github.com/go-sql-driver modernc.org"},
	{"merge/prove", "mergesafe/merge/build"}, // a proof shares no code with what it proves
}

// drivers are known to the dialects alone, and to what starts or breaks databases for tests.
var drivers = []string{"github.com/go-sql-driver/mysql", "modernc.org/sqlite", "github.com/jackc/pgx"}

// place returns the place in layers, or -1.
func place(name string) (at int) {
	longest := ""
	at = -1
	for i, layer := range layers {
		for _, word := range strings.Fields(layer.packages) {
			if within(name, word) && len(word) > len(longest) {
				at, longest = i, word
			}
		}
	}
	return at
}

// within reports whether a path is that of a package, or of one below it.
func within(path, name string) bool { return path == name || strings.HasPrefix(path, name+"/") }

func TestLayers(t *testing.T) {
	for _, p := range list(t) {
		at := place(p.name)
		if at < 0 {
			t.Errorf("%s is in no layer", p.name)
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.name)
		}
		for _, imported := range p.Imports {
			if other, ours := strings.CutPrefix(imported, "mergesafe/"); ours && place(other) > at {
				t.Errorf("%s (%s) imports %s (%s)", p.name, layers[at].what, other, layers[place(other)].what)
			}
			dialect := within(p.name, "internal/sqldb") || within(p.name, "internal/servertest") || within(p.name, "store/storetest/faulty") || p.name == "merge/worldtest"
			if slices.ContainsFunc(drivers, func(driver string) bool { return within(imported, driver) }) && !dialect {
				t.Errorf("%s imports the driver %s", p.name, imported)
			}
		}
		for _, a := range apart {
			for _, unwanted := range strings.Fields(a.without) {
				if a.program == p.name && slices.ContainsFunc(p.Deps, func(dep string) bool { return within(dep, unwanted) }) {
					t.Errorf("%s links %s", p.name, unwanted)
				}
			}
		}
	}
}

var update = flag.Bool("update", false, "draw docs/architecture.svg")

// drawn is how many of the layers are drawn: those of the product.
const drawn = 17

// The picture in ARCHITECTURE.md is drawn from layers and from what packages import, and the page has a sentence for each.
func TestDrawing(t *testing.T) {
	all := list(t)
	uses := make(map[[2]int]bool) // of two layers, the upper one first
	for _, p := range all {
		for _, i := range p.Imports {
			if from, to := place(p.name), place(strings.TrimPrefix(i, "mergesafe/")); strings.HasPrefix(i, "mergesafe/") && from != to && from >= 0 && to >= 0 {
				uses[[2]int{to, from}] = true
			}
		}
	}
	const file = "../../docs/architecture.svg"
	want := draw(uses)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is another picture than that of the code: go test ./internal/layers -run TestDrawing -update (%v)", file, err)
	}
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, layer := range layers[:drawn] {
		for name := range strings.FieldsSeq(layer.packages) {
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("ARCHITECTURE.md does not say what %s is for", name)
			}
		}
	}
}

// draw is the layers from the lowest one down, with an arrow to each other that one uses, unless it does so by one between.
func draw(uses map[[2]int]bool) string {
	var b strings.Builder
	const height, pitch, width = 30, 42, 620
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">
<style>rect{fill:#fff;stroke:#456}text{fill:#123}path{fill:none;stroke:#456}@media(prefers-color-scheme:dark){rect{fill:#123;stroke:#9bd}text{fill:#def}path{stroke:#9bd}}</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0,0L8,4L0,8"/></marker></defs>
`, width+180, drawn*pitch+10)
	for i, layer := range layers[:drawn] {
		y := 10 + i*pitch
		fmt.Fprintf(&b, "<rect x=\"10\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/><text x=\"20\" y=\"%d\" font-weight=\"bold\">%s</text><text x=\"250\" y=\"%d\" font-size=\"11\">%s</text>\n",
			y, width, height, y+20, layer.what, y+20, short(layer.packages))
	}
	between := func(up, down int) bool { // whether it is used by way of another one
		for m := up + 1; m < down; m++ {
			if uses[[2]int{up, m}] && uses[[2]int{m, down}] {
				return true
			}
		}
		return false
	}
	for down := range drawn {
		for up := range down {
			if !uses[[2]int{up, down}] || between(up, down) {
				continue
			}
			from, to, bend := 10+down*pitch+10, 10+up*pitch+20, width+10+14*(down-up)
			fmt.Fprintf(&b, "<path marker-end=\"url(#a)\" d=\"M%d,%d C%d,%d %d,%d %d,%d\"/>\n", width+10, from, bend, from, bend, to, width+12, to)
		}
	}
	return b.String() + "</svg>\n"
}

// short is a list of packages as it fits into a box.
func short(packages string) string {
	const fits = 62
	text := strings.ReplaceAll(packages, "internal/", "")
	if len(text) <= fits {
		return text
	}
	return text[:strings.LastIndexByte(text[:fits], ' ')] + " …"
}

type listed struct {
	name          string // without the path of the module
	ImportPath    string
	Imports, Deps []string
	GoFiles       []string
	Doc           string
}

// list asks the go command about the packages of this module that are more than tests.
func list(t *testing.T) (all []listed) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,GoFiles,Doc", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.name = strings.TrimPrefix(p.ImportPath, "mergesafe/"); len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
	return all
}
