package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
)

// What is a path of the module is changed, and what only has its name is not.
func TestChange(t *testing.T) {
	for _, c := range []struct{ file, before, after string }{
		{"go.mod", "module old/bench\n\nrequire old v0.0.0\n\nreplace old => ../\n", "module a.b/c/bench\n\nrequire a.b/c v0.0.0\n\nreplace a.b/c => ../\n"},
		{"go.mod", "module old\n\nrequire x.y/old v1.0.0\n", "module a.b/c\n\nrequire x.y/old v1.0.0\n"},
		{"a.go", "package a\n\nimport (\n\t\"old/z\"\n\t\"b.c/d\"\n)\n\nconst name = \"old\"\n", "package a\n\nimport (\n\t\"a.b/c/z\"\n\t\"b.c/d\"\n)\n\nconst name = \"old\"\n"},
		{"a.go", "package a\n\n// See [old/z.T].\nvar prefix = \"old/\"\n", "package a\n\n// See [a.b/c/z.T].\nvar prefix = \"a.b/c/\"\n"},
		{"a.md", "old is `old/z`, ~/old/z, https://x.y/old/z; go get old/z@v1, -replace old=../old", "old is `a.b/c/z`, ~/old/z, https://x.y/old/z; go get a.b/c/z@v1, -replace a.b/c=../old"},
		{"a.png", "\x00 old/z", "\x00 old/z"},
	} {
		got, err := moved("old", "a.b/c", c.file, []byte(c.before))
		if diff := cmp.Diff(c.after, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", c.file, err, diff)
		}
	}
	for _, path := range []string{"", "/usr/bin:/bin", "a b", "a/../b", "-x", "a/", "a//b", "$HOME/a"} {
		if err := setModule(t.TempDir(), path, os.Stdout); err == nil || !strings.Contains(err.Error(), "cannot be the path of a module") {
			t.Errorf("%q: %v, want it refused", path, err)
		}
	}
}

// A copy of this repository gets a path of its owner with the command of CONTRIBUTING.md. It still
// compiles, tests included, and the way back leads to the same files.
func TestThisModule(t *testing.T) {
	servertest.NotShort(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	before := copyTree(t, "../..", dir)
	const path = "github.com/owner/mergesafe"
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		// Make may run this test: what it was told is not for the other one.
		cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MFLAGS=", "MAKEOVERRIDES=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", program, args, err, out)
		}
		return string(out)
	}

	if says := run("make", "module", "PATH="+path); !strings.Contains(says, "mergesafe is now "+path) {
		t.Fatalf("make module says %q", says)
	}
	run("go", "run", "./internal/platforms", "-on", strings.TrimSpace(run("go", "env", "GOOS"))+"/"+strings.TrimSpace(run("go", "env", "GOARCH")), ".")
	if says := run("go", "mod", "tidy", "-diff"); says != "" {
		t.Errorf("go.mod is not tidy:\n%s", says)
	}

	run("make", "module", "MODULE=mergesafe")
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("after the way back, files differ:\n%s", diff)
	}
}

// copyTree copies what a module's folder has, and returns it.
func copyTree(t *testing.T, from, to string) map[string]string {
	t.Helper()
	files := tree(t, from)
	for name, text := range files {
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o777); err != nil { // some are programs
			t.Fatal(err)
		}
	}
	return maps.Clone(files)
}

// tree reads the files below dir: sources and documents, but not what tests and programs leave there.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "rapid" || d.Name() == "bin" || d.Name() == "data") {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || d.Name() == ".git" {
			return nil
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
