package gameid_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gameid must not drag a database or the network into a game server: it
// imports the standard library only, and of that neither database/sql nor
// net, directly or through another package. Addresses and URLs are only texts.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out)); len(got) != 1 || got[0] != "mergesafe/gameid" {
		t.Errorf("gameid depends on %s", got)
	}
	out, err = exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		text := path == "net/url" || path == "net/netip"
		if path == "net" || path == "database/sql" || strings.HasPrefix(path, "net/") && !text {
			t.Errorf("gameid depends on %s", path)
		}
	}
}

// Kinds that do not mix must not compile together, whichever way one tries.
func TestKindsDoNotMix(t *testing.T) {
	build := func(t *testing.T, body string) (string, error) {
		dir := t.TempDir()
		file := filepath.Join(dir, "main.go")
		source := `package main

import "mergesafe/gameid"

type player struct{ ID gameid.Of[player] }
type item struct{ Owner gameid.Of[player] }

func main() {
	var p gameid.Of[player]
	var i gameid.Of[item]
	` + body + `
	_, _ = p, i
}
`
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("go", "vet", file).CombinedOutput()
		return string(out), err
	}
	if out, err := build(t, "i = gameid.As[item](p.ID())"); err != nil {
		t.Fatalf("a correct program does not compile: %v\n%s", err, out)
	}
	for _, body := range []string{"p = i", "_ = p == i", "p = gameid.Of[player](i)", "_ = p.Compare(i)", "p = i.ID()", "_ = item{Owner: i}"} {
		if out, err := build(t, body); err == nil || !strings.Contains(out, "annot") && !strings.Contains(out, "mismatched types") {
			t.Errorf("%q compiled, or failed for another reason: %v\n%s", body, err, out)
		}
	}
}
