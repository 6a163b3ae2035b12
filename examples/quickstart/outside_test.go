package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mergesafe/internal/servertest"
)

// A module outside of this one uses the packages with the commands that README.md
// shows: it runs the program of docs/new-games.md, and merges two worlds with the example of
// package merge.
func TestOutside(t *testing.T) {
	servertest.NotShort(t)
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(checkout, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(checkout, "docs", "new-games.md"))
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindSubmatch(page)
	commands := regexp.MustCompile(`(?s)` + "```sh\n(go mod init .*?)```").FindSubmatch(readme)
	if program == nil || commands == nil {
		t.Fatal("docs/new-games.md has no program, or README.md no commands that begin with go mod init")
	}

	parent := t.TempDir()
	dir := filepath.Join(parent, "game")
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	copied := func(from, name string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(checkout, from))
		if err != nil {
			t.Fatal(err)
		}
		write(name, text)
	}
	run := func(command string) string {
		t.Helper()
		command, _, _ = strings.Cut(command, "#")
		words := strings.Fields(strings.ReplaceAll(command, "../mergesafe", checkout)) // whose packages are compiled already
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		t.Logf("%s\n%s", command, out)
		return string(out)
	}

	if err := os.MkdirAll(filepath.Join(dir, "merge"), 0o777); err != nil {
		t.Fatal(err)
	}
	write("main.go", program[1])
	copied("merge/example_test.go", "merge/example_test.go")
	copied("go.sum", "go.sum") // the same modules, without a network
	for _, command := range strings.Split(strings.TrimSpace(string(commands[1])), "\n") {
		run(command)
	}
	if says := run("go run ."); !strings.HasPrefix(says, "Aria is 0") || !strings.Contains(says, "made by server 7") {
		t.Errorf("the program says %q", says)
	}
	run("go get -t ./...")
	if says := run("go test -vet=off -v ./..."); !strings.Contains(says, "--- PASS: Example_merge") {
		t.Errorf("the example of a merge did not run:\n%s", says)
	}
}
