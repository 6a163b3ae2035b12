package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The commands in docs/other-languages.md work as they are written, and give the
// range that the page names.
func TestOtherLanguagesPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/other-languages.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var out, errs strings.Builder
	commands := regexp.MustCompile(`(?m)^gameid (.*)$`).FindAllStringSubmatch(string(page), -1)
	for _, c := range commands {
		if code := run(t.Context(), strings.Fields(c[0]), os.LookupEnv, &out, &errs); code != 0 {
			t.Errorf("%s: exit code %d\n%s", c[0], code, &errs)
		}
	}
	if promised := "10,000,000 to 19,999,999"; len(commands) != 4 || !strings.Contains(out.String(), promised) || !strings.Contains(string(page), promised) {
		t.Errorf("%d commands:\n%s", len(commands), &out)
	}
}
