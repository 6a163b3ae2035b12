// Table prints a row for each room of the module in this folder: its lines, its exported names, its
// largest circle, and the rooms that it imports. A circle is a set of top-level declarations that all
// lead to each other; a type and its methods are one declaration. Tests are left out.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	members := flag.Bool("members", false, "also print the declarations of each room's largest circle")
	flag.Parse()
	if err := print(os.Stdout, *members); err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(2)
	}
}

// print measures every package of the module.
func print(w io.Writer, members bool) error {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedModule
	ours, err := packages.Load(&packages.Config{Mode: mode}, "./...")
	if err != nil {
		return err
	}
	ours = slices.DeleteFunc(ours, func(p *packages.Package) bool { return len(p.GoFiles) == 0 }) // tests only
	slices.SortFunc(ours, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })

	fmt.Fprintf(w, "%-28s %7s %8s %7s  %s\n", "room", "lines", "exported", "circle", "imports")
	shipped := programs(ours)
	total, product, sizes := 0, 0, make([]int, 0, len(ours))
	for _, p := range ours {
		if len(p.Errors) > 0 {
			return fmt.Errorf("%s: %w", p.PkgPath, p.Errors[0])
		}
		r := measure(p)
		total, sizes = total+r.lines, append(sizes, r.lines)
		if shipped[p] {
			product += r.lines
		}
		circle, names := r.largest()
		within := []string{strings.TrimPrefix(p.PkgPath, p.Module.Path+"/")}
		for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
			if room, ok := strings.CutPrefix(path, p.Module.Path+"/"); ok {
				within = append(within, room)
			}
		}
		fmt.Fprintf(w, "%-28s %7d %8d %7d  %s\n", within[0], r.lines, r.exported, circle, strings.Join(within[1:], " "))
		if members && len(names) > 0 {
			fmt.Fprintf(w, "    %s\n", strings.Join(names, " "))
		}
	}
	if slices.Sort(sizes); len(sizes) > 0 {
		median, largest := sizes[len(sizes)/2], sizes[len(sizes)-1]
		fmt.Fprintf(w, "%d rooms, %d lines, median %d, largest %d\n", len(sizes), total, median, largest)
		fmt.Fprintf(w, "%d of these lines are in tools, examples and what they import; the others serve tests and this repository\n", product)
	}
	return nil
}

// programs are the tools and examples, and what they import.
func programs(ours []*packages.Package) map[*packages.Package]bool {
	all := make(map[*packages.Package]bool)
	var add func(p *packages.Package)
	add = func(p *packages.Package) {
		if !all[p] {
			all[p] = true
			for _, i := range p.Imports {
				add(i)
			}
		}
	}
	for _, p := range ours {
		if p.Name == "main" && !strings.HasPrefix(p.PkgPath, p.Module.Path+"/internal/") {
			add(p)
		}
	}
	return all
}

// room is what is measured of one package.
type room struct {
	lines    int // of its files, blank ones and comments included
	exported int // top-level names and methods
	nodes    map[types.Object]*node
}

// node is a function, a variable, a constant, or a type with its methods.
type node struct {
	name  string
	lines int // with its comment
	parts []ast.Node
	leads map[*node]bool // to these, also by way of others
}

func measure(p *packages.Package) *room {
	r := &room{nodes: make(map[types.Object]*node)}
	declare := func(name *ast.Ident, part, whole ast.Node, doc *ast.CommentGroup) {
		object := declaration(p.TypesInfo.Defs[name])
		if object == nil || name.Name == "_" {
			return
		}
		if r.nodes[object] == nil {
			r.nodes[object] = &node{name: object.Name()}
		}
		n, from := r.nodes[object], whole.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		n.parts = append(n.parts, part)
		n.lines += p.Fset.Position(whole.End()).Line - p.Fset.Position(from).Line + 1
		if name.IsExported() {
			r.exported++
		}
	}
	for _, file := range p.Syntax {
		r.lines += p.Fset.File(file.FileStart).LineCount()
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declare(d.Name, d, d, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					whole, doc := ast.Node(spec), (*ast.CommentGroup)(nil)
					if len(d.Specs) == 1 {
						whole, doc = d, d.Doc
					}
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						declare(spec.Name, spec, whole, doc)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							declare(name, spec, whole, doc)
						}
					}
				}
			}
		}
	}
	uses := make(map[*node][]*node)
	for _, n := range r.nodes {
		for _, part := range n.parts {
			ast.Inspect(part, func(a ast.Node) bool {
				if name, ok := a.(*ast.Ident); ok {
					if used := r.nodes[declaration(p.TypesInfo.Uses[name])]; used != nil {
						uses[n] = append(uses[n], used)
					}
				}
				return true
			})
		}
	}
	for _, n := range r.nodes {
		n.leads = make(map[*node]bool)
		for next := uses[n]; len(next) > 0; {
			last := next[len(next)-1]
			next = next[:len(next)-1]
			if !n.leads[last] {
				n.leads[last] = true
				next = append(next, uses[last]...)
			}
		}
	}
	return r
}

// declaration is the top-level declaration that a name is part of: of a method, its type.
func declaration(object types.Object) types.Object {
	f, ok := object.(*types.Func)
	if !ok {
		return object
	}
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Origin()
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil // of an interface without a name
}

// largest returns the circle of the most lines; one declaration is none.
func (r *room) largest() (most int, names []string) {
	for _, n := range r.nodes {
		lines, members := n.lines, []string{n.name}
		for m := range n.leads {
			if m != n && m.leads[n] {
				lines, members = lines+m.lines, append(members, m.name)
			}
		}
		if len(members) > 1 && lines > most {
			most, names = lines, members
		}
	}
	slices.Sort(names)
	return most, names
}
