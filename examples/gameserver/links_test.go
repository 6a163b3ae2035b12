package main

import (
	"os/exec"
	"strings"
	"testing"
)

// A game that mints IDs links nothing of the merge or of the tools.
func TestLinksNoMerge(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "../quickstart").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if len(packages) < 50 {
		t.Errorf("only %d packages listed", len(packages))
	}
	for _, path := range packages {
		for _, room := range []string{"mergesafe/merge", "mergesafe/tools"} {
			if path == room || strings.HasPrefix(path, room+"/") {
				t.Errorf("a game links %s", path)
			}
		}
	}
}
