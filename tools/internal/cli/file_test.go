package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
