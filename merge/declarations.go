package merge

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Declarations are what one file of rules says of columns. Where several say
// something of one column, an exact name beats a pattern, and then a later file an
// earlier one. Two that are equal in that are an error.
//
// The entries of the lists are "table.column", of which both may be patterns, as in
// [Options.Allow]. A pattern that matches a table without such a column skips it;
// one that matches nothing is an error.
type Declarations struct {
	File string `json:"file,omitempty"` // for messages

	// Plain columns name nothing. Natural ones hold keys of the game's own data,
	// which mean the same in every world. In a Shared column the same value means the
	// same thing in all worlds, for example one account database. Undecided ones are
	// NOT VERIFIED as long as they stand here.
	Plain     []string `json:"plain,omitempty"`
	Natural   []string `json:"natural,omitempty"`
	Shared    []string `json:"shared,omitempty"`
	Undecided []string `json:"undecided,omitempty"`

	References []DeclaredReference `json:"references,omitempty"`
}

// DeclaredReference are columns whose values must stand in other columns though no
// foreign key says so. It names them by At and To or, if they are several columns
// together, by Table, Columns, ToTable and ToColumns.
type DeclaredReference struct {
	// At are columns, as in Declarations. To is the key column that they name, or
	// several, of which each value names one.
	At []string `json:"at,omitempty"`
	To []string `json:"to,omitempty"`

	Table     string   `json:"table,omitempty"`
	Columns   []string `json:"columns,omitempty"`
	ToTable   string   `json:"to_table,omitempty"`
	ToColumns []string `json:"to_columns,omitempty"`

	// ZeroIsNone tells that 0, or an empty text, refers to nothing, as NULL
	// does. It needs a reference of one column.
	ZeroIsNone bool `json:"zero_is_none,omitempty"`

	// None are values that name nothing, as the database prints them, or bounds of
	// such: "0", "-1", "<32". NULL never names anything.
	None []string `json:"none,omitempty"`

	// When limits the reference to some rows; nil: to none. The other rows are judged
	// as if nothing were declared, unless Others is "plain".
	When   *When  `json:"when,omitempty"`
	Others string `json:"others,omitempty"`
}

// OthersPlain says of the rows that no condition covers that they name nothing.
const OthersPlain = "plain"

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

// holds reports whether the condition is true of a value as the database sent it.
func (c *When) holds(v []byte) bool {
	in := func(list []string) bool { return v != nil && slices.Contains(list, string(v)) }
	if len(c.Is) > 0 {
		return in(c.Is)
	}
	return !in(c.Not)
}

// excludes reports whether no row can meet both conditions.
func (c *When) excludes(other *When) bool {
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

func (c *When) validate() error {
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

// noneValues are the values of a reference that name nothing.
type noneValues struct {
	zero   bool // 0, nothing, and nothing but zero bytes
	values []string
	bounds []bound
}

type bound struct {
	below, equal bool
	value        int64
}

// parseNone reads [DeclaredReference.None].
func parseNone(d DeclaredReference) (n noneValues, err error) {
	n.zero = d.ZeroIsNone
	for _, s := range d.None {
		rest := strings.TrimLeft(s, "<>")
		if rest == s {
			n.values = append(n.values, s)
			continue
		}
		b := bound{below: s[0] == '<'}
		if rest, b.equal = strings.CutPrefix(rest, "="); len(s)-len(rest) > 2 {
			return n, fmt.Errorf(`none has %q: want a value, or a bound such as "<32" or ">=1000"`, s)
		}
		if b.value, err = strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err != nil {
			return n, fmt.Errorf(`none has %q: want a value, or a bound such as "<32" or ">=1000"`, s)
		}
		n.bounds = append(n.bounds, b)
	}
	return n, nil
}

func (n *noneValues) empty() bool { return !n.zero && len(n.values) == 0 && len(n.bounds) == 0 }

// match reports whether a value, as the database sent it, names nothing.
func (n *noneValues) match(v []byte) bool {
	if n.zero && isZero(v) || slices.Contains(n.values, string(v)) {
		return true
	}
	if len(v) > 0 && len(bytes.Trim(v, "\x00")) == 0 && slices.Contains(n.values, "0") {
		return true // the ID that is none
	}
	if len(n.bounds) == 0 {
		return false
	}
	number, ok := parseInteger(v)
	return ok && slices.ContainsFunc(n.bounds, func(b bound) bool { return b.holds(number) })
}

func (b bound) holds(n integer) bool {
	limit := integer{b.value < 0, uint64(b.value)}
	if n == limit {
		return b.equal
	}
	below := n.bits < limit.bits
	if n.negative != limit.negative {
		below = n.negative
	}
	return below == b.below
}

// Empty reports whether nothing is declared.
func (d *Declarations) Empty() bool {
	return len(d.Plain)+len(d.Natural)+len(d.Shared)+len(d.Undecided)+len(d.References) == 0
}

// sql is the condition behind the name of its column, as all engines understand it.
func (c *When) sql() string {
	if len(c.Is) > 0 {
		return " IN (" + sqlValues(c.Is) + ")"
	}
	return " NOT IN (" + sqlValues(c.Not) + ")"
}

// sql are the conditions that a value names something.
func (n *noneValues) sql(column string) (all []string) {
	values := n.values
	if n.zero {
		values = append([]string{"0", ""}, values...)
	}
	if len(values) > 0 {
		all = append(all, column+" NOT IN ("+sqlValues(values)+")")
	}
	for _, b := range n.bounds {
		sign := ">"
		if b.below {
			sign = "<"
		}
		if b.equal {
			sign += "="
		}
		all = append(all, fmt.Sprintf("NOT %s %s %d", column, sign, b.value))
	}
	return all
}

func sqlValues(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}
