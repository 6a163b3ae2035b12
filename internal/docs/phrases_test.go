package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A passage is a text for users: a paragraph of a document, a string or a doc comment of a
// program. Its words are separated by single spaces.
type passage struct {
	place string // file:line, where it begins
	text  string
}

// An oldPhrase is a line of testdata/phrases.txt.
type oldPhrase struct {
	line    int // in the list
	left    int // how often it occurs
	pattern *regexp.Regexp
	instead string
	why     string // why the rest stays
}

var update = flag.Bool("update", false, "write the numbers of today into testdata/phrases.txt")

// The list of old phrases says how often each is left. No phrase may occur more often than
// that; if one occurs less often, its number in the list must be lowered.
func TestOldPhrases(t *testing.T) {
	phrases := oldPhrases(t)
	texts := passages(t)
	if len(texts) < 5000 {
		t.Fatalf("only %d passages were found", len(texts))
	}
	if *update {
		updatePhrases(t, phrases, texts)
		return
	}
	for _, p := range phrases {
		var places []string
		for _, text := range texts {
			for _, at := range p.pattern.FindAllStringIndex(text.text, -1) {
				around := text.text[max(0, at[0]-40):min(len(text.text), at[1]+40)]
				places = append(places, text.place+": "+strings.ToValidUTF8(around, ""))
			}
		}
		switch {
		case len(places) > p.left:
			t.Errorf("%q occurs %d times, and testdata/phrases.txt allows %d. Write %s\n\t%s",
				p.pattern, len(places), p.left, p.instead, strings.Join(places, "\n\t"))
		case len(places) < p.left:
			t.Errorf("%q occurs %d times: lower the %d in testdata/phrases.txt", p.pattern, len(places), p.left)
		}
		if p.left > 0 && p.why == "" {
			t.Errorf("%q: testdata/phrases.txt does not say why %d are left", p.pattern, p.left)
		}
	}
}

// Words are found across the line breaks of comments, and without the signs of comments.
func TestPassages(t *testing.T) {
	const source = "package p\n\n// F goes on\n// with the work.\nfunc F() string { return `broken\n\toff` + \"held\" }\n\n// f is not exported.\nfunc f() {}\n"
	got := fmt.Sprint(goPassages(t, "p.go", []byte(source)))
	if want := "[{p.go:3 F goes on with the work.} {p.go:5 broken off} {p.go:6 held}]"; got != want {
		t.Errorf("passages of a program: %s\nwant %s", got, want)
	}
	got = fmt.Sprint(paragraphs("c.toml", "# one\n# two\n\n  # three\nkey = 1\n"))
	if want := "[{c.toml:1 one two} {c.toml:4 three key = 1}]"; got != want {
		t.Errorf("passages of a document: %s\nwant %s", got, want)
	}
}

var columns = regexp.MustCompile(`\s{2,}`)

// oldPhrases reads the list: columns that two spaces or more separate.
func oldPhrases(t *testing.T) (all []oldPhrase) {
	t.Helper()
	text, err := os.ReadFile("testdata/phrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := append(columns.Split(strings.TrimSpace(line), 4), "")
		left, err := strconv.Atoi(f[0])
		if err != nil || len(f) < 4 {
			t.Fatalf("testdata/phrases.txt:%d: want a number, a pattern, what to write, and why: %q", i+1, line)
		}
		pattern, err := regexp.Compile(`(?i)` + f[1])
		if err != nil {
			t.Fatalf("testdata/phrases.txt:%d: %v", i+1, err)
		}
		all = append(all, oldPhrase{i + 1, left, pattern, f[2], f[3]})
	}
	return all
}

// updatePhrases writes the numbers of today into the list.
func updatePhrases(t *testing.T, phrases []oldPhrase, texts []passage) {
	t.Helper()
	const name = "testdata/phrases.txt"
	list, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(list), "\n")
	for _, p := range phrases {
		n := 0
		for _, text := range texts {
			n += len(p.pattern.FindAllStringIndex(text.text, -1))
		}
		rest := strings.TrimLeft(lines[p.line-1], "0123456789 ")
		lines[p.line-1] = fmt.Sprintf("%-5d%s", n, rest)
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// passages returns the texts for users in the repository: documents, configurations and help
// texts, and the strings and doc comments of programs. Tests and generated code are left out.
func passages(t *testing.T) (all []passage) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "testdata" || name == "ent" || name == "node_modules" || strings.HasPrefix(name, ".") && path != root {
				return filepath.SkipDir
			}
			return nil
		}
		ext := filepath.Ext(name)
		if !slices.Contains([]string{".go", ".md", ".toml", ".txt", ".html"}, ext) || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if ext == ".go" {
			all = append(all, goPassages(t, rel, text)...)
		} else {
			all = append(all, paragraphs(rel, string(text))...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// goPassages returns the strings and the doc comments of exported names of a Go file.
func goPassages(t *testing.T, name string, source []byte) (all []passage) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(at token.Pos, text string) {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			all = append(all, passage{fmt.Sprintf("%s:%d", name, files.Position(at).Line), text})
		}
	}
	doc := func(names []*ast.Ident, comments ...*ast.CommentGroup) {
		if len(names) == 0 || slices.ContainsFunc(names, (*ast.Ident).IsExported) {
			for _, c := range comments {
				if c != nil {
					add(c.Pos(), c.Text())
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.File:
			doc(nil, n.Doc)
		case *ast.FuncDecl:
			doc([]*ast.Ident{n.Name}, n.Doc)
		case *ast.GenDecl:
			var names []*ast.Ident
			for _, spec := range n.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name)
				case *ast.ValueSpec:
					names = append(names, s.Names...)
				}
			}
			doc(names, n.Doc)
		case *ast.TypeSpec:
			doc([]*ast.Ident{n.Name}, n.Doc, n.Comment)
		case *ast.ValueSpec:
			doc(n.Names, n.Doc, n.Comment)
		case *ast.Field:
			doc(n.Names, n.Doc, n.Comment)
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil {
					add(n.Pos(), text)
				}
			}
		}
		return true
	})
	return all
}

// paragraphs returns the paragraphs of a document, without the signs of comments.
func paragraphs(name, text string) (all []passage) {
	begin, words := 0, []string(nil)
	end := func() {
		if len(words) > 0 {
			all = append(all, passage{fmt.Sprintf("%s:%d", name, begin), strings.Join(words, " ")})
			words = nil
		}
	}
	line := 0
	for l := range strings.Lines(text) {
		line++
		f := strings.Fields(strings.TrimLeft(strings.TrimSpace(l), "#"))
		if len(f) == 0 {
			end()
			continue
		}
		if words == nil {
			begin = line
		}
		words = append(words, f...)
	}
	end()
	return all
}
