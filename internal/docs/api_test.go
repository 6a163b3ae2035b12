package docs

import (
	"flag"
	"fmt"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

var update = flag.Bool("update", false, "record the exported API as it is now")

// recorded has a line for each exported name of the packages that docs/stability.md promises.
const recorded = "testdata/api.txt"

// TestAPI compares the exported API with the recorded one, and names what changed.
func TestAPI(t *testing.T) {
	now := exported(t, stable(t))
	if *update {
		if err := os.WriteFile(recorded, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	gone, added := changes(strings.Split(strings.TrimSpace(string(text)), "\n"), now)
	for _, line := range gone {
		t.Errorf("gone or changed, which breaks programs outside: %s", line)
	}
	for _, line := range added {
		t.Errorf("new: %s", line)
	}
	if len(gone)+len(added) > 0 {
		t.Errorf("the exported API is not the recorded one. docs/stability.md says what may change; if this may, " +
			"say so in CHANGELOG.md and run: go test ./internal/docs -run TestAPI -update")
	}
}

func TestAPIChanges(t *testing.T) {
	gone, added := changes([]string{"store: func Open(dsn string)", "store: func Wrap()"},
		[]string{"store: func Open(dsn, name string)", "store: func Wrap()"})
	if !slices.Equal(gone, []string{"store: func Open(dsn string)"}) ||
		!slices.Equal(added, []string{"store: func Open(dsn, name string)"}) {
		t.Errorf("gone %q, added %q", gone, added)
	}
}

// stable reads the packages of the first table of docs/stability.md.
func stable(t *testing.T) (all []string) {
	text, err := os.ReadFile("../../docs/stability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| package |")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n")[2:] {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "|"), "|")
		for _, m := range regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(cell, -1) {
			all = append(all, m[1])
		}
	}
	if len(all) < 5 {
		t.Fatalf("docs/stability.md lists %q", all)
	}
	return all
}

func changes(before, now []string) (gone, added []string) {
	for _, line := range before {
		if !slices.Contains(now, line) {
			gone = append(gone, line)
		}
	}
	for _, line := range now {
		if !slices.Contains(before, line) {
			added = append(added, line)
		}
	}
	return gone, added
}

// exported lists what programs outside can name of packages of this module, without its path.
func exported(t *testing.T, rooms []string) (all []string) {
	t.Helper()
	var patterns []string
	for _, room := range rooms {
		patterns = append(patterns, "./"+room)
	}
	loaded, err := packages.Load(&packages.Config{Dir: "../..", Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports |
		packages.NeedDeps | packages.NeedModule | packages.NeedExportFile}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatal(p.Errors)
		}
		short := func(other *types.Package) string {
			if other.Path() == p.PkgPath {
				return ""
			}
			return strings.TrimPrefix(other.Path(), p.Module.Path+"/")
		}
		add := func(format string, args ...any) {
			all = append(all, strings.TrimPrefix(p.PkgPath, p.Module.Path+"/")+": "+fmt.Sprintf(format, args...))
		}
		for _, name := range p.Types.Scope().Names() {
			object := p.Types.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			switch object := object.(type) {
			case *types.Const:
				add("const %s %s = %s", name, types.TypeString(object.Type(), short), object.Val().ExactString())
			case *types.TypeName:
				addType(object, short, add)
			default:
				add("%s", types.ObjectString(object, short))
			}
		}
	}
	slices.Sort(all)
	return all
}

// addType lists a type with its exported fields and methods, those of embedded types included.
func addType(of *types.TypeName, short types.Qualifier, add func(string, ...any)) {
	named := types.TypeString(of.Type(), short)
	if of.IsAlias() {
		add("type %s = %s", of.Name(), types.TypeString(types.Unalias(of.Type()), short))
		if path := short(types.Unalias(of.Type()).(*types.Named).Obj().Pkg()); !strings.Contains(path, "internal/") {
			return // it is listed there
		}
	}
	switch under := of.Type().Underlying().(type) {
	case *types.Struct:
		add("type %s struct", named)
		for field := range under.Fields() {
			if field.Exported() {
				add("field %s.%s %s", of.Name(), field.Name(), types.TypeString(field.Type(), short))
			}
		}
	default:
		add("type %s %s", named, types.TypeString(under, short))
	}
	if types.IsInterface(of.Type()) {
		return
	}
	for method := range types.NewMethodSet(types.NewPointer(of.Type())).Methods() {
		if method.Obj().Exported() {
			add("method %s.%s%s", of.Name(), method.Obj().Name(), strings.TrimPrefix(types.TypeString(method.Type(), short), "func"))
		}
	}
}
