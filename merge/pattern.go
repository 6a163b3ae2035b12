package merge

import (
	"errors"
	"regexp"
	"strings"

	"mergesafe/internal/pattern"
)

// namePattern is a pattern of names, see package pattern. A name in backquotes is that name, whatever is in it.
type namePattern struct {
	text  string
	exact string         // the only name that matches; "" if it is a pattern
	names *regexp.Regexp // nil for a name
}

func (p *namePattern) match(name string) bool {
	if p.names == nil {
		return name == p.exact
	}
	return p.names.MatchString(name)
}

// Name writes the name of a table or column so that a pattern of [Options] and
// [Declarations] matches it alone.
func Name(name string) string { return sqlName(name) }

// parsePlace reads "table" or "table.column", of which each is a pattern; then
// column is nil without one.
func parsePlace(s string) (table, column *namePattern, err error) {
	table, rest, err := cutName(s)
	if err != nil || rest == "" {
		return table, nil, err
	}
	column, rest, err = cutName(rest[1:])
	if err == nil && rest != "" {
		err = errors.New("it has more than a table and a column; put a name with a dot in backquotes")
	}
	return table, column, err
}

// cutName reads a name to its end, or to a dot.
func cutName(s string) (p *namePattern, rest string, err error) {
	if strings.HasPrefix(s, "`") {
		return cutQuoted(s)
	}
	text, rest := s, ""
	for i := 0; i < len(s); i++ {
		if s[i] == '{' { // a range has dots
			if end := strings.IndexByte(s[i:], '}'); end > 0 {
				i += end
			}
		} else if s[i] == '.' {
			text, rest = s[:i], s[i:]
			break
		}
	}
	if text == "" {
		return nil, "", errors.New("a name is empty")
	}
	if !strings.ContainsAny(text, "*{}`") {
		return &namePattern{text: text, exact: text}, rest, nil
	}
	names, err := pattern.Compile(text)
	return &namePattern{text: text, names: names}, rest, err
}

func cutQuoted(s string) (p *namePattern, rest string, err error) {
	var name strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != '`':
			name.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == '`':
			name.WriteByte('`')
			i++
		case name.Len() == 0:
			return nil, "", errors.New("a name is empty")
		case i+1 < len(s) && s[i+1] != '.':
			return nil, "", errors.New("a name continues after its closing backquote")
		default:
			return &namePattern{text: s[:i+1], exact: name.String()}, s[i+1:], nil
		}
	}
	return nil, "", errors.New("a backquote is not closed")
}
