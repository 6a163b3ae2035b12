package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var twice = flag.Bool("release.twice", false,
	"build the tools of one platform in two folders, with two caches, and compare the bytes (minutes)")

// Two builds of one commit are equal, whatever folder and cache they have.
func TestEqualBytes(t *testing.T) {
	if !*twice {
		t.Skip("takes minutes: -release.twice")
	}
	var archives [2][]byte
	for i := range archives {
		clone := filepath.Join(t.TempDir(), strings.Repeat("deep/", i)+"clone")
		if out, err := exec.Command("git", "clone", "-q", "../..", clone).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Setenv("GOCACHE", t.TempDir())
		r := release{version: "v0.0.1", root: clone, out: t.TempDir(), log: t.Output(), noSBOM: true}
		if err := r.make(t.Context(), []string{"linux/amd64"}); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(filepath.Join(r.out, "mergesafe_v0.0.1_linux_amd64.tar.gz")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Errorf("two builds differ: %d and %d bytes", len(archives[0]), len(archives[1]))
	}
}

// What is packed says nothing of when and by whom, and programs can be run.
func TestPacked(t *testing.T) {
	at := time.Date(2026, 11, 26, 20, 0, 0, 0, time.UTC)
	files := []file{{"README.md", []byte("read"), false}, {"fleet", []byte("program"), true}}
	for name, pack := range map[string]func(string, time.Time, []file) ([]byte, error){"tar": tarred, "zip": zipped} {
		a, err := pack("folder", at, files)
		b, errB := pack("folder", at, files)
		if err := errors.Join(err, errB); err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s: %v, or not the same twice", name, err)
		}
		var got []string
		if name == "tar" {
			z, err := gzip.NewReader(bytes.NewReader(a))
			if err != nil {
				t.Fatal(err)
			}
			for r := tar.NewReader(z); ; {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil || !h.ModTime.Equal(at) || h.Uname != "" {
					t.Fatalf("%+v, %v", h, err)
				}
				got = append(got, h.Name+" "+h.FileInfo().Mode().String())
			}
		} else {
			r, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.File {
				if !f.Modified.Equal(at) {
					t.Errorf("%s is of %s", f.Name, f.Modified)
				}
				got = append(got, f.Name+" "+f.Mode().String())
			}
		}
		if want := "folder/README.md -rw-r--r--, folder/fleet -rwxr-xr-x"; strings.Join(got, ", ") != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, version := range []string{"", "0.1.0", "v1", "v1.2.3 x", "v1.2.3'"} {
		r := release{version: version, root: ".", out: t.TempDir(), log: io.Discard}
		if err := r.make(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "is no version") {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// A list of what is in a program does not say on which machine it was made.
func TestOfNoMachine(t *testing.T) {
	got, err := ofNoMachine([]byte(`{"metadata": {"tools": [{"name": "x", "hashes": [1]}]}, "components": [{"hashes": [2]}]}`))
	if text := strings.Join(strings.Fields(string(got)), ""); err != nil ||
		text != `{"components":[{"hashes":[2]}],"metadata":{"tools":[{"name":"x"}]}}` {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := ofNoMachine([]byte(`{}`)); err == nil {
		t.Error("a list of another form is taken")
	}
}
