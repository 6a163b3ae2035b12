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
	{"what there is, and what the operator says", "merge/catalog merge/rules merge/verdict"},
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
	{"for tests", "gameid/sim store/storetest store/torture merge/mergetest merge/oracle tools/internal/cli/clitest " +
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
			dialect := within(p.name, "internal/sqldb") || within(p.name, "internal/servertest") || within(p.name, "store/storetest/faulty")
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

var update = flag.Bool("update", false, "write the packages into ARCHITECTURE.md")

// The list of packages in ARCHITECTURE.md is made from layers and from the package comments.
func TestDrawing(t *testing.T) {
	const file, begin, end = "../../ARCHITECTURE.md", "<!-- packages -->\n```\n", "```\n<!-- end of packages -->\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no list between %q and %q", file, begin, end)
	}
	var b strings.Builder
	all := list(t)
	for i, layer := range layers {
		fmt.Fprintf(&b, "%s\n", layer.what)
		for _, p := range all {
			if place(p.name) == i {
				sentence, _, _ := strings.Cut(strings.Join(strings.Fields(p.Doc), " "), ". ")
				_, purpose, _ := strings.Cut(strings.TrimSuffix(sentence, "."), p.name[strings.LastIndexByte(p.name, '/')+1:]+" ")
				fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(fmt.Sprintf("%-30s %s", p.name, purpose)))
			}
		}
	}
	want := before + begin + b.String() + end + after
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s has another list of packages than the code: go test ./internal/layers -run TestDrawing -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
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
