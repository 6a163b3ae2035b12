package rooms

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows are, for each room, the rooms that it may import. Rooms in internal
// that are not listed on the left import nothing of ours, and [shared] may be
// imported by every room but those of [pure]. A room that ends in / stands for
// all that is below it. ARCHITECTURE.md draws the same picture.
var arrows = map[string]string{
	"gameid":            "",
	"gameid/gameidtest": "gameid",
	"gameid/metrics":    "gameid",
	"number":            "",
	"entity":            "gameid number",
	"internal/sqldb":    "",
	"internal/masked":   "internal/sqldb",
	"internal/config":   "gameid internal/strict",
	"store/registry":    "gameid internal/sqldb",
	"store":             "gameid internal/sqldb store/registry",
	"store/fleet":       "gameid internal/sqldb store/registry",
	"store/numbers":     "gameid internal/sqldb number store/registry store/fleet",
	"store/starter":     "gameid number entity internal/sqldb store",
	"merge/rekey":       "",
	"merge/cell":        "merge/rekey",
	"merge/codec":       "merge/cell merge/rekey",
	"merge":             "gameid merge/cell merge/rekey",
	"merge/sqlsource":   "gameid merge merge/rekey internal/sqldb store/registry",
	"merge/transfer":    "gameid merge merge/cell merge/rekey merge/sqlsource internal/sqldb store/registry",
	"merge/report":      "gameid merge merge/rekey merge/transfer merge/inventory",
	"merge/inventory":   "gameid merge merge/rekey merge/sqlsource merge/transfer internal/sqldb store/registry store/fleet",
	"merge/campaign":    "gameid merge merge/rekey merge/cell merge/sqlsource merge/transfer merge/report internal/sqldb internal/strict store/registry store/fleet",
	"merge/suggest":     "merge/inventory merge/campaign",
	"merge/live":        "merge/campaign merge/report merge/transfer",

	"tools/internal/rules": "merge merge/cell merge/rekey merge/transfer internal/strict internal/config",
	"tools/":               "*",
	"examples/":            "*",

	// For tests only.
	"gameid/sim":            "",
	"store/torture":         "",
	"store/cluster":         "",
	"store/storetest":       "*",
	"store/internal/minter": "*",
	"merge/mergetest":       "gameid merge merge/rekey",
	"internal/servertest/":  "internal/servertest",
	"internal/smalldisk":    "internal/servertest",
	"internal/pictures":     "gameid",
	"internal/fleetworlds/": "gameid internal/fleetworlds internal/sqldb store/registry",
}

// shared are the rooms of words and numbers for people.
var shared = []string{"internal/printable", "internal/nearest", "internal/columns", "internal/pattern"}

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
			case !ours, slices.Contains(allowed, other), slices.Equal(allowed, []string{"*"}):
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
		{"./store", "mergesafe/merge mergesafe/entity mergesafe/number mergesafe/store/starter mergesafe/store/fleet mergesafe/store/numbers"},
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

// Drivers are known in internal/sqldb alone.
func TestDrivers(t *testing.T) {
	for _, p := range list(t, "./...") {
		if p.ImportPath == "mergesafe/internal/sqldb" || strings.HasPrefix(p.ImportPath, "mergesafe/internal/servertest") || p.ImportPath == "mergesafe/store/storetest" {
			continue
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/go-sql-driver/") || strings.HasPrefix(imported, "modernc.org/sqlite") {
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
