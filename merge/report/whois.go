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
func WriteWhois(w io.Writer, o TextOptions, target, source, table string, key rekey.Integer, way []transfer.Origin) error {
	t := newText(o)
	t.lines(0, strings.Split(WhoisText(target, source, table, key, way), "\n"))
	return t.to(w)
}

// WhoisText says where a key came from, or its key in the target if source names the
// world that had it.
func WhoisText(target, source, table string, key rekey.Integer, way []transfer.Origin) string {
	place := printable.Text(table) + " " + key.String()
	switch {
	case len(way) == 0 && source == "":
		return fmt.Sprintf("%s of %s came by no merge.", place, printable.Text(target))
	case len(way) == 0:
		return fmt.Sprintf("%s of %s came to %s by no merge.", place, printable.Text(source), printable.Text(target))
	}
	var lines []string
	for _, o := range way {
		line := fmt.Sprintf("%s %s of %s became %s", printable.Text(o.Table), o.Old, printable.Text(o.Source), o.New)
		if o.Matched {
			line += ", which is the same thing"
		}
		if o.Undone {
			line += ", in a merge that was undone"
		}
		lines = append(lines, line+"  (merge "+o.Merge+")")
	}
	return strings.Join(lines, "\n")
}
