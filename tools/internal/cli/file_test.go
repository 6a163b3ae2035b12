package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that must be the first one takes its name when it is whole: a command that is killed
// before leaves none of that name, and one that came meanwhile stays.
func TestFirstFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.json")
	write := func(w io.Writer) error { _, err := io.WriteString(w, "{}"); return err }
	for range 2 { // the first one is killed
		f, err := NewFirstFile("o", name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("before it is written: %v", err)
		}
		if left, _ := filepath.Glob(name + "*"); len(left) > 0 {
			t.Errorf("a kill would leave %q", left)
		}
		t.Cleanup(f.Close)
	}
	first, err := NewFirstFile("o", name)
	if err != nil {
		t.Fatal(err)
	}
	late, err := NewFirstFile("o", name)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Write(write); err != nil {
		t.Fatal(err)
	}
	if err := late.Write(write); !errors.Is(err, fs.ErrExist) {
		t.Errorf("another one came meanwhile: %v", err)
	}
	late.Close()
	if _, err := NewFirstFile("o", name); !errors.Is(err, fs.ErrExist) {
		t.Errorf("there is one: %v", err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "{}" {
		t.Errorf("%s, %v", data, err)
	}
}

// A result takes the place of an older result, and of no database, also under another name of it.
func TestFileOverDatabase(t *testing.T) {
	dir := t.TempDir()
	world, link, older := filepath.Join(dir, "s1.db"), filepath.Join(dir, "list.csv"), filepath.Join(dir, "older.csv")
	const rows = "SQLite format 3\x00 and rows"
	for name, text := range map[string]string{world: rows, older: "SQLite format 3 in a text"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(world, link); err != nil {
		t.Skip(err)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	for _, name := range []string{world, link} {
		if err := WriteTo(io.Discard, "csv", name, write); err == nil || !strings.Contains(err.Error(), "is a database: want another file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := WriteTo(io.Discard, "csv", older, write); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{world: rows, older: "new"} {
		if data, err := os.ReadFile(name); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}
