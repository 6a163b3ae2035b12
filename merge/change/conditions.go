package change

import (
	"strings"

	"mergesafe/merge/catalog"
	"mergesafe/merge/world"
)

// ConditionName names a condition for people.
func ConditionName(c catalog.Condition) string {
	if c.Kind == catalog.ConditionCheck {
		return strings.TrimSpace("the constraint "+c.Name) + " CHECK (" + c.Text + ")"
	}
	return "the " + string(c.Kind) + " " + c.Name
}

// Given is an argument as a value of a column.
func Given(d world.Dialect, c *catalog.Column) string {
	switch {
	case c.Kind == catalog.KindBytes && d.MySQL():
		return "CAST(CONVERT(? USING utf8mb4) AS BINARY)"
	case c.Kind == catalog.KindBytes:
		return "CAST(? AS BLOB)"
	case c.Kind != catalog.KindInteger:
	case !d.MySQL():
		return "CAST(? AS INTEGER)"
	case strings.Contains(strings.ToLower(c.Type), "unsigned"):
		return "CAST(? AS UNSIGNED)"
	default:
		return "CAST(? AS SIGNED)"
	}
	if d.MySQL() {
		charset, _, _ := strings.Cut(c.Collation, "_")
		return "CONVERT(? USING " + charset + ") COLLATE " + c.Collation
	}
	return "CAST(? AS TEXT) COLLATE " + d.Quote(c.Collation)
}
