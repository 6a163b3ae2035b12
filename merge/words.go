package merge

import (
	"strings"
	"time"

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
func few(parts []string) string { return joined(parts, "; ") }

// enumerated is few for what takes no more than commas.
func enumerated(parts []string) string { return joined(parts, ", ") }

func joined(parts []string, by string) string {
	const most = 3
	if len(parts) > most {
		rest := int64(len(parts) - most)
		parts = append(parts[:most:most], "and "+printable.Number(rest)+" more")
	}
	return strings.Join(parts, by)
}

// stamp is how times are written.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// sqlName quotes a name as all engines understand it.
func sqlName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
