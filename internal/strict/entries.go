package strict

import (
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Keys returns the keys of the section, sorted.
func (s *Section) Keys() []string { return slices.Sorted(maps.Keys(s.values)) }

// TextsOf reads all keys of a section, whose names are the writer's: each must be a text that check accepts.
func (s *Section) TextsOf(check func(key, text string) string) {
	if s.shape != nil {
		s.shape.Any = &Key{Types: []Type{{Kind: "text"}}}
	}
	for _, key := range s.Keys() {
		s.Text(key, func(text string) string { return check(key, text) })
	}
}

// Strings returns the text of a key, or the texts of its list. Whether it should hold
// such is for another reader to say.
func (s *Section) Strings(key string) (texts []string) {
	s.Know(key)
	switch v := s.values[key].(type) {
	case string:
		return []string{v}
	case []any:
		for _, entry := range v {
			if text, ok := entry.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// ProblemAt is Problem with the line of the problem.
func (s *Section) ProblemAt(line int, key, format string, args ...any) {
	p := s.about(key, format, args)
	p.Line = line
	s.doc.problems = append(s.doc.problems, p)
}

// LineOf returns the line in which a text stands in the value of a key, which may be
// a list over several lines. If the value does not contain the text, it returns the line of
// the key.
func (s *Section) LineOf(key, text string) int {
	first := s.Line(key)
	if first == 0 {
		return 0
	}
	lines := strings.SplitAfter(s.doc.text, "\n")[first-1:]
	for n := range lines {
		begun := strings.Join(lines[:n+1], "")
		for _, end := range []string{"", "\n]"} { // all of the value, or a list as far as this line
			var values map[string]any
			if _, err := toml.Decode(begun+end, &values); err != nil {
				continue
			}
			for _, v := range values {
				if slices.Contains(texts(v), text) {
					return first + n
				}
			}
			if end == "" {
				return first
			}
		}
	}
	return first
}
