package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLoopsAreInlined asks the compiler whether the loops of minting and text
// call what they measure, rather than a function value that does.
func TestLoopsAreInlined(t *testing.T) {
	says, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-m", "-o", filepath.Join(t.TempDir(), "bench"), ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, says)
	}
	inlined := make(map[string]int) // by file and line
	for _, match := range regexp.MustCompile(`(?m)^\S*/(\w+\.go:\d+):\d+: inlining call to (calls\[|tries\[|[\w.]*\.func\d)`).FindAllStringSubmatch(string(says), -1) {
		if name := match[2]; strings.HasSuffix(name, "[") {
			inlined[match[1]+" loop"]++
		} else {
			inlined[match[1]+" call"]++
		}
	}
	loops := 0
	for _, file := range []string{"ids.go", "peers.go", "text.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			if !strings.Contains(line, "calls(n,") && !strings.Contains(line, "tries(n,") {
				continue
			}
			loops++
			at := fmt.Sprintf("%s:%d", file, i+1)
			if inlined[at+" loop"] == 0 || inlined[at+" call"] == 0 {
				t.Errorf("%s: the loop or what it calls is not inlined: %s", at, strings.TrimSpace(line))
			}
		}
	}
	if loops < 30 {
		t.Errorf("found %d loops only", loops)
	}
}
