package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

const root = "../.."

// pages returns the Markdown of the repository, by its path from the root with slashes.
func pages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") && path != root) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			pages[filepath.ToSlash(rel)] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

var (
	code = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```|`[^`\n]*`")
	link = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
)

// Every link to a file of the repository leads to one, and every anchor to a heading.
func TestLinks(t *testing.T) {
	pages := pages(t)
	links := 0
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
			target := m[1] + m[2]
			if strings.Contains(target, "://") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(target, "#")
			to := name
			if path != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(name), path))
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %q, which is not there", name, target)
			} else if anchor != "" && !headings(pages[to])[anchor] {
				t.Errorf("%s links to %q, but %s has no such heading", name, target, to)
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

// headings returns the anchors of a page, made as GitHub makes them.
func headings(page string) map[string]bool {
	anchors := map[string]bool{}
	for line := range strings.Lines(code.ReplaceAllString(page, "")) {
		if title, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && strings.HasPrefix(line, "#") {
			anchors[strings.Map(func(r rune) rune {
				switch {
				case r == ' ':
					return '-'
				case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
					return unicode.ToLower(r)
				}
				return -1
			}, strings.TrimSpace(title))] = true
		}
	}
	return anchors
}

// Each page of docs is found from the README, which stays short enough to be read.
func TestREADME(t *testing.T) {
	pages := pages(t)
	readme := pages["README.md"]
	if n := strings.Count(readme, "\n"); n > 90 {
		t.Errorf("README.md has %d lines, more than 90", n)
	}
	for name := range pages {
		if strings.HasPrefix(name, "docs/") && !strings.Contains(readme, "("+name+")") {
			t.Errorf("README.md does not link to %s", name)
		}
	}
}
