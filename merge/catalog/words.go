package catalog

import (
	"strings"

	"mergesafe/internal/printable"
)

// ColumnList writes the columns of a key: "id", "(guild, player)".
func ColumnList(columns []string) string {
	if len(columns) == 1 {
		return columns[0]
	}
	return "(" + strings.Join(columns, ", ") + ")"
}

// Few joins at most three parts, and tells how many more there are.
func Few(parts []string) string { return printable.List(parts, "; ", 3) }

// Enumerated is few for what takes no more than commas.
func Enumerated(parts []string) string { return printable.List(parts, ", ", 3) }

// SQLName quotes a name as all engines understand it.
func SQLName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
