// Setmodule changes the path of the module in the folder where it runs: in the
// go.mod of all modules there, in imports, strings, documents and examples. The
// owner who publishes the module gives it a path that go get can find:
//
//	make module PATH=github.com/owner/mergesafe
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: setmodule PATH   (in the folder of the module)")
		os.Exit(2)
	}
	if err := setModule(".", os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "setmodule:", err)
		os.Exit(2)
	}
}

var (
	wellFormed = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~-]*(/[A-Za-z0-9][A-Za-z0-9._~-]*)*$`)
	module     = regexp.MustCompile(`(?m)^module (\S+)$`)
)

// setModule changes the files below dir. Nothing is written if one of them cannot be changed.
func setModule(dir, path string, stdout io.Writer) error {
	if !wellFormed.MatchString(path) {
		return fmt.Errorf("%q cannot be the path of a module: want one like github.com/owner/mergesafe", path)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	line := module.FindSubmatch(text)
	if line == nil {
		return fmt.Errorf("%s names no module", filepath.Join(dir, "go.mod"))
	}
	from := string(line[1])
	changed := make(map[string][]byte)
	var modules []string
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || file == filepath.Join(dir, "bin")):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		before, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		after, err := moved(from, path, d.Name(), before)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if !bytes.Equal(before, after) {
			changed[file] = after
		}
		if d.Name() == "go.mod" {
			modules = append(modules, filepath.Dir(file))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for file, text := range changed {
		if err := os.WriteFile(file, text, 0o666); err != nil { // its mode stays
			return err
		}
	}
	for _, dir := range modules { // the order of what is required
		tidy := exec.Command("go", "mod", "tidy")
		tidy.Dir = dir
		if says, err := tidy.CombinedOutput(); err != nil {
			return fmt.Errorf("go mod tidy in %s: %w\n%s", dir, err, says)
		}
	}
	fmt.Fprintf(stdout, "%s is now %s, in %d files\n", from, path, len(changed))
	return nil
}

// moved is a file with another path of the module. The name alone is no path: mergesafe is also the name
// of the project.
func moved(from, to, name string, text []byte) ([]byte, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return text, nil // no text
	}
	const before = `(?m)(^|[^A-Za-z0-9_./~-])` // in a URL it is no path of a module
	behind := `(/[a-z"]|[@=][./A-Za-z])`
	if name == "go.mod" {
		behind = `([ /]|$)`
	}
	path := regexp.MustCompile(before + regexp.QuoteMeta(from) + behind)
	after := path.ReplaceAll(text, []byte("${1}"+to+"${2}"))
	if filepath.Ext(name) != ".go" || bytes.Equal(after, text) {
		return after, nil
	}
	return format.Source(after) // imports in order
}
