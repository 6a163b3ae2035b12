package change

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// The proof shares no formula with the carrying out: combine_prove.go uses nothing that combine_fold.go declares.
func TestProofIsApart(t *testing.T) {
	parse := func(file string) *ast.File {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	folds := make(map[string]bool)
	for _, d := range parse("combine_fold.go").Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			folds[d.Name.Name] = true
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					folds[s.Name.Name] = true
				}
			}
		}
	}
	if !folds["foldColumn"] || !folds["Result"] {
		t.Fatalf("combine_fold.go declares %v", folds)
	}
	delete(folds, "Error") // as every error has
	ast.Inspect(parse("combine_prove.go"), func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && folds[name.Name] {
			t.Errorf("combine_prove.go uses %s of combine_fold.go", name.Name)
		}
		return true
	})
}
