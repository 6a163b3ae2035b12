package change

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"
	"unsafe"
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

// A row that is kept keeps no other row of its page in memory.
func TestKeptRowIsApart(t *testing.T) {
	page := "the text of a page"
	row := []any{page[4:8], []byte(page)[4:8], int64(7)}
	kept := apart(row)
	if unsafe.StringData(kept[0].(string)) == unsafe.StringData(row[0].(string)) || &kept[1].([]byte)[0] == &row[1].([]byte)[0] || &kept[0] == &row[0] {
		t.Error("it shares memory")
	}
	if !reflect.DeepEqual(kept, row) {
		t.Errorf("%v, want %v", kept, row)
	}
}
