package rulefile

import (
	"mergesafe/merge/rules"
	"mergesafe/tools/internal/cli"
)

// ColumnOfNames is the table and the column that -names gives. A name with a dot is in backquotes, as in rules.
func ColumnOfNames(names string) (table, column string, err error) {
	t, c, err := rules.ParsePlace(names)
	if err != nil || c == nil || t.Exact == "" || c.Exact == "" {
		return "", "", cli.Usage("-names %q: want a table and its column of names, such as characters.name, or '`a.b`.name'", names)
	}
	return t.Exact, c.Exact, nil
}
