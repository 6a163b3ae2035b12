package report

import (
	"fmt"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/verdict"
)

// rekeyedSections say what becomes of keys that collide.
func rekeyedSections(r *verdict.Rekeying) []Section {
	if r == nil || !r.Moves() {
		return nil
	}
	offsets := Section{ID: "offsets", Title: "New keys",
		Words: []string{"The same number is added to all keys of a world, and to all references to them. " +
			"Reserved: existing keys, values that refer to them, and numbers already handed out. The narrowest column is shown with its largest possible value."},
		Head: []string{"space", "world", "keys", "reserved", "added", "become", "narrowest column"}}
	for _, s := range r.Spaces {
		for i, of := range s.Worlds {
			become, narrow, added := "the same", "", ""
			if of.Offset > 0 {
				become = rangeText(of.New)
			}
			if i > 0 {
				added = "+" + numberText(keys.Integer{Bits: of.Offset})
			}
			if of.Narrow.Column != "" {
				narrow = of.Narrow.Column + " " + largest(of.Narrow.Most)
			}
			offsets.Rows = append(offsets.Rows, []string{s.Name, of.World, printable.Number(of.Rows), rangeText(of.Values), added, become, narrow})
		}
		if words := matchedWords(&s); words != "" {
			offsets.Items = append(offsets.Items, words)
		}
	}
	refs := Section{ID: "references", Title: "References to them, in all databases together (those without a match stay so)",
		Head: []string{"refers", "to", "match a row", "match no row", "mean no row"}}
	for _, c := range r.Columns {
		if c.Key {
			continue
		}
		for _, of := range c.Cases {
			n, to := of.All(), of.Space
			if of.Format != "" {
				to += ", in " + of.Format
			}
			if of.When != nil {
				to += ", when " + of.When.String()
			}
			refs.Rows = append(refs.Rows, []string{c.Table + "." + c.Column, to, printable.Number(n.Resolved), printable.Number(n.Dangling), printable.Number(n.None)})
		}
	}
	return []Section{offsets, refs}
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
		words = fmt.Sprintf("%s: rows with the same value of %s are the same thing and share the key that it already has (match): ", s.Name, s.By)
	case s.From != nil:
		words = fmt.Sprintf("%s: gets the same new keys as %s in the plan %s (map), SHA-256 %.16s: ", s.Name, s.From.Space, s.From.File, s.From.Digest)
	default:
		return ""
	}
	var all []string
	for _, of := range s.Worlds[1:] {
		n := int64(of.Matched.Len())
		text := printable.Count(n, "key", "keys") + " of " + of.World + " matched"
		if s.By != nil {
			text += ", " + printable.Number(of.Rows-n) + " shifted"
		}
		all = append(all, text)
	}
	return words + strings.Join(all, "; ") + "."
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

// keyProofs is the part of a proof about keys.
func keyProofs(p *merge.Proof) Section {
	s := Section{ID: "keys", Title: "The new keys", Head: []string{"verdict", "part of the proof", "checked"}}
	for _, k := range p.Keys {
		s.Rows = append(s.Rows, []string{string(k.Verdict), k.Part, keyProofCount(k)})
		s.Items = append(s.Items, slice.Map(k.Details, func(detail string) string { return k.Part + ": " + strings.TrimSpace(detail) })...)
	}
	if len(p.Keys) > 0 {
		s.Words = []string{p.Limit + "."}
	}
	return s
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
