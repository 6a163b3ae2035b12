//go:build !race

package gameid_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	build := func(t *testing.T, lines ...string) string {
		dir := t.TempDir()
		file := filepath.Join(dir, "main.go")
		source := `package main

import "mergesafe/gameid"

type player struct{ ID gameid.Of[player] }
type item struct{ Owner gameid.Of[player] }

func main() {
	var p gameid.Of[player]
	var i gameid.Of[item]
	_, _ = p, i
` + strings.Join(lines, "\n") + "\n}\n"
		if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, file).CombinedOutput() // -e: all errors, not ten
		return string(out)
	}
	if out := build(t, "i = gameid.As[item](p.ID())"); out != "" {
		t.Fatalf("a correct program does not compile:\n%s", out)
	}
	mixed := []string{"p = i", "_ = p == i", "p = gameid.Of[player](i)", "_ = p.Compare(i)", "p = i.ID()", "_ = item{Owner: i}"}
	out := build(t, mixed...)
	for n, line := range mixed {
		if !regexp.MustCompile(fmt.Sprintf(`main\.go:%d:\d+: .*(annot|mismatched types)`, 12+n)).MatchString(out) {
			t.Errorf("%q compiled, or failed for another reason:\n%s", line, out)
		}
	}
}
