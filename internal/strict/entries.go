package strict

import (
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// Keys returns the keys of the section, sorted.
func (s *Section) Keys() []string { return slices.Sorted(maps.Keys(s.values)) }

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
	lines := strings.Split(s.doc.text, "\n")
	rest := strings.Join(lines[first-1:], "\n")
	if _, value, found := strings.Cut(rest, "="); found {
		if n := lineOfString(value, text); n >= 0 {
			return first + n
		}
	}
	return first
}

// lineOfString returns in which line of a value, which begins the text, a string of
// its own stands, from 0; -1 if it is not there.
func lineOfString(value, want string) int {
	line, depth := 0, 0
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '\n':
			if line++; depth == 0 {
				return -1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth <= 0 {
				return -1
			}
		case '#':
			for i+1 < len(value) && value[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			end := i + 1
			for end < len(value) && value[end] != c && value[end] != '\n' {
				if c == '"' && value[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(value) {
				return -1
			}
			var is struct{ V string }
			if _, err := toml.Decode("V = "+value[i:end+1], &is); err == nil && is.V == want {
				return line
			}
			i = end
		}
	}
	return -1
}
