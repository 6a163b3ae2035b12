// Table prints a row for each room of a module: its lines, its exported names, its largest circle, and
// the rooms that it imports. A circle is a set of top-level declarations that all lead to each other;
// a type and its methods are one declaration. Tests are left out.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("table", flag.ContinueOnError)
	dir := flags.String("C", ".", "the folder of the module")
	members := flags.Bool("members", false, "also print the declarations of each room's largest circle")
	if err := flags.Parse(args); err != nil {
		return err
	}
	rooms, err := measure(*dir)
	if err != nil {
		return err
	}
	print(stdout, rooms, *members)
	return nil
}

// room is what is measured of one package.
type room struct {
	name     string // its path inside the module
	lines    int    // of its files, blank ones and comments included
	exported int    // top-level names and methods
	circle   circle // the largest
	imports  []string
}

// circle is a set of declarations that all lead to each other; of one declaration it has no members.
type circle struct {
	lines   int
	members []string
}

func print(w io.Writer, rooms []room, members bool) {
	fmt.Fprintf(w, "%-28s %7s %8s %7s  %s\n", "room", "lines", "exported", "circle", "imports")
	total := 0
	lines := make([]int, 0, len(rooms))
	for _, r := range rooms {
		total += r.lines
		lines = append(lines, r.lines)
		fmt.Fprintf(w, "%-28s %7d %8d %7d  %s\n", r.name, r.lines, r.exported, r.circle.lines, strings.Join(r.imports, " "))
		if members && len(r.circle.members) > 0 {
			fmt.Fprintf(w, "    %s\n", strings.Join(r.circle.members, " "))
		}
	}
	if slices.Sort(lines); len(lines) > 0 {
		fmt.Fprintf(w, "%d rooms, %d lines, median %d, largest %d\n", len(rooms), total, lines[len(lines)/2], lines[len(lines)-1])
	}
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Module                  *struct {
		Path string
		Main bool
	}
}

// measure measures every package of the module in dir.
func measure(dir string) ([]room, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,Module", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %q: %w", dir, err)
	}
	exports := make(map[string]string)
	var ours []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && len(p.GoFiles) > 0 {
			ours = append(ours, p)
		}
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var rooms []room
	for _, p := range ours {
		r, err := measureOne(set, imports, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		rooms = append(rooms, r)
	}
	slices.SortFunc(rooms, func(a, b room) int { return cmp.Compare(a.name, b.name) })
	return rooms, nil
}

func measureOne(set *token.FileSet, imports types.Importer, p listed) (room, error) {
	r := room{name: within(p.Module.Path, p.ImportPath)}
	for _, path := range p.Imports {
		if path == p.Module.Path || strings.HasPrefix(path, p.Module.Path+"/") {
			r.imports = append(r.imports, within(p.Module.Path, path))
		}
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return room{}, err
		}
		files = append(files, file)
		r.lines += set.File(file.FileStart).LineCount()
	}
	info := &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: imports}
	if _, err := config.Check(p.ImportPath, set, files, info); err != nil {
		return room{}, err
	}
	g := graph{set: set, info: info, of: make(map[types.Object]*node)}
	g.read(files)
	r.exported, r.circle = g.exported, g.largest()
	return r, nil
}

// within is the path of a package inside its module.
func within(module, path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}
