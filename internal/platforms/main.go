// Platforms type-checks modules as other platforms would compile them, tests
// included, from source: that takes seconds, where the compiler takes minutes.
// It finds what makes go build fail, and what go vet calls "undefined". What it
// cannot see is assembly, the linker, and the other findings of vet: for these there is
// make platforms.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/tools/go/packages"
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

// check type-checks all packages of the module in dir.
func check(ctx context.Context, parsed *files, dir, platform string) error {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("%q is no platform: want GOOS/GOARCH", platform)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	ours, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedModule,
		Context: ctx,
		Dir:     dir,
		Env:     append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
		Fset:    parsed.set,
		ParseFile: func(_ *token.FileSet, path string, text []byte) (*ast.File, error) {
			return parsed.file(path, text, strings.HasPrefix(path, root+string(filepath.Separator)))
		},
		Tests: true,
	}, "./...")
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	var all []error
	for p := range packages.Postorder(ours) {
		if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.PkgPath, ".test") { // which the go command writes
			continue
		}
		for _, err := range p.Errors {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// files are parsed once for all platforms.
type files struct {
	set   *token.FileSet
	known sync.Map // func() (*ast.File, error), by path
}

// file parses one, and forgets the bodies of its functions unless they are ours to check.
func (f *files) file(path string, text []byte, bodies bool) (*ast.File, error) {
	parse, _ := f.known.LoadOrStore(path, sync.OnceValues(func() (*ast.File, error) {
		file, err := parser.ParseFile(f.set, path, text, parser.SkipObjectResolution)
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
