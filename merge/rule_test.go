package merge_test

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A rule reads rows only through a reader, and changes no fact.
func TestRulesTakeFactsAndReturnResults(t *testing.T) {
	facts := []string{"Facts", "Resolved", "Database", "Table", "Column", "Catalog"}
	for name, file := range parse(t) {
		if !strings.HasPrefix(filepath.Base(name), "rule") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			f, ok := n.(*ast.FuncDecl)
			if !ok {
				return true
			}
			var given []string // parameters that are facts
			for _, p := range f.Type.Params.List {
				star, ok := p.Type.(*ast.StarExpr)
				if !ok {
					continue
				}
				kind := star.X
				if of, ok := kind.(*ast.SelectorExpr); ok {
					kind = of.Sel
				}
				if kind, ok := kind.(*ast.Ident); ok && slices.Contains(facts, kind.Name) {
					for _, p := range p.Names {
						given = append(given, p.Name)
					}
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if n.Sel.Name == "Opened" {
						t.Errorf("%s: %s uses a source", name, f.Name.Name)
					}
				case *ast.AssignStmt:
					for _, to := range n.Lhs {
						if _, local := to.(*ast.Ident); !local && slices.Contains(given, root(to)) {
							t.Errorf("%s: %s changes what it is given", name, f.Name.Name)
						}
					}
				}
				return true
			})
			return false
		})
	}
}

// root returns the variable that an expression begins with.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// What reads rows knows nothing of rules and their results.
func TestReadersKnowNoRules(t *testing.T) {
	of := []string{"Result", "Verdict", "Pass", "Fail", "NotVerified", "Documented"}
	for name, file := range parse(t) {
		if room := filepath.Dir(name); room != "stream" && room != "check/read" || slices.Contains([]string{"established.go", "stamps.go"}, filepath.Base(name)) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			used, ok := n.(*ast.SelectorExpr)
			if ok && root(used.X) == "verdict" && (slices.Contains(of, used.Sel.Name) || strings.HasPrefix(used.Sel.Name, "Code")) {
				t.Errorf("%s uses %s", name, used.Sel.Name)
			}
			return true
		})
	}
}
