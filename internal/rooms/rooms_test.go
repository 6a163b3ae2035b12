package rooms

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

// arrows are, for each room, the rooms that it may import. Rooms in internal
// that are not listed on the left import nothing of ours, and [shared] may be
// imported by every room but those of [pure]. A room that ends in / stands for
// all that is below it. ARCHITECTURE.md shows them.
var arrows = map[string]string{
	"gameid":                  "",
	"gameid/gameidtest":       "gameid",
	"gameid/metrics":          "gameid",
	"number":                  "",
	"entity":                  "gameid number",
	"internal/sqldb":          "internal/sqltext",
	"internal/sqldb/mysql":    "internal/sqldb",
	"internal/sqldb/sqlite":   "internal/sqldb",
	"internal/sqldb/postgres": "internal/sqldb",
	"internal/sqltext":        "",
	"internal/masked":         "internal/sqldb",
	"internal/config":         "gameid internal/strict",
	"store/mysql":             "internal/sqldb/mysql",
	"store/sqlite":            "internal/sqldb/sqlite",
	"store/postgres":          "internal/sqldb/postgres",
	"internal/worldregistry":  "gameid internal/sqldb",
	"store/registry":          "gameid internal/sqldb internal/worldregistry",
	"store":                   "gameid internal/sqldb internal/worldregistry store/registry",
	"store/fleet":             "gameid internal/sqldb internal/worldregistry store/registry",
	"store/numbers":           "gameid internal/sqldb number internal/worldregistry store/registry store/fleet",
	"store/starter":           "gameid number entity internal/sqldb store",
	"merge/rekey":             "",
	"merge/cell":              "merge/rekey",
	"merge/codec":             "merge/cell merge/rekey",
	"merge/catalog":           "gameid merge/rekey",
	"merge/declare":           "gameid merge/catalog merge/rekey merge/cell",
	"merge/verdict":           "merge/catalog merge/declare merge/rekey",
	"merge/stream":            "merge/catalog merge/declare merge/rekey merge/cell",
	"merge/leave":             "internal/sqltext merge/catalog merge/cell merge/declare merge/verdict merge/stream merge/rekey",
	"merge/check/moved":       "merge/catalog merge/declare merge/verdict merge/stream merge/rekey",
	"merge/check/read":        "gameid merge/catalog merge/declare merge/verdict merge/stream merge/check/moved merge/rekey merge/cell",
	"merge/check/rule":        "merge/declare merge/verdict merge/check/moved merge/check/read",
	"merge/check/spaces":      "merge/catalog merge/declare merge/verdict merge/stream merge/check/moved merge/check/read merge/check/rule merge/rekey merge/cell",
	"merge/check/undeclared":  "gameid merge/catalog merge/declare merge/verdict merge/stream merge/check/read merge/check/rule merge/rekey",
	"merge/check/kinds":       "merge/check/kinds/tell merge/check/kinds/groups merge/catalog merge/declare merge/verdict merge/stream merge/check/read merge/check/rule merge/check/undeclared merge/rekey",
	"merge/check":             "merge/check/left merge/check/references merge/check/schemas merge/check/servers gameid merge/catalog merge/declare merge/verdict merge/stream merge/check/read merge/check/rule merge/check/spaces merge/check/undeclared merge/leave merge/rekey",
	"merge/propose":           "merge/check/kinds/tell merge/check/kinds/groups gameid merge/catalog merge/declare merge/verdict merge/stream merge/check/read merge/check/rule merge/check/spaces merge/check/kinds merge/check/undeclared merge/rekey",
	"merge":                   "merge/catalog merge/declare merge/verdict merge/check merge/check/rule merge/propose",
	"merge/sqlsource":         "gameid merge/catalog merge/declare merge/rekey internal/sqldb internal/sqldb/mysql internal/sqldb/sqlite internal/sqltext internal/worldregistry",
	"merge/transfer/rowio":    "merge/catalog merge/rekey merge/cell merge/sqlsource internal/sqldb internal/sqldb/mysql internal/sqltext",
	"merge/transfer/schema":   "merge/transfer/rowio internal/sqldb internal/sqltext",
	"merge/transfer/plan":     "merge/catalog merge/declare merge/verdict merge/rekey merge/cell merge/transfer/rowio internal/sqldb",
	"merge/transfer/ledger":   "merge/catalog merge/rekey merge/transfer/rowio merge/transfer/plan internal/sqldb internal/worldregistry",
	"merge/transfer/change":   "merge/transfer/change/move merge/declare merge/verdict merge/rekey merge/cell merge/transfer/rowio merge/transfer/plan",
	"merge/transfer/job":      "internal/sqldb internal/worldregistry merge/catalog merge/cell merge/rekey merge/verdict merge/transfer/change merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/schema",

	// What the steps share, and the changes, which stand below them.
	"merge/transfer/evidence":        "merge/declare merge/verdict merge/transfer/plan merge/transfer/rowio",
	"merge/transfer/write":           "internal/sqldb merge/transfer/job merge/transfer/ledger merge/transfer/rowio",
	"merge/transfer/step":            "merge/catalog merge/declare merge/verdict merge/transfer/evidence merge/transfer/job merge/transfer/plan merge/transfer/rowio",
	"merge/transfer/change/same":     "merge/declare merge/transfer/job merge/transfer/plan merge/transfer/rowio merge/transfer/step",
	"merge/transfer/change/leave":    "merge/transfer/change/leave/groups merge/transfer/change/leave/stayed merge/declare merge/leave merge/rekey merge/verdict merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/step",
	"merge/transfer/change/reset":    "merge/catalog merge/declare merge/verdict merge/transfer/evidence merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/step merge/transfer/write",
	"merge/transfer/change/counters": "merge/catalog merge/rekey merge/verdict merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/schema merge/transfer/step merge/transfer/write",
	"merge/transfer/change/names":    "gameid internal/sqldb merge/catalog merge/check/read merge/declare merge/verdict merge/transfer/change merge/transfer/evidence merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/step merge/transfer/write",
	"merge/transfer/change/combine":  "merge/transfer/change/origin internal/sqldb merge/catalog merge/declare merge/verdict merge/transfer/change merge/transfer/evidence merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/step merge/transfer/write",
	"merge/transfer/change/keys":     "merge/transfer/change/keys/proof merge/transfer/change/keys/matched internal/sqldb merge/catalog merge/check/spaces merge/declare merge/rekey merge/verdict merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/step",
	"merge/transfer/change/all":      "merge/transfer/step merge/transfer/change/",

	"merge/transfer/planner": "internal/sqldb internal/sqldb/mysql merge merge/catalog merge/check/read merge/declare merge/rekey merge/sqlsource merge/verdict internal/worldregistry merge/transfer/change merge/transfer/change/all merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/schema merge/transfer/step",
	"merge/transfer/prove":   "merge/transfer/change/origin gameid internal/sqldb internal/worldregistry merge merge/catalog merge/declare merge/verdict merge/transfer/change/all merge/transfer/evidence merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/planner merge/transfer/rowio merge/transfer/schema merge/transfer/step",
	"merge/transfer/apply":   "gameid internal/sqldb merge/catalog merge/cell merge/rekey merge/verdict internal/worldregistry merge/transfer/change/all merge/transfer/change/counters merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/planner merge/transfer/rowio merge/transfer/schema merge/transfer/step merge/transfer/write",
	"merge/transfer/undo":    "merge/transfer/change/origin gameid internal/sqldb merge/catalog merge/verdict internal/worldregistry merge/transfer/apply merge/transfer/change/all merge/transfer/evidence merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/planner merge/transfer/prove merge/transfer/rowio merge/transfer/schema merge/transfer/step merge/transfer/write",
	"merge/transfer/open":    "internal/worldregistry merge/verdict merge/transfer/apply merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/prove merge/transfer/rowio merge/transfer/schema",
	"merge/transfer":         "merge/cell merge/declare merge/rekey merge/transfer/",
	"merge/report":           "merge/report/timeline gameid merge/catalog merge/declare merge/verdict merge/check merge/propose merge/rekey merge/transfer merge/inventory",
	"merge/inventory":        "gameid merge/catalog merge/rekey merge/sqlsource merge/transfer internal/sqldb internal/worldregistry store/fleet",
	"merge/agenda":           "internal/sqldb internal/sqldb/mysql internal/sqldb/sqlite internal/strict",
	"merge/progress":         "merge/estimate merge/transfer merge/verdict",
	"merge/site":             "merge/agenda merge/transfer internal/sqldb",
	"merge/campaign": "merge/campaign/lock merge/estimate merge/agenda merge/progress merge/site merge/declare merge/verdict merge/cell " +
		"merge/transfer merge/report internal/sqldb",
	"merge/suggest": "merge/inventory/overlap merge/inventory merge/agenda merge/progress",
	"merge/live":    "merge/agenda merge/progress merge/report merge/transfer",

	// Parts of larger rooms, which stand below these.
	"merge/estimate":                     "merge/transfer",
	"merge/check/kinds/tell":             "merge/catalog merge/declare merge/rekey merge/verdict merge/check/undeclared",
	"merge/check/kinds/groups":           "merge/catalog merge/declare merge/stream merge/check/read",
	"merge/transfer/change/leave/stayed": "merge/declare merge/rekey merge/transfer/plan merge/transfer/rowio merge/transfer/step",
	"merge/transfer/change/leave/groups": "merge/transfer/change/leave/stayed merge/verdict merge/declare merge/rekey merge/transfer/plan merge/transfer/rowio",
	"merge/transfer/change/keys/matched": "internal/sqldb merge/rekey merge/transfer/job merge/transfer/ledger merge/transfer/plan",
	"merge/transfer/change/keys/proof":   "merge/transfer/change/keys/matched merge/declare merge/rekey merge/verdict merge/transfer/evidence merge/transfer/job merge/transfer/ledger merge/transfer/plan merge/transfer/rowio merge/transfer/step",
	"merge/transfer/change/move":         "merge/cell merge/rekey merge/verdict merge/transfer/rowio",
	"merge/transfer/change/origin":       "merge/cell merge/rekey merge/transfer/change merge/transfer/change/move merge/transfer/plan merge/transfer/rowio",
	"merge/mergetest/values":             "gameid merge/catalog",
	"merge/transfer/oracle/mutate":       "internal/mutant",
	"tools/servermerge/life/mutate":      "internal/mutant",
	"merge/campaign/lock":                "",
	"merge/report/timeline":              "merge/verdict",
	"merge/inventory/overlap":            "merge/catalog merge/sqlsource merge/transfer",
	"merge/check/rule/ruletest":          "merge/catalog merge/declare merge/check/read merge/check/rule",
	"merge/check/servers":                "gameid merge/catalog merge/declare merge/rekey merge/stream merge/verdict merge/check/read merge/check/rule",
	"merge/check/schemas":                "merge/catalog merge/declare merge/verdict merge/check/read merge/check/rule",
	"merge/check/references":             "merge/catalog merge/declare merge/rekey merge/verdict merge/check/kinds merge/check/read merge/check/rule merge/check/undeclared",
	"merge/check/left":                   "merge/catalog merge/declare merge/leave merge/rekey merge/verdict merge/check/moved merge/check/read merge/check/rule merge/check/spaces",

	"tools/internal/rules": "merge/declare merge/propose merge/cell merge/rekey merge/transfer internal/strict internal/config",
	"tools/":               "*",
	"examples/":            "*",

	// For tests only; see onlyTests.
	"gameid/sim":                     "",
	"store/torture":                  "",
	"store/storetest":                "*",
	"store/storetest/faulty":         "internal/sqldb",
	"merge/mergetest":                "merge/catalog merge/mergetest/values merge/rekey",
	"internal/servertest":            "internal/servertest/folder internal/servertest/processes",
	"internal/servertest/folder":     "",
	"internal/servertest/processes":  "",
	"internal/servertest/":           "internal/servertest",
	"internal/smalldisk":             "internal/servertest",
	"internal/gameworlds":            "gameid internal/sqldb internal/sqldb/mysql internal/sqldb/sqlite internal/worldregistry",
	"internal/gameworlds/make-fleet": "internal/gameworlds",
}

// onlyTests are rooms that no program has.
var onlyTests = []string{"gameid/gameidtest", "gameid/sim", "store/storetest/faulty", "store/torture", "merge/mergetest", "merge/mergetest/values", "merge/check/rule/ruletest"}

// shared are the rooms of words and numbers for people, and of slices.
var shared = []string{"internal/printable", "internal/slice", "internal/nearest", "internal/columns", "internal/pattern"}

// pure are the rooms that have no need of them.
var pure = []string{"gameid", "number", "entity"}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	GoFiles    []string
	Doc        string
}

// Every room imports what it may, and no more, and says in one sentence what
// it is for.
func TestArrows(t *testing.T) {
	for _, p := range list(t, "./...") {
		room := strings.TrimPrefix(p.ImportPath, "mergesafe/")
		if len(p.GoFiles) == 0 || room == "internal/rooms" {
			continue
		}
		allowed, known := arrowsOf(room)
		if !known {
			t.Errorf("%s is in no list of rooms: which arrows may it have?", room)
			continue
		}
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, "mergesafe/")
			switch {
			case !ours, slices.Contains(allowed, other), slices.Equal(allowed, []string{"*"}), below(allowed, other):
			case slices.Contains(shared, other) && !slices.Contains(pure, room):
			default:
				t.Errorf("%s imports %s, and may import %q and %q", room, other, allowed, shared)
			}
		}
		if p.Doc == "" {
			t.Errorf("%s has no package comment", room)
		}
	}
}

var update = flag.Bool("update", false, "write the rooms and arrows into ARCHITECTURE.md")

// The list of rooms in ARCHITECTURE.md is made from their package comments and from [arrows].
func TestDrawing(t *testing.T) {
	const file, begin, end = "../../ARCHITECTURE.md", "<!-- rooms -->\n```\n", "```\n<!-- end of rooms -->\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(data), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no list between %q and %q", file, begin, end)
	}
	want := before + begin + drawing(t) + end + after
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s has another list of rooms than the code: go test ./internal/rooms -run TestDrawing -update", file)
	}
	if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

// drawing lists the rooms of games and merges, each below those that it imports.
func drawing(t *testing.T) string {
	var b strings.Builder
	drawn := make(map[string]bool)
	left := slices.DeleteFunc(list(t, "./..."), func(p listed) bool {
		room := strings.TrimPrefix(p.ImportPath, "mergesafe/")
		allowed, listed := arrows[room]
		return !listed || allowed == "*" || slices.Contains(onlyTests, room) || strings.HasPrefix(room, "internal/") && !strings.HasPrefix(room, "internal/sqldb")
	})
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(p listed) bool {
			return !slices.ContainsFunc(left, func(other listed) bool { return slices.Contains(p.Imports, other.ImportPath) })
		})
		if i < 0 {
			t.Fatal("rooms import each other")
		}
		p := left[i]
		left = slices.Delete(left, i, i+1)
		room := strings.TrimPrefix(p.ImportPath, "mergesafe/")
		sentence, _, _ := strings.Cut(strings.Join(strings.Fields(p.Doc), " "), ". ")
		_, purpose, _ := strings.Cut(sentence, "ackage "+room[strings.LastIndexByte(room, '/')+1:]+" ")
		fmt.Fprintf(&b, "%-23s %s\n", room, strings.TrimSuffix(purpose, "."))
		var used []string
		for _, imported := range p.Imports {
			if other, ours := strings.CutPrefix(imported, "mergesafe/"); ours && drawn[other] {
				used = append(used, shortened(other))
			}
		}
		if len(used) > 0 {
			fmt.Fprintf(&b, "%23s -> %s\n", "", strings.Join(used, " "))
		}
		drawn[room] = true
	}
	return b.String()
}

// shortened is a room in the list of another one: merge/check/read is check/read.
func shortened(room string) string {
	return strings.TrimPrefix(strings.TrimPrefix(room, "merge/"), "transfer/")
}

// below reports whether a room is below one that ends in /.
func below(allowed []string, room string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool { return strings.HasSuffix(a, "/") && strings.HasPrefix(room, a) })
}

// arrowsOf returns what a room may import.
func arrowsOf(room string) (allowed []string, known bool) {
	if list, ok := arrows[room]; ok {
		return strings.Fields(list), true
	}
	for name, list := range arrows {
		if strings.HasSuffix(name, "/") && strings.HasPrefix(room+"/", name) {
			return strings.Fields(list), true
		}
	}
	return nil, strings.HasPrefix(room, "internal/") // which imports nothing of ours
}

// Who imports gameid for IDs, or runs a game server, links no database driver
// or no merge engine that it does not use.
func TestLinks(t *testing.T) {
	for _, c := range []struct{ program, without string }{
		{"./gameid", "mergesafe/store mergesafe/internal github.com modernc.org golang.org"},
		{"./number", "mergesafe/gameid mergesafe/entity mergesafe/store mergesafe/internal mergesafe/merge github.com modernc.org golang.org"},
		{"./entity", "mergesafe/store mergesafe/internal github.com modernc.org golang.org"},
		{"./store", "mergesafe/merge mergesafe/entity mergesafe/number mergesafe/store/starter mergesafe/store/fleet mergesafe/store/numbers github.com/go-sql-driver modernc.org github.com/jackc"},
		{"./store/starter", "github.com/go-sql-driver modernc.org github.com/jackc"},
		{"./store/fleet", "github.com/go-sql-driver modernc.org github.com/jackc"},
		{"./store/numbers", "github.com/go-sql-driver modernc.org github.com/jackc"},
		{"./store/mysql", "modernc.org github.com/jackc"},
		{"./store/sqlite", "github.com/go-sql-driver github.com/jackc"},
		{"./store/postgres", "github.com/go-sql-driver modernc.org"},
		{"./examples/quickstart", "mergesafe/merge mergesafe/tools"},
		{"./examples/gameserver", "mergesafe/merge mergesafe/tools"},
		{"./examples/idserver", "mergesafe/merge mergesafe/tools"},
		{"./merge", "mergesafe/store mergesafe/internal/sqldb github.com/jmoiron github.com/go-sql-driver github.com/BurntSushi modernc.org"},
	} {
		for _, p := range list(t, c.program) {
			for _, dep := range p.Deps {
				for _, unwanted := range strings.Fields(c.without) {
					// The module's own path may begin with one of others, such as github.com.
					if strings.HasPrefix(dep, "mergesafe/") != strings.HasPrefix(unwanted, "mergesafe/") {
						continue
					}
					if dep != p.ImportPath && (dep == unwanted || strings.HasPrefix(dep, unwanted+"/")) {
						t.Errorf("%s links %s", c.program, dep)
					}
				}
			}
		}
	}
}

// Each driver is known in the folder of its dialect alone.
func TestDrivers(t *testing.T) {
	for _, p := range list(t, "./...") {
		if strings.HasPrefix(p.ImportPath, "mergesafe/internal/sqldb/") || strings.HasPrefix(p.ImportPath, "mergesafe/internal/servertest") || p.ImportPath == "mergesafe/store/storetest/faulty" {
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/go-sql-driver/") || strings.HasPrefix(imported, "modernc.org/sqlite") || strings.HasPrefix(imported, "github.com/jackc/") {
				t.Errorf("%s imports the driver %s", p.ImportPath, imported)
			}
		}
	}
}

// list asks the go command about packages of this module.
func list(t *testing.T, pattern string) (all []listed) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,GoFiles,Doc", pattern)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pattern, err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}
