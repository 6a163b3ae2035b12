// Package mutant puts faults into the source, one at a time, and builds a test with each, to show that the test finds it.
//
// The compiler reads the changed file in the place of the one of the tree (go build -overlay), which stays as it is.
package mutant

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Fault is a text of a file that is there once, and what it becomes.
type Fault struct{ Name, File, Old, New string }

// Faults are faults by name, file, text, and what that becomes.
func Faults(all [][4]string) (faults []Fault) {
	for _, f := range all {
		faults = append(faults, Fault{Name: f[0], File: f[1], Old: f[2], New: f[3]})
	}
	return faults
}

// Builder builds tests with faults in them.
type Builder struct {
	Root   string // of the module
	folder string // of what it builds
}

// NewBuilder makes sure that the text of each fault is there. It must be closed.
func NewBuilder(faults []Fault) (*Builder, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, err
	}
	b := &Builder{Root: strings.TrimSpace(string(root))}
	for _, f := range faults {
		if _, err := b.changed(&f); err != nil {
			return nil, err
		}
	}
	b.folder, err = os.MkdirTemp("", "mutant")
	return b, err
}

// Close removes what was built.
func (b *Builder) Close() { os.RemoveAll(b.folder) }

// changed is the file with the fault in it.
func (b *Builder) changed(f *Fault) (string, error) {
	text, err := os.ReadFile(filepath.Join(b.Root, f.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return "", fmt.Errorf("%s: %s has %d times, want once: %s", f.Name, f.File, n, f.Old)
	}
	return strings.Replace(string(text), f.Old, f.New, 1), nil
}

// Test builds the test of a package, with the fault if there is one, and returns its path.
func (b *Builder) Test(f *Fault, room string) (string, error) {
	file, overlay, test := filepath.Join(b.folder, "changed.go"), filepath.Join(b.folder, "overlay.json"), filepath.Join(b.folder, "room.test")
	replace := make(map[string]string)
	if f != nil {
		text, err := b.changed(f)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o666)
		}
		if err != nil {
			return "", err
		}
		replace[filepath.Join(b.Root, f.File)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o666)
	}
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test, "./"+room)
	build.Dir = b.Root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return test, nil
}
