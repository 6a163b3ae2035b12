package main

import (
	"fmt"
	"io"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/merge/verdict"
)

// writeCodes prints all rules: what they mean, what they count and what to do.
// It wraps where it is wider than width; 0 is no limit.
func writeCodes(w io.Writer, width int) error {
	var b strings.Builder
	line := func(prefix, text string) {
		b.WriteString(strings.Join(columns.Wrap(prefix, text, width), "\n") + "\n")
	}
	for _, c := range verdict.Codes() {
		fmt.Fprintln(&b, c.Code)
		line("    ", c.Meaning)
		if c.Counts == "" {
			line("    ", "never fails")
		} else {
			line("    counts:           ", c.Counts)
			line("    if it fails:      ", c.Action)
		}
		if c.Unverified != "" {
			line("    if not verified:  ", c.Unverified)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
