package printable

import (
	"fmt"
	"strings"
)

// TOML writes a text as a string of TOML, in double quotes.
func TOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TOMLList writes texts as a list of TOML.
func TOMLList(texts []string) string {
	all := make([]string, len(texts))
	for i, s := range texts {
		all[i] = TOML(s)
	}
	return "[" + strings.Join(all, ", ") + "]"
}
