package naming

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MaxRange is how many numbers a range may have.
const MaxRange = 1000

// IsPattern reports whether a text is a pattern rather than a name.
func IsPattern(text string) bool { return strings.ContainsAny(text, "*{}") }

// CompilePattern turns a pattern into an expression that matches whole names. A brace outside a
// range is an error, and so is a backquote: backquotes are for names that are not patterns.
func CompilePattern(text string) (*regexp.Regexp, error) {
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
			all, err := numbers(text[1:end])
			if err != nil {
				return nil, err
			}
			b.WriteString(`(?:` + strings.Join(all, "|") + `)`)
			text = text[end+1:]
		}
	}
	b.WriteString(`\z`)
	return regexp.Compile(b.String())
}

// numbers lists the numbers of a range, "0..18". If the first begins with a 0, as in
// "001..400", they all have as many digits.
func numbers(s string) (all []string, err error) {
	from, to, _ := strings.Cut(s, "..")
	first, err1 := strconv.ParseUint(from, 10, 32)
	last, err2 := strconv.ParseUint(to, 10, 32)
	if err1 != nil || err2 != nil || last < first || last-first >= MaxRange {
		return nil, fmt.Errorf("{%s} is no range: want one of at most %d numbers, such as {0..18}", s, MaxRange)
	}
	digits := 1
	if from[0] == '0' {
		digits = len(from)
	}
	for n := first; n <= last; n++ {
		all = append(all, fmt.Sprintf("%0*d", digits, n))
	}
	return all, nil
}

var ranges = regexp.MustCompile(`\{[0-9]+\.\.[0-9]+\}`)

// ExpandPattern lists the texts that a text with ranges stands for: the first with the first number
// of each range, and so on. A text without a range stands for itself, and so do braces
// outside a range. ok is false if a range has too many numbers or none, or not as many as
// another.
func ExpandPattern(text string) (all []string, ok bool) {
	places := ranges.FindAllStringIndex(text, -1)
	if places == nil {
		return []string{text}, true
	}
	from := 0
	for i, place := range places {
		numbered, err := numbers(text[place[0]+1 : place[1]-1])
		if err != nil || i > 0 && len(numbered) != len(all) {
			return nil, false
		}
		if i == 0 {
			all = make([]string, len(numbered))
		}
		for n := range all {
			all[n] += text[from:place[0]] + numbered[n]
		}
		from = place[1]
	}
	for n := range all {
		all[n] += text[from:]
	}
	return all, true
}
