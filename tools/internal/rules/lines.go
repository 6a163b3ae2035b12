package rules

import (
	"mergesafe/internal/strict"
	"mergesafe/merge/propose"
)

// Line returns the line of a statement in its file; 0 if it is in none that was read.
func (r Rules) Line(said propose.Said) (line int) {
	root := r.roots[said.File]
	if root == nil {
		return 0
	}
	in := func(s *strict.Section, key string) {
		for _, text := range s.Strings(key) {
			if text == said.Pattern && line == 0 {
				line = s.LineOf(key, text)
			}
		}
		knowAll(s)
	}
	if said.Kind == "space" {
		root.Section("merge", func(s *strict.Section) {
			s.Sections("space", func(s *strict.Section) { in(s, "keys") })
			knowAll(s)
		})
		return line
	}
	root.Section("check", func(s *strict.Section) {
		if said.Number == 0 {
			in(s, said.Kind)
		}
		n := 0
		s.Sections("reference", func(s *strict.Section) {
			if n++; n == said.Number {
				in(s, "at")
				if line == 0 { // in the older words
					line = s.Line("columns")
				}
			}
			knowAll(s)
		})
		knowAll(s)
	})
	return line
}
