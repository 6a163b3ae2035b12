package docs

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The comments of these packages begin with a program, and it is what their Example runs.
func TestPackagesBeginWithAnExample(t *testing.T) {
	for _, name := range []string{"gameid", "store", "merge"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		program := regexp.MustCompile(`(?m)(?:^\t.*\n+)+`).FindString(file.Doc.Text())
		tests, err := filepath.Glob(filepath.Join(root, name, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		runs := false
		for _, file := range tests {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, example, _ := strings.Cut(string(source), "\nfunc Example() {\n")
			example, _, _ = strings.Cut(example, "\n}\n")
			runs = runs || program != "" && strings.Contains(example, strings.TrimSpace(program))
		}
		if !runs {
			t.Errorf("the program at the top of package %s is not in its Example:\n%s", name, program)
		}
	}
}
