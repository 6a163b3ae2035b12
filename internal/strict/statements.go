package strict

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// Statement is one statement of a file: the head of a section, or a key with its value.
type Statement struct {
	First, End int            // its lines, from 0; End is the line after its last
	Head       string         // the name of the section that it begins; "" if it is a key
	Several    bool           // the head has two brackets
	Key        string         // the key; a dotted one as it stands
	Value      map[string]any // what TOML reads of the statement
}

// Statements takes a text apart that is TOML: comments and empty lines between the statements are in none.
func Statements(lines []string) (all []Statement) {
	eachStatement(lines, func(first, end int, keys []toml.Key, values map[string]any) {
		s := Statement{First: first, End: end, Value: values}
		if trimmed := strings.TrimSpace(lines[first]); strings.HasPrefix(trimmed, "[") {
			s.Head, s.Several = strings.Join(keys[len(keys)-1], "."), strings.HasPrefix(trimmed, "[[")
		} else {
			key, _, _ := strings.Cut(trimmed, "=")
			s.Key = strings.TrimSpace(key)
		}
		all = append(all, s)
	})
	return all
}

// eachStatement calls use for each statement of a text: the smallest number of whole lines that is
// TOML by itself.
func eachStatement(lines []string, use func(first, end int, keys []toml.Key, values map[string]any)) {
	start := 0
	for i := range lines {
		text := strings.Join(lines[start:i+1], "\n") + "\n"
		if !closed(text) {
			continue
		}
		var values map[string]any
		md, err := toml.Decode(text, &values)
		if err != nil {
			continue
		}
		if keys := md.Keys(); len(keys) > 0 {
			use(start, i+1, keys, values)
		}
		start = i + 1
	}
}

// closed reports whether a text has no bracket that is open: TOML takes much longer to say so.
func closed(text string) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '#':
			i += strings.IndexByte(text[i:]+"\n", '\n')
		case '"', '\'':
			i += Quoted(text[i:]) - 1
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
	}
	return depth <= 0
}

// Quoted is how long the text in quotes is that s begins with.
func Quoted(s string) int {
	quote := s[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s, triple) {
		quote = triple
	}
	for i := len(quote); i < len(s); i++ {
		if s[i] == '\\' && quote[0] == '"' {
			i++
		} else if strings.HasPrefix(s[i:], quote) {
			return i + len(quote)
		}
	}
	return len(s)
}
