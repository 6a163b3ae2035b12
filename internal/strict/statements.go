package strict

import (
	"strings"

	"github.com/BurntSushi/toml"
)

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
			i += quoted(text[i:]) - 1
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
	}
	return depth <= 0
}

// quoted is how long the text in quotes is that s begins with.
func quoted(s string) int {
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
