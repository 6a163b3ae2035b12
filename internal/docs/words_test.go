package docs

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"mergesafe/internal/servertest"
)

// The most words that there may be of each kind of text that a user is shown.
var most = map[string]int{
	"documents":         22_000,
	"help":              14_503,
	"package docs":      5_151,
	"heads of profiles": 4_946,
	"config.toml":       385,
}

// What people read stays short. go test ./internal/docs -run TestWordsOfKinds -v prints the figures of each page.
func TestWordsOfKinds(t *testing.T) {
	servertest.NotShort(t)
	for kind, texts := range map[string]map[string]string{
		"documents": documents(t), "help": helpTexts(t), "package docs": packageDocs(t), "heads of profiles": headsOfProfiles(t),
		"config.toml": {"config.toml": read(t, "config.toml")},
	} {
		var table strings.Builder
		all := 0
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			n := words(texts[name])
			all += n
			fmt.Fprintf(&table, "%7d %s\n", n, name)
		}
		t.Logf("%s: %d words, of at most %d\n%s", kind, all, most[kind], &table)
		if all > most[kind] || all == 0 {
			t.Errorf("%s: %d words, want at most %d", kind, all, most[kind])
		}
	}
}

// words counts what has a letter or a digit in it, so the lines of a table are none.
func words(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the pages for users, not those for who changes the project.
func documents(t *testing.T) map[string]string {
	t.Helper()
	pages := pages(t)
	maps.DeleteFunc(pages, func(name, _ string) bool {
		return !strings.HasPrefix(name, "docs/") && !slices.Contains([]string{"README.md", "CHANGELOG.md", "INTEGRATIONS.md", "gameid/FAULTS.md"}, name)
	})
	return pages
}

// helpTexts are what the tools print for -h, of each command and topic. A line that several print is counted once.
func helpTexts(t *testing.T) map[string]string {
	t.Helper()
	n := night{tools(t), t.TempDir()}
	asked := []string{"mergecheck", "servermerge", "fleet", "gameid"}
	for _, m := range regexp.MustCompile(`(?m)^\* \*\*([^*]+)\*\*`).FindAllStringSubmatch(read(t, "docs/commands.md"), -1) {
		if strings.Contains(m[1], " ") {
			asked = append(asked, m[1])
		}
	}
	topic := regexp.MustCompile(`\b(mergecheck|servermerge|fleet|gameid) -h ([a-z]+)`)
	texts, printed := make(map[string]string), make(map[string]bool)
	for i := 0; i < len(asked); i++ {
		line := asked[i]
		if !strings.Contains(line, " -h ") {
			line += " -h"
		}
		out, code := n.run(t, line)
		if code != 0 {
			t.Fatalf("%s: exit code %d\n%s", line, code, out)
		}
		var own strings.Builder
		for line := range strings.Lines(out) {
			if !printed[line] {
				own.WriteString(line)
			}
			printed[line] = true
		}
		texts[line] = own.String()
		for _, m := range topic.FindAllString(out, -1) {
			if !slices.Contains(asked, m) {
				asked = append(asked, m)
			}
		}
	}
	return texts
}

// packageDocs are the comments of the packages that a game or a program imports.
func packageDocs(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	for _, tree := range []string{"gameid", "number", "entity", "store", "merge"} {
		err := filepath.WalkDir(filepath.Join(root, tree), func(path string, entry os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err == nil && file.Doc != nil {
				texts[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root+"/")] += file.Doc.Text()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// headsOfProfiles are the comments at the top of each, before the first statement.
func headsOfProfiles(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "profiles", "*.toml"))
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for _, file := range files {
		name := "profiles/" + filepath.Base(file)
		for line := range strings.Lines(read(t, name)) {
			if !strings.HasPrefix(line, "#") && strings.TrimSpace(line) != "" {
				break
			}
			texts[name] += line
		}
	}
	return texts
}
