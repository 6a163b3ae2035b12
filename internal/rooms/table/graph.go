package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// graph has the top-level declarations of a package, and which of them each one uses.
type graph struct {
	set      *token.FileSet
	info     *types.Info
	nodes    []*node
	of       map[types.Object]*node
	exported int
}

// node is a function, a variable, a constant, or a type with its methods.
type node struct {
	name  string
	lines int
	uses  []*node

	// For Tarjan's algorithm.
	index, low int
	stacked    bool
}

func (g *graph) read(files []*ast.File) {
	var methods []*ast.FuncDecl
	parts := make(map[*node][]ast.Node)
	declare := func(name *ast.Ident, part, all ast.Node) {
		object := g.info.Defs[name]
		if object == nil || name.Name == "_" {
			return
		}
		n := &node{name: name.Name, lines: g.lines(all)}
		g.nodes, g.of[object] = append(g.nodes, n), n
		parts[n] = append(parts[n], part)
		if name.IsExported() {
			g.exported++
		}
	}
	for _, file := range files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					methods = append(methods, d)
					continue
				}
				declare(d.Name, d, d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					whole := ast.Node(spec)
					if len(d.Specs) == 1 {
						whole = d
					}
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						declare(spec.Name, spec, whole)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							declare(name, spec, whole)
						}
					}
				}
			}
		}
	}
	for _, m := range methods {
		n := g.of[receiver(g.info.Defs[m.Name].(*types.Func))]
		n.lines += g.lines(m)
		parts[n] = append(parts[n], m)
		if m.Name.IsExported() {
			g.exported++
		}
	}
	for _, n := range g.nodes {
		for _, part := range parts[n] {
			g.link(n, part)
		}
	}
}

// receiver is the type of which a function is a method; nil if it is one of an interface without a name.
func receiver(method *types.Func) types.Object {
	t := types.Unalias(method.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}

// link adds the declarations that a part of a declaration uses. Who uses a method uses its type.
func (g *graph) link(n *node, part ast.Node) {
	ast.Inspect(part, func(a ast.Node) bool {
		name, ok := a.(*ast.Ident)
		if !ok {
			return true
		}
		object := g.info.Uses[name]
		if f, ok := object.(*types.Func); ok {
			if object = f.Origin(); f.Signature().Recv() != nil {
				object = receiver(f)
			}
		}
		if used := g.of[object]; used != nil && used != n && !slices.Contains(n.uses, used) {
			n.uses = append(n.uses, used)
		}
		return true
	})
}

// lines is how many lines a declaration takes, with its comment.
func (g *graph) lines(n ast.Node) int {
	from, to := n.Pos(), n.End()
	switch d := n.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			from = d.Doc.Pos()
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			from = d.Doc.Pos()
		}
	}
	return g.set.Position(to).Line - g.set.Position(from).Line + 1
}

// largest returns the circle of the most lines (Tarjan's algorithm).
func (g *graph) largest() (most circle) {
	var stack []*node
	next := 0
	var visit func(n *node)
	visit = func(n *node) {
		next++
		n.index, n.low, n.stacked = next, next, true
		stack = append(stack, n)
		for _, used := range n.uses {
			if used.index == 0 {
				visit(used)
				n.low = min(n.low, used.low)
			} else if used.stacked {
				n.low = min(n.low, used.index)
			}
		}
		if n.low != n.index {
			return
		}
		at := slices.Index(stack, n)
		c := circle{}
		for _, m := range stack[at:] {
			m.stacked = false
			c.lines += m.lines
			c.members = append(c.members, m.name)
		}
		stack = stack[:at]
		if len(c.members) > 1 && c.lines > most.lines {
			most = c
		}
	}
	for _, n := range g.nodes {
		if n.index == 0 {
			visit(n)
		}
	}
	slices.Sort(most.members)
	return most
}
