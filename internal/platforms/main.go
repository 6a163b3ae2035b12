// Platforms type-checks modules as other platforms would compile them, tests
// included, from source: that takes seconds, where the compiler takes minutes.
// It finds what makes go build fail, and what go vet calls "undefined". What it
// cannot see is assembly, the linker, and the other findings of vet: for these there is
// make platforms.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("platforms", flag.ContinueOnError)
	flags.SetOutput(stderr)
	list := flags.String("on", "windows/amd64,darwin/arm64,freebsd/amd64,linux/arm64", "the platforms, GOOS/GOARCH")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: platforms [-on LIST] FOLDER...   (of modules)")
		flags.PrintDefaults()
	}
	if flags.Parse(args) != nil || flags.NArg() == 0 {
		return 2
	}
	platforms := strings.Split(*list, ",")
	parsed := files{set: token.NewFileSet()}
	found := make([]error, len(platforms))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i, platform := range platforms {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, dir := range flags.Args() {
				found[i] = errors.Join(found[i], check(ctx, &parsed, dir, platform))
			}
		})
	}
	wait.Wait()
	code := 0
	for i, err := range found {
		if err != nil {
			fmt.Fprintf(stderr, "# %s\n%v\n", platforms[i], err)
			code = 1
		}
	}
	return code
}

// listed is what the go command says of a package. Packages that it makes for a
// test have a name such as "merge [merge.test]", to which ImportMap leads.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check type-checks all packages of the module in dir. The go command lists what
// a package imports before the package.
func check(ctx context.Context, parsed *files, dir, platform string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%q is no platform: want GOOS/GOARCH", platform)
	}
	const asked = "-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error"
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps", "-test", asked, "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, stderr.String())
	}

	var all []error
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for packages := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := packages.Decode(&p); err == io.EOF {
			return errors.Join(all...)
		} else if err != nil {
			return fmt.Errorf("what go list says: %w", err)
		}
		ours := p.Module != nil && p.Module.Main
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		if p.Error != nil && ours {
			all = append(all, errors.New(p.Error.Err))
		}
		config := types.Config{
			IgnoreFuncBodies: !ours,
			Sizes:            types.SizesFor("gc", processor),
			Importer: importer(func(path string) (*types.Package, error) {
				if p := known[cmp.Or(p.ImportMap[path], path)]; p != nil {
					return p, nil
				}
				return nil, fmt.Errorf("no package %s on this platform", cmp.Or(p.ImportMap[path], path))
			}),
			Error: func(err error) {
				if ours {
					all = append(all, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			file, err := parsed.file(filepath.Join(p.Dir, name), ours)
			if err != nil {
				return err
			}
			syntax = append(syntax, file)
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		known[p.ImportPath], _ = config.Check(path, parsed.set, syntax, nil) // its errors went to Error
	}
}

// importer finds what was checked before.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// files are parsed once for all platforms.
type files struct {
	set   *token.FileSet
	known sync.Map // func() (*ast.File, error), by path
}

// file parses one, and forgets the bodies of its functions unless they are ours to check.
func (f *files) file(path string, bodies bool) (*ast.File, error) {
	parse, _ := f.known.LoadOrStore(path, sync.OnceValues(func() (*ast.File, error) {
		file, err := parser.ParseFile(f.set, path, nil, parser.SkipObjectResolution)
		if err == nil && !bodies {
			for _, d := range file.Decls {
				if d, ok := d.(*ast.FuncDecl); ok {
					d.Body = nil
				}
			}
		}
		return file, err
	}))
	return parse.(func() (*ast.File, error))()
}
