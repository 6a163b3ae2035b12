package change

import (
	"bytes"
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"mergesafe/merge/rules"
	"mergesafe/merge/world"
)

// What becomes of rows with one key: one column after the other, by its formula. Numbers are
// added exactly; a result that its column has no room for is refused, never cut.

// combineGroup is all rows with one key, as they are on their way into the new database, in the order of
// their worlds. There is at least one.
type combineGroup [][]any

// combineError tells why the rows of a key cannot be combined. Its text has no values in it,
// so that those of one reason can be counted.
type combineError struct {
	column string // empty: not about one
	reason string
}

func (e *combineError) Error() string {
	if e.column == "" {
		return e.reason
	}
	return fmt.Sprintf("column %s: %s", e.column, e.reason)
}

// Result returns what a group becomes.
func (c *combiner) Result(all combineGroup) ([]any, error) {
	if len(all) > 1 && c.When >= 0 {
		for _, row := range all {
			if !c.table.Combine.When.Holds(world.Printed(row[c.When])) {
				return nil, &combineError{"", fmt.Sprintf("a row is not among those that may be combined (when %s), and its key occurs more than once", c.table.Combine.When)}
			}
		}
	}
	row := slices.Clone(all[0])
	for i := range row {
		if slices.Contains(c.L.Key, i) || len(all) == 1 {
			continue
		}
		values := make([]any, len(all))
		for k := range all {
			values[k] = all[k][i]
		}
		v, why := foldColumn(c.Formulas[i], c.L.Types[i], values)
		if why != "" {
			return nil, &combineError{c.L.Columns[i], why}
		}
		row[i] = v
	}
	return row, nil
}

// foldColumn returns what the values of a column become, or why they cannot.
func foldColumn(f rules.Formula, declared string, values []any) (v any, why string) {
	switch f.Op {
	case rules.FormulaFirst:
		return values[0], ""
	case rules.FormulaLast:
		return values[len(values)-1], ""
	case rules.FormulaSame:
		if slices.ContainsFunc(values, func(v any) bool { return !world.Same(v, values[0]) }) {
			return nil, "it has no formula, but its values differ"
		}
		return values[0], ""
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	if len(values) == 0 {
		return nil, ""
	}
	switch f.Op {
	case rules.FormulaSum:
		return foldSum(declared, values)
	case rules.FormulaAppend:
		return foldAppend(declared, f.Most, values)
	}
	best := values[0]
	for _, v := range values[1:] {
		order, ok := compareValues(declared, v, best)
		if !ok {
			return nil, "its values are of several types, so there is no largest one"
		}
		if f.Op == rules.FormulaMax && order > 0 || f.Op == rules.FormulaMin && order < 0 {
			best = v
		}
	}
	return best, ""
}

func foldSum(declared string, values []any) (any, string) {
	t := numericType(declared)
	sum := new(big.Int)
	for _, v := range values {
		n, ok := t.Parse(v)
		if !ok {
			return nil, "a value cannot be added exactly"
		}
		sum.Add(sum, n)
	}
	if sum.Cmp(t.low) < 0 || sum.Cmp(t.high) > 0 {
		return nil, fmt.Sprintf("the sum does not fit into %s", cmp.Or(strings.ToLower(declared), "an integer of 64 bits"))
	}
	return t.Value(sum), ""
}

func foldAppend(declared string, most int, values []any) (any, string) {
	all := []byte{} // and not nil, which is NULL
	for _, v := range values {
		switch v := v.(type) {
		case []byte:
			all = append(all, v...)
		case string:
			all = append(all, v...)
		default:
			return nil, "a value is not a text"
		}
	}
	if !utf8.Valid(all) {
		return nil, "a value is not a text"
	}
	if utf8.RuneCount(all) > most {
		return nil, fmt.Sprintf("the combined text is longer than %d characters", most)
	}
	room := map[string]int{"tinytext": 1<<8 - 1, "text": 1<<16 - 1, "mediumtext": 1<<24 - 1}
	name, _, _ := strings.Cut(strings.ToLower(declared), " ")
	if bytes, limited := room[name]; limited && len(all) > bytes {
		return nil, "the combined text does not fit into " + name
	}
	if _, is := values[0].([]byte); is {
		return all, ""
	}
	return string(all), ""
}

// compareValues compares two values of a column, neither of them NULL. ok tells that it can.
func compareValues(declared string, a, b any) (order int, ok bool) {
	t := numericType(declared)
	if x, is := t.Parse(a); is {
		y, is := t.Parse(b)
		if !is {
			return 0, false
		}
		return x.Cmp(y), true
	}
	switch a := a.(type) {
	case float64:
		b, is := b.(float64)
		return cmp.Compare(a, b), is
	case float32:
		b, is := b.(float32)
		return cmp.Compare(a, b), is
	case []byte:
		b, is := b.([]byte)
		return bytes.Compare(a, b), is
	case string:
		b, is := b.(string)
		return strings.Compare(a, b), is
	}
	return 0, false
}
