package rulefile

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
			if in(s, said.Kind); line == 0 && s.Has(said.Kind) { // an account, in a table of the list
				line = s.LineOf(said.Kind, said.Pattern)
			}
		}
		n := 0
		s.Sections("reference", func(s *strict.Section) {
			if s.Has("by") {
				return // it is no reference, see follower
			}
			if n++; n == said.Number {
				in(s, "at")
				if line == 0 { // of several columns together
					line = s.Line("at")
				}
			}
			knowAll(s)
		})
		knowAll(s)
	})
	return line
}
