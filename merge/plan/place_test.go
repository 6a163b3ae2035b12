package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mergesafe/merge/plan"
)

// The documents list the kinds of reasons that only a plan knows.
func TestPlacesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/merging.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| place | the plan is refused because |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, p := range plan.Places() {
		want = append(want, "| "+string(p.Place)+" | "+p.About+" |")
	}
	if strings.Join(want, "\n") != table {
		t.Errorf("docs/merging.md has\n%s\nwant\n%s", table, strings.Join(want, "\n"))
	}
}

// Every reason that blocks a plan is one of the check, with its code, or of a place.
func TestRefusalsSayWhatTheyAreOf(t *testing.T) {
	found := 0
	for _, dir := range []string{"../planner", "../change"} {
		err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				literal, is := n.(*ast.CompositeLit)
				if !is {
					return true
				}
				of, is := literal.Type.(*ast.SelectorExpr)
				if !is || of.Sel.Name != "Refusal" || len(literal.Elts) == 0 {
					return true
				}
				said := false
				for _, e := range literal.Elts {
					name := e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name
					said = said || name == "Place" || name == "Code"
				}
				if found++; !said && !strings.HasSuffix(file, "prove.go") && !strings.HasSuffix(file, "flight.go") { // what a proof found, and what changed since the plan
					t.Errorf("%s: a reason without a place and a code", file)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("only %d reasons were found", found)
	}
}
