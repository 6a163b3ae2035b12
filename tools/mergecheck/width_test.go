package main

import (
	"strings"
	"testing"

	"mergesafe/internal/columns"
)

// Codes fit the terminal, and no word of them is lost.
func TestCodesFitTheTerminal(t *testing.T) {
	const width = 80
	var codes, plain strings.Builder
	if err := writeCodes(&codes, width); err != nil {
		t.Fatal(err)
	}
	if err := writeCodes(&plain, 0); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(codes.String()) {
		if line = strings.TrimRight(line, "\n"); columns.Width(line) > width {
			t.Errorf("%d columns: %s", columns.Width(line), line)
		}
	}
	if got, want := strings.Join(strings.Fields(codes.String()), " "), strings.Join(strings.Fields(plain.String()), " "); got != want {
		t.Errorf("words of codes are lost:\n%s", codes.String())
	}
}
