package keys

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mergesafe/internal/slice"
)

// Values are some values of a column: those of a reference that name nothing, say.
type Values struct {
	values []string
	bounds []bound
}

type bound struct {
	below, equal bool
	value        int64
}

// ParseValues reads a list of values as a database prints them, and bounds: "0", "<32",
// ">=1000".
func ParseValues(list []string) (n Values, err error) {
	for _, s := range list {
		rest := strings.TrimLeft(s, "<>")
		if rest == s {
			n.values = append(n.values, s)
			continue
		}
		b := bound{below: s[0] == '<'}
		if rest, b.equal = strings.CutPrefix(rest, "="); len(s)-len(rest) > 2 {
			return n, malformed(s)
		}
		if b.value, err = strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err != nil {
			return n, malformed(s)
		}
		n.bounds = append(n.bounds, b)
	}
	return n, nil
}

func malformed(s string) error {
	return fmt.Errorf(`%q: want a value, or a bound such as "<32" or ">=1000"`, s)
}

// Empty reports whether it has none.
func (n *Values) Empty() bool { return len(n.values) == 0 && len(n.bounds) == 0 }

// With returns the values of both.
func (n Values) With(other Values) Values {
	return Values{slices.Concat(n.values, other.values), slices.Concat(n.bounds, other.bounds)}
}

// Has reports whether a value, as the database sent it, is one of them.
func (n *Values) Has(v []byte) bool {
	if slices.Contains(n.values, string(v)) {
		return true
	}
	if len(v) > 0 && len(bytes.Trim(v, "\x00")) == 0 && slices.Contains(n.values, "0") {
		return true // the ID that is none
	}
	if len(n.bounds) == 0 {
		return false
	}
	number, ok := ParseInteger(v)
	return ok && n.within(number)
}

// HasInteger is Has of a number.
func (n *Values) HasInteger(v Integer) bool {
	return slices.ContainsFunc(n.values, func(text string) bool { return v.Is([]byte(text)) }) || n.within(v)
}

func (n *Values) within(v Integer) bool {
	return slices.ContainsFunc(n.bounds, func(b bound) bool { return b.holds(v) })
}

func (b bound) holds(n Integer) bool {
	limit := Integer{b.value < 0, uint64(b.value)}
	if n == limit {
		return b.equal
	}
	return n.Less(limit) == b.below
}

// ColumnKind is what the values of a column are.
type ColumnKind int

// The kinds of columns.
const (
	Others ColumnKind = iota
	Integers
	Texts
	Bytes
)

// SQL is the condition behind the name of its column, as all engines understand it.
func (c *When) SQL() string {
	if len(c.Is) > 0 {
		return " IN (" + sqlValues(c.Is) + ")"
	}
	return " NOT IN (" + sqlValues(c.Not) + ")"
}

// SQL are the conditions that a value of the column is none of them, as all engines
// understand them.
func (n *Values) SQL(column string) (all []string) {
	if len(n.values) > 0 {
		all = append(all, column+" NOT IN ("+sqlValues(n.values)+")")
	}
	return append(all, n.boundsSQL(column)...)
}

// IntegerSQL is SQL for a column of integers, which are compared as such: a text may be
// compared as a floating point number.
func (n *Values) IntegerSQL(column string) (all []string) {
	if list := integers(n.values); list != "" {
		all = append(all, column+" NOT IN ("+list+")")
	}
	return append(all, n.boundsSQL(column)...)
}

func (n *Values) boundsSQL(column string) (all []string) {
	return slice.Map(n.bounds, func(b bound) string { return fmt.Sprintf("NOT %s %s %d", column, b.sign(), b.value) })
}

func (b bound) sign() string {
	sign := ">"
	if b.below {
		sign = "<"
	}
	if b.equal {
		sign += "="
	}
	return sign
}

// AmongSQL is a condition that holds of every value of a column that is one of them, and
// perhaps of some others, as all engines understand it. kind is that of the column.
func (n *Values) AmongSQL(column string, kind ColumnKind) string {
	var all []string
	in := func(list string) {
		if list != "" {
			all = append(all, column+" IN ("+list+")")
		}
	}
	switch {
	case kind == Integers:
		for _, b := range n.bounds {
			all = append(all, fmt.Sprintf("%s %s %d", column, b.sign(), b.value))
		}
		in(integers(n.values))
	case kind == Others || len(n.bounds) > 0:
		return "1 = 1"
	case kind == Texts:
		if len(n.values) > 0 {
			in(sqlValues(n.values))
		}
	case kind == Bytes:
		for _, v := range n.values {
			all = append(all, fmt.Sprintf("%s = X'%x'", column, v))
		}
		if slices.Contains(n.values, "0") {
			all = append(all, fmt.Sprintf("%s <= X'%0510x'", column, 0), column+" = X'30'")
		}
	}
	if len(all) == 0 {
		return "1 = 0"
	}
	return "(" + strings.Join(all, " OR ") + ")"
}

func sqlValues(values []string) string {
	quoted := slice.Map(values, func(v string) string { return "'" + strings.ReplaceAll(v, "'", "''") + "'" })
	return strings.Join(quoted, ", ")
}

// IsZero reports whether a value, as the database sent it, is 0, empty, or
// nothing but zero bytes.
func IsZero(v []byte) bool {
	return string(v) == "0" || len(bytes.Trim(v, "\x00")) == 0
}

// Equal reports whether both have been read from the same list.
func (n *Values) Equal(other Values) bool {
	return slices.Equal(n.values, other.values) && slices.Equal(n.bounds, other.bounds)
}

// Meets reports whether any number of a range is one of them.
func (n *Values) Meets(r Range) bool {
	in := func(v Integer) bool { return !v.Less(r.Low) && !r.High.Less(v) }
	return r.Any && (n.within(r.Low) || n.within(r.High) || slices.ContainsFunc(n.values, func(text string) bool {
		v, ok := ParseInteger([]byte(text))
		return ok && in(v)
	}))
}
