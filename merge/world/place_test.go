package world_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/merge/world"
)

// All that follows "sqlite:" is the path of the file, whatever is in it, except parameters.
func TestFileNames(t *testing.T) {
	for _, name := range []string{"a?b.db", "a?modero", "a%3fb#c.db"} {
		d := world.Database{Name: "w", DSN: "sqlite:" + filepath.Join(t.TempDir(), name)}
		run(t, d, "CREATE TABLE t (a)")
		if there, err := world.Exists(t.Context(), d); err != nil || !there {
			t.Errorf("%s: there: %v, %v", name, there, err)
		}
		if _, err := world.Remove(t.Context(), &world.Connection{Database: d, Alone: true}); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.DSN[len("sqlite:"):]); !os.IsNotExist(err) {
			t.Errorf("%s is there after it was removed: %v", name, err)
		}
	}
}

// What keeps a file from being made is known before.
func TestMayMake(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "left-wal"), []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"no/new": "there is no directory", "link": "is a link", "left": "remove the rest: rm " + filepath.Join(dir, "left-wal"), "new": ""} {
		err := world.MayMake(world.Database{Name: "w", DSN: "sqlite:" + filepath.Join(dir, name)})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
	}
}
