package world

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numbering tells the numbers of the values of a BIT, an ENUM, a SET or a DECIMAL; nil is that of all other types.
// MariaDB and MySQL sort these by their numbers, but read them as bytes or texts. Compared with texts, an ENUM compares
// as a text, in another order, a list of DECIMALs as floating-point numbers, and bytes are no number. So in a key their
// numbers are compared.
type numbering struct {
	kind    string   // "bit", "enum", "set" or "decimal"
	Members []string // of an ENUM or a SET, as they were declared
	scale   string   // of a DECIMAL: how many digits are behind its point
}

// NewNumbering returns nil for a type whose values are compared as they are read.
func NewNumbering(columnType string) *numbering {
	kind, list, _ := strings.Cut(columnType, "(")
	switch kind = strings.ToLower(kind); kind {
	case "bit":
		return &numbering{kind: kind}
	case "enum", "set":
		return &numbering{kind: kind, Members: membersOf(list)}
	case "decimal":
		_, scale, _ := strings.Cut(list, ",")
		scale, _, _ = strings.Cut(scale, ")")
		return &numbering{kind: kind, scale: scale}
	}
	return nil
}

// unquoteMembers reads a list of members as the catalogue prints it, and writes a byte between them that no text of
// the catalogue has.
var unquoteMembers = strings.NewReplacer(`\\`, `\`, `\0`, "\x00", `\n`, "\n", `\r`, "\r", `''`, `'`, `','`, "\xff")

// membersOf returns the members of a list in quotes, with commas between them.
func membersOf(list string) []string {
	begin, end := strings.IndexByte(list, '\''), strings.LastIndexByte(list, '\'')
	if begin == end {
		return nil
	}
	return strings.Split(unquoteMembers.Replace(list[begin+1:end]), "\xff")
}

// Ambiguous reports whether two numbers of an ENUM read as an empty text: that of an empty member, and 0 of a value
// that was in no list when it was written.
func (n *numbering) Ambiguous() bool {
	return n != nil && n.kind == "enum" && slices.Contains(n.Members, "")
}

// Second is the condition, with %s for the column, that a value has a member that is in the list of its ENUM or SET before,
// byte by byte; "" if the list has none.
func (n *numbering) Second() string {
	if n == nil {
		return ""
	}
	var numbers []string
	bits := uint64(0)
	for i, name := range n.Members {
		if slices.Index(n.Members, name) < i {
			numbers = append(numbers, strconv.Itoa(i+1))
			bits |= 1 << i
		}
	}
	switch {
	case numbers == nil:
		return ""
	case n.kind == "set":
		return fmt.Sprintf("%%s & %d <> 0", bits)
	}
	return "%s + 0 IN (" + strings.Join(numbers, ", ") + ")"
}

// number returns the number of a value that was read.
func (n *numbering) number(value any) (uint64, error) {
	v := Text(value)
	member := func(name string) (uint64, error) {
		i := slices.Index(n.Members, name)
		if i < 0 {
			return 0, fmt.Errorf("%q is not in the list of this %s: %q", name, strings.ToUpper(n.kind), n.Members)
		}
		return uint64(i), nil
	}
	switch {
	case n.kind == "bit":
		return binary.BigEndian.Uint64(append(make([]byte, 8), v...)[len(v):]), nil
	case v == "" && !n.Ambiguous():
		return 0, nil // no member, or none that was in the list when it was written
	case n.kind == "enum":
		i, err := member(v)
		return i + 1, err
	}
	var bits uint64
	for name := range strings.SplitSeq(v, ",") {
		i, err := member(name)
		if err != nil {
			return 0, err
		}
		bits |= 1 << i
	}
	return bits, nil
}

// byText reports whether values are equal exactly if what was read is: MySQL compares the numbers of a SET as
// floating-point numbers, which do not have 64 digits.
func (n *numbering) byText() bool { return n == nil || n.kind == "set" }

// mark stands for the value in the condition that a column has it. The server must not take the number for a text.
func (n *numbering) mark() string {
	switch {
	case n.byText():
		return "?"
	case n.kind == "decimal":
		return "CAST(? AS DECIMAL(65, " + n.scale + "))"
	default:
		return "CAST(? AS UNSIGNED)"
	}
}

// bound is the argument for the mark of a value; an error if the value has no number.
func (n *numbering) bound(value any) any {
	if n.byText() || n.kind == "decimal" || value == nil {
		return value
	}
	number, err := n.number(value)
	if err != nil {
		return err
	}
	return number
}

// after is the condition that the value of a column comes after another one. Its arguments are those of
// [numbering.bound].
func (n *numbering) after(column string, value any) (condition string, args []any) {
	if n == nil || n.kind == "decimal" {
		return column + " > " + n.mark(), []any{value}
	}
	number, err := n.number(value)
	switch {
	case err != nil:
		return column + " > ?", []any{err}
	case n.kind == "bit":
		return column + " > CAST(? AS UNSIGNED)", []any{number}
	case n.kind == "set": // no index is searched for the SETs after one
		return "CAST(" + column + " AS UNSIGNED) > CAST(? AS UNSIGNED)", []any{number}
	}
	// Nor for ENUMs after one, but for each of them. After the last one comes a number that none has: if it were
	// nothing, the server would see that the column is the same in all rows, and sort them instead of reading an index.
	var others []string
	for i := range uint64(len(n.Members) + 2) {
		if i > number {
			others = append(others, fmt.Sprint(i))
		}
	}
	if others == nil {
		return "FALSE", nil
	}
	return column + " IN (" + strings.Join(others, ", ") + ")", nil
}
