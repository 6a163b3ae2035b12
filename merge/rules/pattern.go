package rules

import (
	"errors"
	"regexp"
	"strings"

	"mergesafe/internal/naming"
	"mergesafe/merge/catalog"
)

// NamePattern is a pattern of names, see package pattern. A name in backquotes is that name, whatever is in it.
type NamePattern struct {
	Text  string
	Exact string         // the only name that matches; "" if it is a pattern
	names *regexp.Regexp // nil for a name
}

func (p *NamePattern) Match(name string) bool {
	if p.names == nil {
		return name == p.Exact
	}
	return p.names.MatchString(name)
}

// Name writes the name of a table or column so that a pattern of [Options] and
// [Declarations] matches it alone.
func Name(name string) string { return catalog.SQLName(name) }

// ParsePlace reads "table" or "table.column", of which each is a pattern; then
// column is nil without one.
func ParsePlace(s string) (table, column *NamePattern, err error) {
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
func cutName(s string) (p *NamePattern, rest string, err error) {
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
		return &NamePattern{Text: text, Exact: text}, rest, nil
	}
	names, err := naming.CompilePattern(text)
	return &NamePattern{Text: text, names: names}, rest, err
}

func cutQuoted(s string) (p *NamePattern, rest string, err error) {
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
			return &NamePattern{Text: s[:i+1], Exact: name.String()}, s[i+1:], nil
		}
	}
	return nil, "", errors.New("a backquote is not closed")
}
