package layers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each row of the table in INTEGRATIONS.md names tests, and they are there; each
// test of package integrations is in a row.
func TestIntegrationsTable(t *testing.T) {
	page, err := os.ReadFile("../../INTEGRATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string // of the first table, and of that of PostgreSQL
	for _, head := range []string{"|---|---|---|---|---|\n", "| with | write | works | test |\n|---|---|---|---|\n"} {
		_, table, _ := strings.Cut(string(page), head)
		table, _, _ = strings.Cut(table, "\n\n")
		rows = append(rows, strings.Split(table, "\n")...)
	}
	const tests = "../../integrations/*_test.go"
	here := make(map[string]bool) // whether a row names it
	name := regexp.MustCompile(`Test\w+`)
	for _, pattern := range []string{tests, "../../gameid/metrics/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllSubmatch(source, -1) {
				here[string(m[1])] = pattern != tests
			}
		}
	}
	if len(rows) < 10 {
		t.Errorf("there are %d rows only", len(rows))
	}
	for _, row := range rows {
		tests := name.FindAllString(row, -1)
		if len(tests) == 0 {
			t.Errorf("no test in %s", row)
		}
		for _, test := range tests {
			if _, ok := here[test]; !ok {
				t.Errorf("there is no %s", test)
			}
			here[test] = true
		}
	}
	for test, named := range here {
		if !named {
			t.Errorf("%s is in no row", test)
		}
	}
}
