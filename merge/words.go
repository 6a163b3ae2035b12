package merge

import (
	"strings"

	"mergesafe/internal/printable"
)

// columnList writes the columns of a key: "id", "(guild, player)".
func columnList(columns []string) string {
	if len(columns) == 1 {
		return columns[0]
	}
	return "(" + strings.Join(columns, ", ") + ")"
}

// few joins at most three parts, and tells how many more there are.
func few(parts []string) string { return printable.List(parts, "; ", 3) }

// enumerated is few for what takes no more than commas.
func enumerated(parts []string) string { return printable.List(parts, ", ", 3) }

// sqlName quotes a name as all engines understand it.
func sqlName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// without says of a result without a conflict what message does, if all of it was
// compared.
func (r *Result) without(message string) {
	switch {
	case len(r.Gaps) == 0:
		r.Message = message
	case r.Read == 0:
		r.Message = "nothing could be compared"
	default:
		r.Message = message + ", as far as it could be compared"
	}
}
