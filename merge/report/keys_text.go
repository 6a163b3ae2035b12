package report

import (
	"fmt"
	"slices"
	"strings"

	"mergesafe/internal/columns"
	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/verdict"
)

// writeNewKeys writes what becomes of keys that collide.
func writeNewKeys(t *text, r *verdict.Rekeying) {
	if r == nil || !r.Moves() {
		return
	}
	t.WriteString("\nNew keys: the same number is added to all keys of a world, and to all references to them:\n")
	t.lines(2, columns.Lines(keyOffsets(r), columns.Column{}, columns.Column{Right: true}))
	t.WriteString("\n")
	rows := [][]string{{"space", "world", "keys", "reserved", "become", "narrowest column"}}
	for _, s := range r.Spaces {
		for i, of := range s.Worlds {
			name := ""
			if i == 0 {
				name = printable.Text(s.Name)
			}
			become, narrow := "the same", ""
			if of.Offset > 0 {
				become = rangeText(of.New)
			}
			if of.Narrow.Column != "" {
				narrow = printable.Text(of.Narrow.Column) + " " + largest(of.Narrow.Most)
			}
			rows = append(rows, []string{name, printable.Text(of.World), printable.Number(of.Rows), rangeText(of.Values), become, narrow})
		}
	}
	t.listed(rows, columns.Column{}, columns.Column{}, columns.Column{Right: true})
	t.wrapped(2, "", "Reserved: existing keys, values that refer to them, and numbers already handed out. Beside the narrowest column is the largest value that it takes.")
	for _, s := range r.Spaces {
		if words := matchedWords(&s); words != "" {
			t.wrapped(2, "", words)
		}
	}
	t.followed(r)
}

// largest writes the largest value of a column.
func largest(n keys.Integer) string {
	if n.Bits >= 1<<63-1 {
		return "64 bits"
	}
	return numberText(n)
}

// matchedWords says which keys of a space become those of other rows; "" if none could.
func matchedWords(s *verdict.RekeyedSpace) string {
	words := ""
	switch {
	case s.By != nil:
		words = fmt.Sprintf("%s: rows with the same value of %s are the same thing, and get the key that it has already (match): ", printable.Text(s.Name), printable.Text(s.By.String()))
	case s.From != nil:
		words = fmt.Sprintf("%s: moves as %s does by the plan %s (map), SHA-256 %.16s: ", printable.Text(s.Name), printable.Text(s.From.Space), printable.Text(s.From.File), s.From.Digest)
	default:
		return ""
	}
	var all []string
	for _, of := range s.Worlds[1:] {
		n := int64(of.Matched.Len())
		text := printable.Count(n, "key", "keys") + " of " + printable.Text(of.World) + " matched"
		if s.By != nil {
			text += ", " + printable.Number(of.Rows-n) + " shifted"
		}
		all = append(all, text)
	}
	return words + strings.Join(all, "; ") + "."
}

// keyOffsets are the numbers that are added, by world; those that only some spaces have
// are named with them.
func keyOffsets(r *verdict.Rekeying) (rows [][]string) {
	for i, of := range r.Spaces[0].Worlds {
		if i == 0 {
			continue // it keeps its keys
		}
		common := ""
		var own [][]string
		for _, s := range r.Spaces {
			offset := "+ " + numberText(keys.Integer{Bits: s.Worlds[i].Offset})
			if s.Own {
				own = append(own, []string{"", offset, printable.Text(s.Name) + " alone"})
			} else {
				common = offset
			}
		}
		if common != "" {
			rows = append(rows, []string{printable.Text(of.World), common, ""})
		} else {
			own[0][0] = printable.Text(of.World)
		}
		rows = append(rows, own...)
	}
	return rows
}

// followed writes where references lead.
func (t *text) followed(r *verdict.Rekeying) {
	rows := [][]string{{"refers", "to", "match a row", "match no row", "name no row"}}
	for _, c := range r.Columns {
		if c.Key {
			continue
		}
		for _, of := range c.Cases {
			n := of.All()
			to := printable.Text(of.Space)
			if of.Format != "" {
				to += ", in " + printable.Text(of.Format)
			}
			if of.When != nil {
				to += ", when " + printable.Text(of.When.String())
			}
			rows = append(rows, []string{printable.Text(c.Table + "." + c.Column), to, printable.Number(n.Resolved), printable.Number(n.Dangling), printable.Number(n.None)})
		}
	}
	if len(rows) == 1 {
		return
	}
	right := columns.Column{Right: true}
	t.WriteString("\nReferences to them, in all databases together (those without a match stay so):\n")
	wide := false
	for _, line := range columns.Lines(rows, columns.Column{}, columns.Column{}, right, right, right) {
		wide = wide || t.width > 0 && columns.Width(line) > t.width-2
	}
	for _, row := range rows[1:] {
		if wide && columns.Width(row[1]) > mostTo { // it would push the numbers of all rows into a second line
			row[0], row[1] = row[0]+" to "+row[1], ""
		}
	}
	t.aside(rows, right)
}

// mostTo is how wide the column that says where references lead may be in a table that is too wide.
const mostTo = 24

// aside writes a table of three numbers behind two texts. A row without the second one has the first on a line of its own.
func (t *text) aside(rows [][]string, right columns.Column) {
	in := slices.Clone(rows)
	for i, row := range in {
		if row[1] == "" {
			in[i] = append([]string{"", ""}, row[2:]...)
		}
	}
	lines := columns.Lines(in, columns.Column{}, columns.Column{}, right, right, right)
	t.line(2, lines[0])
	t.some(len(lines)-1, shownTables, andMore, func(i int) {
		if rows[i+1][1] == "" {
			t.wrapped(2, "", rows[i+1][0]+":")
		}
		t.line(2, lines[i+1])
	})
}

func rangeText(r keys.Range) string {
	if !r.Any {
		return "none"
	}
	return numberText(r.Low) + " to " + numberText(r.High)
}

// numberText writes a number with commas.
func numberText(n keys.Integer) string {
	if n.Negative || n.Bits <= 1<<63-1 {
		return printable.Number(int64(n.Bits))
	}
	return n.String()
}

// writeKeyProof writes the parts of the proof about keys.
func writeKeyProof(t *text, p *merge.Proof) {
	if len(p.Keys) == 0 {
		return
	}
	t.WriteString("\nThe new keys:\n")
	rows := slice.Map(p.Keys, func(k merge.KeyProof) []string { return []string{string(k.Verdict), k.Part, keyProofCount(k)} })
	for i, line := range columns.Lines(rows) {
		t.line(2, line)
		for _, detail := range p.Keys[i].Details {
			t.line(6, strings.TrimSpace(detail))
		}
	}
	t.wrapped(2, "", p.Limit+".")
}

// keyProofCount says how much was looked at.
func keyProofCount(k merge.KeyProof) string {
	switch {
	case k.Checked == 0 && k.Part == merge.PartSums:
		return "none is declared"
	case k.Wrong > 0:
		return fmt.Sprintf("%s of %s %s", printable.Number(k.Wrong), printable.Number(k.Checked), k.Of)
	case k.Matched > 0:
		return fmt.Sprintf("%s %s, %s of them matched", printable.Number(k.Checked), k.Of, printable.Number(k.Matched))
	default:
		return printable.Number(k.Checked) + " " + k.Of
	}
}
