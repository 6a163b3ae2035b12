package main

import (
	"fmt"
	"io"
	"strings"

	"mergesafe/merge"
)

// writeCodes prints all rules: what they mean, what they count and what to do.
func writeCodes(w io.Writer) error {
	var b strings.Builder
	for _, c := range append(merge.Codes(), moved()) {
		fmt.Fprintln(&b, c.Code)
		fmt.Fprintf(&b, "    %s\n", c.Meaning)
		if c.Counts == "" {
			fmt.Fprintln(&b, "    never fails")
		} else {
			fmt.Fprintf(&b, "    counts:           %s\n", c.Counts)
			fmt.Fprintf(&b, "    if it fails:      %s\n", c.Action)
		}
		if c.Unverified != "" {
			fmt.Fprintf(&b, "    if not verified:  %s\n", c.Unverified)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
