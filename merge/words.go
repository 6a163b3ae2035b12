package merge

import (
	"strconv"
	"strings"
	"time"
)

// number writes n in full, with commas: 1,234,567.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// some writes a number of things: "1 row", "2,345 rows".
func some(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

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
		parts = append(parts[:most:most], "and "+number(rest)+" more")
	}
	return strings.Join(parts, by)
}

// stamp is how times are written.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// sqlName quotes a name as all engines understand it.
func sqlName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
