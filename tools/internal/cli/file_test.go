package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func never() bool { return false }

// writing writes many short pieces, so that two writers of one file would mix them.
func writing(piece string) func(io.Writer) error {
	return func(w io.Writer) error {
		for range 2000 {
			if _, err := io.WriteString(w, piece); err != nil {
				return err
			}
		}
		return nil
	}
}

// files are those in the folder of a file.
func files(t *testing.T, name string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// A command that is killed at work leaves nothing, and neither does one that fails.
func TestNothingLeft(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.json")
	for _, made := range []func() (*File, error){
		func() (*File, error) { return NewFile("html", name) },
		func() (*File, error) { return NewFirstFile("o", name, never) },
	} {
		f, err := made()
		if err != nil {
			t.Fatal(err)
		}
		if left := files(t, name); len(left) > 0 {
			t.Errorf("a kill would leave %q", left)
		}
		if err := f.Write(func(io.Writer) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
		if left := files(t, name); len(left) > 0 {
			t.Errorf("a failure leaves %q", left)
		}
	}
}

// Of commands that write one file at once, the file is that of one, as a whole. A file that must be the first one is that
// of the only one that succeeds; one that may be replaced is asked about when it is, not only before the work.
func TestWrittenAtOnce(t *testing.T) {
	for _, c := range []struct {
		what  string
		made  func(name string) (*File, error)
		first bool
	}{
		{"a result", func(name string) (*File, error) { return NewFile("html", name) }, false},
		{"a first file", func(name string) (*File, error) { return NewFirstFile("o", name, never) }, true},
		{"a first file in the place of a bad one", func(name string) (*File, error) {
			if _, err := os.Stat(name); err != nil {
				if err := os.WriteFile(name, []byte("bad"), 0o600); err != nil {
					return nil, err
				}
			}
			return NewFirstFile("o", name, func() bool { data, _ := os.ReadFile(name); return string(data) == "bad" })
		}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			for range 20 {
				name := filepath.Join(t.TempDir(), "plan.json")
				pieces, done := []string{"a", "bb", "ccc"}, make(chan error)
				var all []*File
				for range pieces {
					f, err := c.made(name)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, f)
				}
				for i, f := range all {
					go func() { done <- f.Write(writing(pieces[i])) }()
				}
				wrote := 0
				for range pieces {
					if err := <-done; err == nil {
						wrote++
					} else if !errors.Is(err, fs.ErrExist) {
						t.Error(err)
					}
				}
				if wrote == 0 || c.first && wrote > 1 {
					t.Errorf("%d of them succeeded", wrote)
				}
				data, err := os.ReadFile(name)
				if whole := slices.ContainsFunc(pieces, func(p string) bool { return string(data) == strings.Repeat(p, 2000) }); err != nil || !whole {
					t.Errorf("the file is no whole one: %d bytes, %v", len(data), err)
				}
				if left := files(t, name); len(left) != 1 {
					t.Errorf("there are %q", left)
				}
			}
		})
	}
}

// What came while the work went on stays, unless it may be replaced.
func TestFirstFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.json")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("refused")
	f, err := NewFirstFile("o", name, func() bool { data, _ := os.ReadFile(name); return string(data) == "refused" })
	if err != nil {
		t.Fatal(err)
	}
	put("ready")
	if err := f.Write(writing("a")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("another one came meanwhile: %v", err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "ready" {
		t.Errorf("%s, %v", data, err)
	}
	put("refused")
	if err := f.Write(writing("a")); err != nil {
		t.Error(err)
	}
	if _, err := NewFirstFile("o", name, never); !errors.Is(err, fs.ErrExist) {
		t.Errorf("there is one: %v", err)
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
