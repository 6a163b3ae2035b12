package keys

import (
	"fmt"
	"slices"
	"strings"
)

// When is true of the rows with one of some values in a column, or with none of
// them. One of Is and Not is set. Values are as the database prints them.
type When struct {
	Column string   `json:"column"`
	Is     []string `json:"is,omitempty"`
	Not    []string `json:"not,omitempty"`
}

func (c *When) String() string {
	if len(c.Is) > 0 {
		return c.Column + " is " + strings.Join(c.Is, ", ")
	}
	return c.Column + " is not " + strings.Join(c.Not, ", ")
}

// Holds reports whether the condition is true of a value as the database sent it.
func (c *When) Holds(v []byte) bool {
	in := func(list []string) bool { return v != nil && slices.Contains(list, string(v)) }
	if len(c.Is) > 0 {
		return in(c.Is)
	}
	return !in(c.Not)
}

// Excludes reports whether no row can meet both conditions.
func (c *When) Excludes(other *When) bool {
	if c == nil || other == nil || c.Column != other.Column {
		return false
	}
	disjoint := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(v string) bool { return slices.Contains(b, v) })
	}
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(v string) bool { return !slices.Contains(b, v) })
	}
	switch {
	case len(c.Is) > 0 && len(other.Is) > 0:
		return disjoint(c.Is, other.Is)
	case len(c.Is) > 0:
		return within(c.Is, other.Not)
	case len(other.Is) > 0:
		return within(other.Is, c.Not)
	default:
		return false
	}
}

func (c *When) Validate() error {
	switch {
	case c == nil:
		return nil
	case c.Column == "":
		return fmt.Errorf("when names no column")
	case (len(c.Is) > 0) == (len(c.Not) > 0):
		return fmt.Errorf("when wants values under is or under not, one of the two")
	}
	return nil
}

// Text is String, and "" for no condition.
func (c *When) Text() string {
	if c == nil {
		return ""
	}
	return c.String()
}

// IntegerSQL is the condition about a column of integers, as all engines understand it.
// It says the same as Holds, and is never NULL.
func (c *When) IntegerSQL(column string) string {
	is, not := integers(c.Is), integers(c.Not)
	switch {
	case len(c.Is) > 0 && is == "":
		return "1 = 0"
	case len(c.Is) > 0:
		return "(" + column + " IS NOT NULL AND " + column + " IN (" + is + "))"
	case not == "":
		return "1 = 1"
	default:
		return "(" + column + " IS NULL OR " + column + " NOT IN (" + not + "))"
	}
}

// integers lists the integers among values, as SQL has them; a text with another one is
// none of a column of integers.
func integers(values []string) string {
	var all []string
	for _, v := range values {
		if n, ok := ParseInteger([]byte(v)); ok && n.String() == v {
			all = append(all, v)
		}
	}
	return strings.Join(all, ", ")
}
