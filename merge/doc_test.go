package merge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mergesafe/merge/verdict"
)

// The rules know nothing of databases, terminals or files: of the standard library they
// import nothing that reaches out.
func TestImports(t *testing.T) {
	for name, file := range parse(t) {
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			first, _, _ := strings.Cut(path, "/")
			switch {
			case first == "mergesafe": // the arrows of internal/layers
			case strings.HasPrefix(path, "github.com/RoaringBitmap/"): // sets of keys
			case strings.Contains(first, "."):
				t.Errorf("%s imports %s", name, path)
			case first == "os" || first == "net" || first == "log" || first == "database" || first == "syscall" || path == "unsafe":
				t.Errorf("%s imports %s: a check is values in, results out", name, path)
			}
		}
	}
}

// Every code is documented once, and every documented code is one that a rule
// gives out.
func TestCodes(t *testing.T) {
	constants := make(map[string]string) // by value
	uses := make(map[string]int)         // by name
	for _, file := range parse(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				if value, ok := spec.Values[0].(*ast.BasicLit); ok && strings.HasPrefix(spec.Names[0].Name, "Code") {
					code, _ := strconv.Unquote(value.Value)
					constants[code] = spec.Names[0].Name
				}
			}
			if ident, ok := n.(*ast.Ident); ok {
				uses[ident.Name]++
			}
			return true
		})
	}
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	seen := make(map[string]bool)
	for _, c := range verdict.Codes() {
		name := constants[c.Code]
		if name == "" || seen[c.Code] || !kebab.MatchString(c.Code) {
			t.Errorf("code %q is no constant, or there twice, or oddly written", c.Code)
		}
		seen[c.Code] = true
		if uses[name] < 3 { // its definition, its documentation, and a rule
			t.Errorf("no rule gives out %s", name)
		}
		if c.Meaning == "" || c.Unverified == "" || (c.Action == "") != (c.Counts == "") {
			t.Errorf("%s is not documented in full: %+v", c.Code, c)
		}
	}
	if len(seen) != len(constants) {
		t.Errorf("%d codes are documented, %d exist", len(seen), len(constants))
	}
}

func parse(t *testing.T) map[string]*ast.File {
	t.Helper()
	var names []string
	for _, room := range []string{".", "catalog", "rules", "leave", "verdict", "stream", "check", "check/*", "propose"} {
		in, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, in...)
	}
	files := make(map[string]*ast.File)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		var err error
		if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatal("no files")
	}
	return files
}
