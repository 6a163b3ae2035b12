package report

import (
	"fmt"
	"io"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer"
)

// WriteWhois writes [WhoisText] as a terminal shows it. It returns the error of w.
func WriteWhois(w io.Writer, o TextOptions, made, world, table string, key rekey.Integer, way []transfer.Origin) error {
	t := newText(o)
	t.lines(0, strings.Split(WhoisText(made, world, table, key, way), "\n"))
	return t.to(w)
}

// WhoisText says where a key came from, or its key in the merged database if world names the
// one that had it.
func WhoisText(made, world, table string, key rekey.Integer, way []transfer.Origin) string {
	place := printable.Text(table) + " " + key.String()
	switch {
	case len(way) == 0 && world == "":
		return fmt.Sprintf("%s of %s came by no merge.", place, printable.Text(made))
	case len(way) == 0:
		return fmt.Sprintf("%s of %s came to %s by no merge.", place, printable.Text(world), printable.Text(made))
	}
	var lines []string
	for _, o := range way {
		line := fmt.Sprintf("%s %s of %s became %s", printable.Text(o.Table), o.Old, printable.Text(o.Source), o.New)
		if o.Matched {
			line += ", which is the same thing"
		}
		lines = append(lines, line+"  (merge "+o.Merge+")")
	}
	return strings.Join(lines, "\n")
}
