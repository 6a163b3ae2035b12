package sqldb

import (
	"fmt"
	"strings"
)

// Text returns the statements that make the tables of the part in a database
// that has none of them, with their mark, for tools that run migrations. They do
// no harm when they run again. A part with rows of its own ([Part.Fill]) has no
// such text.
func (p *Part) Text(d Dialect) string {
	words := d.Words()
	var b strings.Builder
	b.WriteString(strings.TrimSpace(p.SQL[d]))
	b.WriteString("\n\n")
	mark := strings.ReplaceAll(createMark, "\n\t", "\n") + words.MarkEngine
	fmt.Fprintf(&b, "-- Which version the tables have.\n%s;\n\nINSERT %sINTO %s (application, version) VALUES ('%s', %d)%s;\n",
		strings.ReplaceAll(mark, "\t", "  "), words.Ignore, SchemaTable, p.Mark, p.Version, words.OnConflict)
	return b.String()
}
