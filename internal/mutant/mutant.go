// Package mutant puts faults into the source, one at a time, and builds a test with each, to show that the test finds it.
//
// The compiler reads the changed file in the place of the one of the tree (go build -overlay), which stays as it is.
package mutant

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Fault is what makes a program wrong: most are one edit; where two things defend a promise, an edit of each.
type Fault struct {
	Name  string
	Edits []Edit
}

// Edit is a text of a file that is there once, and what it becomes. A fault has one edit of a file at most.
type Edit struct{ File, Old, New string }

// Faults are faults by name, file, text, and what that becomes. Lines in a row with one name are one fault.
func Faults(all [][4]string) (faults []Fault) {
	for i, f := range all {
		if i == 0 || f[0] != all[i-1][0] {
			faults = append(faults, Fault{Name: f[0]})
		}
		last := &faults[len(faults)-1]
		last.Edits = append(last.Edits, Edit{File: f[1], Old: f[2], New: f[3]})
	}
	return faults
}

// NotFound is the result of a fault that a test does not show.
const NotFound = "NOT FOUND"

// Look runs a test that was built, in the folder of its package, and says what it shows of the fault by so many random games from
// a seed on: [NotFound] or how it was found, and more for people.
type Look func(test, folder string, most int, seed uint64) (found, more string)

// Main is the main function of a command that looks for each fault by the test of a package, and prints what is found. It exits
// with 1 if one is not found, or if something is found in the source as it is. games is what the test calls them.
func Main(faults []Fault, pkg, games string, most int, look Look) {
	flag.IntVar(&most, games, most, "how many are made until a fault counts as not found")
	only := flag.String("only", "", "only faults whose names match this expression")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()/1000%1_000_000_000), "the number of the first one")
	flag.Parse()
	fmt.Printf("%d %s from seed %d\n", most, games, *seed)
	err := run(faults, *only, pkg, func(test, folder string) (found, more string) { return look(test, folder, most, *seed) })
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(faults []Fault, only, pkg string, look func(test, folder string) (found, more string)) error {
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
		fmt.Printf("%-44s %-46s %s\n%s", f.Name, f.Edits[0].File, found, more)
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
		for _, e := range f.Edits {
			if _, err := b.changed(e); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", f.Name, err))
			}
		}
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
			build := exec.Command("go", "build", "-overlay", overlay)
			for _, e := range f.Edits {
				build.Args = append(build.Args, "./"+filepath.Dir(e.File))
			}
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

// changed is the file with an edit in it.
func (b *builder) changed(e Edit) (string, error) {
	text, err := os.ReadFile(filepath.Join(b.root, e.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), e.Old); n != 1 {
		return "", fmt.Errorf("%s has %d times, want once: %s", e.File, n, e.Old)
	}
	return strings.Replace(string(text), e.Old, e.New, 1), nil
}

// overlay is a file that has the compiler read the changed files, if there is a fault, in the place of those of the tree.
func (b *builder) overlay(f *Fault) (string, error) {
	replace := make(map[string]string)
	if f != nil {
		for i, e := range f.Edits {
			file := filepath.Join(b.folder, fmt.Sprintf("changed%d.go", i))
			text, err := b.changed(e)
			if err == nil {
				err = os.WriteFile(file, []byte(text), 0o666)
			}
			if err != nil {
				return "", err
			}
			replace[filepath.Join(b.root, e.File)] = file
		}
	}
	overlay := filepath.Join(b.folder, "overlay.json")
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
