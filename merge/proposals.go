package merge

import (
	"fmt"
	"strings"

	"mergesafe/internal/printable"
)

// Proposal is something that the schema does not declare, but names, types and
// data suggest: config for the operator to judge and to paste. One of Unique
// and Reference is set.
type Proposal struct {
	Unique    *DeclaredUnique    `json:"unique,omitempty"`
	Reference *DeclaredReference `json:"reference,omitempty"`

	// Evidence says what speaks for it: "distinct in every database: 12,345 of
	// 12,345".
	Evidence string `json:"evidence"`

	// Conflicts is how many values of a unique are there more than once, all
	// sources together.
	Conflicts int64 `json:"conflicts,omitempty"`
}

// TOML writes the proposal as it is to stand in config.toml, below its evidence
// as a comment. It ends in a newline.
func (p Proposal) TOML() string {
	list := func(names []string) string {
		quoted := make([]string, len(names))
		for i, n := range names {
			quoted[i] = toml(n)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	var b strings.Builder
	b.WriteString("# " + printable.Text(p.Evidence) + "\n")
	if p.Conflicts > 0 {
		b.WriteString("# but " + printable.Count(p.Conflicts, "is", "are") + " in more than one database\n")
	}
	switch {
	case p.Unique != nil:
		b.WriteString("[[check.unique]]\ntable = " + toml(p.Unique.Table) + "\ncolumns = " + list(p.Unique.Columns) + "\n")
	case p.Reference != nil:
		r := p.Reference
		b.WriteString("[[check.reference]]\ntable = " + toml(r.Table) + "\ncolumns = " + list(r.Columns) +
			"\nto_table = " + toml(r.ToTable) + "\nto_columns = " + list(r.ToColumns) + "\n")
		if r.ZeroIsNone {
			b.WriteString("zero_is_none = true\n")
		}
	}
	return b.String()
}

// toml writes a string as TOML has it.
func toml(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
