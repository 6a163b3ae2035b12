// Package mutant puts faults into the source, one at a time, and builds a test with each, to show that the test finds it.
//
// The compiler reads the changed file in the place of the one of the tree (go build -overlay), which stays as it is.
package mutant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// NotFound is the result of a fault that a test does not show.
const NotFound = "NOT FOUND"

// Look runs a test that was built, in the folder of its package, and says what it shows of the fault: [NotFound] or how
// it was found, and more for people.
type Look func(test, folder string) (found, more string)

// Run looks for each fault whose name matches only, by the test of a package, and prints what is found. A fault that is
// not found is an error, and so is the source as it is, if something is found there.
func Run(faults []Fault, only, pkg string, look Look) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	b, err := newBuilder()
	if err == nil {
		err = Check(faults)
	}
	if err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "mutant"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	try := func(f *Fault) (found, more string, err error) {
		test, err := b.test(f, pkg)
		if err != nil {
			return "", "", err
		}
		found, more = look(test, filepath.Join(b.root, pkg))
		return found, more, nil
	}
	if found, more, err := try(nil); err != nil || found != NotFound {
		return cmp.Or(err, fmt.Errorf("without a fault: %s\n%s", found, more))
	}
	missed := 0
	for _, f := range faults {
		if !wanted.MatchString(f.Name) {
			continue
		}
		found, more, err := try(&f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		fmt.Printf("%-44s %-46s %s\n%s", f.Name, f.File, found, more)
		if found == NotFound {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d faults were not found", missed)
	}
	return nil
}

// Check makes sure that the text of each fault is there once. Its error names all others.
func Check(faults []Fault) error {
	b, err := newBuilder()
	if err != nil {
		return err
	}
	var problems []error
	for _, f := range faults {
		_, err := b.changed(&f)
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// Builds makes sure that the compiler takes each fault.
func Builds(faults []Fault) error {
	b, err := newBuilder()
	if err == nil {
		b.folder, err = os.MkdirTemp("", "mutant")
	}
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	var problems []error
	for _, f := range faults {
		overlay, err := b.overlay(&f)
		if err == nil {
			build := exec.Command("go", "build", "-overlay", overlay, "./"+filepath.Dir(f.File))
			build.Dir = b.root
			var out []byte
			if out, err = build.CombinedOutput(); err != nil {
				err = fmt.Errorf("%s: %w\n%s", f.Name, err, out)
			}
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

func newBuilder() (*builder, error) {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return &builder{root: strings.TrimSpace(string(root))}, err
}

// builder builds tests with faults in them.
type builder struct {
	root   string // of the module
	folder string // of what it builds
}

// changed is the file with the fault in it.
func (b *builder) changed(f *Fault) (string, error) {
	text, err := os.ReadFile(filepath.Join(b.root, f.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), f.Old); n != 1 {
		return "", fmt.Errorf("%s: %s has %d times, want once: %s", f.Name, f.File, n, f.Old)
	}
	return strings.Replace(string(text), f.Old, f.New, 1), nil
}

// overlay is a file that has the compiler read the changed file, if there is a fault, in the place of the one of the tree.
func (b *builder) overlay(f *Fault) (string, error) {
	file, overlay := filepath.Join(b.folder, "changed.go"), filepath.Join(b.folder, "overlay.json")
	replace := make(map[string]string)
	if f != nil {
		text, err := b.changed(f)
		if err == nil {
			err = os.WriteFile(file, []byte(text), 0o666)
		}
		if err != nil {
			return "", err
		}
		replace[filepath.Join(b.root, f.File)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o666)
	}
	return overlay, err
}

// test builds the test of a package, with the fault if there is one, and returns its path.
func (b *builder) test(f *Fault, pkg string) (string, error) {
	overlay, err := b.overlay(f)
	if err != nil {
		return "", err
	}
	test := filepath.Join(b.folder, "pkg.test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test, "./"+pkg)
	build.Dir = b.root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return test, nil
}
