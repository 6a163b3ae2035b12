package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Formula computes one column of the row that combines the rows of one key.
type Formula struct {
	Op   FormulaOp
	Most int // with FormulaAppend: the most characters of the result
}

// FormulaOp is the kind of a formula. NULL takes no part in the first three and in append: the
// result is NULL only if all values are.
type FormulaOp string

// The kinds of formulas.
const (
	FormulaSum    FormulaOp = "sum"
	FormulaMax    FormulaOp = "max"
	FormulaMin    FormulaOp = "min"
	FormulaFirst  FormulaOp = "first"  // the value of the first world that has a row, in the order of the plan
	FormulaLast   FormulaOp = "last"   // the value of the last world that has a row
	FormulaAppend FormulaOp = "append" // texts one after the other, in the order of the worlds
	FormulaSame   FormulaOp = ""       // no formula: the value is the same in all rows, which is proved
)

// ParseFormula reads a formula, such as "sum" or "append 80".
func ParseFormula(text string) (Formula, error) {
	op, most, counted := strings.Cut(text, " ")
	f := Formula{Op: FormulaOp(op)}
	switch {
	case f.Op == FormulaAppend && counted:
		n, err := strconv.Atoi(most)
		if err == nil && n > 0 && strconv.Itoa(n) == most {
			f.Most = n
			return f, nil
		}
	case !counted && slices.Contains([]FormulaOp{FormulaSum, FormulaMax, FormulaMin, FormulaFirst, FormulaLast}, f.Op):
		return f, nil
	}
	return Formula{}, fmt.Errorf(`%.40q: want "sum", "max", "min", "first", "last", or "append N" with the largest number of characters of the result, such as "append 80"`, text)
}

func (f Formula) String() string {
	if f.Op == FormulaAppend {
		return fmt.Sprintf("%s %d", f.Op, f.Most)
	}
	return string(f.Op)
}

// chooses reports whether the result is the value of one of the rows, which the formula
// chooses by the database alone.
func (f Formula) chooses() bool { return f.Op == FormulaFirst || f.Op == FormulaLast }

// MarshalText implements [encoding.TextMarshaler].
func (f Formula) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. A text that is not a formula becomes
// an unknown one: see [Formula.Known].
func (f *Formula) UnmarshalText(text []byte) error {
	parsed, err := ParseFormula(string(text))
	if err != nil {
		parsed = Formula{Op: FormulaOp(text)}
	}
	*f = parsed
	return nil
}

// Known reports whether it is a known formula.
func (f Formula) Known() bool {
	_, err := ParseFormula(f.String())
	return err == nil
}
