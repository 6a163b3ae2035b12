package merge

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// maxRange is how many numbers a range in a pattern may have.
const maxRange = 1000

// namePattern is a pattern of names: * is any characters, {0..18} one of these
// numbers. A name in backquotes is that name, whatever is in it.
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
		err = errors.New("it has more than a table and a column; a name with a dot stands in backquotes")
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
	names, err := compileNames(text)
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
			return nil, "", errors.New("a name goes on behind its backquotes")
		default:
			return &namePattern{text: s[:i+1], exact: name.String()}, s[i+1:], nil
		}
	}
	return nil, "", errors.New("a backquote is not closed")
}

// compileNames turns a pattern into an expression.
func compileNames(text string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A`)
	for text != "" {
		i := strings.IndexAny(text, "*{}`")
		if i < 0 {
			i = len(text)
		}
		b.WriteString(regexp.QuoteMeta(text[:i]))
		if text = text[i:]; text == "" {
			break
		}
		end := strings.IndexByte(text, '}')
		switch {
		case text[0] == '*':
			b.WriteString(`(?s:.*)`)
			text = text[1:]
		case text[0] != '{' || end < 0:
			return nil, fmt.Errorf("%q is alone: want a range such as {0..18}, or the name in backquotes", text[:1])
		default:
			numbers, err := numbersOf(text[1:end])
			if err != nil {
				return nil, err
			}
			b.WriteString(`(?:` + strings.Join(numbers, "|") + `)`)
			text = text[end+1:]
		}
	}
	b.WriteString(`\z`)
	return regexp.Compile(b.String())
}

// numbersOf lists the numbers of a range, "0..18".
func numbersOf(s string) (numbers []string, err error) {
	from, to, _ := strings.Cut(s, "..")
	first, err1 := strconv.ParseUint(from, 10, 32)
	last, err2 := strconv.ParseUint(to, 10, 32)
	if err1 != nil || err2 != nil || last < first || last-first >= maxRange {
		return nil, fmt.Errorf("{%s} is no range: want one of at most %d numbers, such as {0..18}", s, maxRange)
	}
	for n := first; n <= last; n++ {
		numbers = append(numbers, strconv.FormatUint(n, 10))
	}
	return numbers, nil
}
