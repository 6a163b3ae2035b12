// Package strict reads a file of TOML strictly: a key that is not known is an
// error, and every problem names its line and what would be right.
package strict

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is a file while it is read.
type document struct {
	file     string
	problems []*Error

	text   string
	places []place // where the keys are; filled when first needed
}

// place is where a key, or the head of a section, is in the file.
type place struct {
	key  toml.Key
	line int
}

// Read reads the text of a file, which is called so in messages: read gets the
// file as a section without a name. It returns all problems, each of type
// [*Error], joined in the order of the file.
func Read(file, text string, read func(root *Section)) error {
	d := &document{file: file, text: text}
	root := &Section{doc: d}
	if _, err := toml.Decode(text, &root.values); err != nil {
		// The library's errors quote the text, and hold all of it.
		problem, line := "is not TOML", 0
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			line = e.Position.Line
			until := line
			if strings.Contains(e.Message, "EOF") {
				until = strings.Count(text, "\n") + 2
			}
			if n := openBefore(text, until); n > 0 {
				line = min(until, strings.Count(text, "\n")+1)

				problem += fmt.Sprintf(": the list that begins in line %d is not closed: want a comma behind each value, and a ] behind the last one", n)
			} else {
				problem += syntaxHint(e.Message)
			}
		}
		return &Error{File: file, Line: line, Problem: problem}
	}
	read(root)
	root.end()
	slices.SortStableFunc(d.problems, func(a, b *Error) int { return a.Line - b.Line })
	var errs []error
	seen := make(map[Error]bool) // a section may be read twice
	for _, p := range d.problems {
		if !seen[*p] {
			seen[*p] = true
			errs = append(errs, p)
		}
	}
	return errors.Join(errs...)
}

// statementBegins matches a line with a key or the head of a section.
var statementBegins = regexp.MustCompile(`^\s*(?:\[|[A-Za-z0-9_."-]+\s*=)`)

// openBefore is the line of a list that is not closed where another statement begins, or where the text ends; 0 if there is none.
func openBefore(text string, line int) int {
	lines := strings.SplitAfter(text, "\n")
	at := min(line-1, len(lines))
	if at < 0 || at < len(lines) && !statementBegins.MatchString(lines[at]) {
		return 0
	}
	for first := at - 1; first >= 0; first-- {
		if _, value, is := strings.Cut(lines[first], "="); is && statementBegins.MatchString(lines[first]) && strings.HasPrefix(strings.TrimSpace(value), "[") {
			if closed(strings.Join(lines[first:at], "")) {
				return 0
			}
			return first + 1
		}
	}
	return 0
}

// syntaxHint puts the usual errors of syntax into words that quote nothing.
func syntaxHint(message string) string {
	for _, h := range []struct{ part, hint string }{
		{"expected value but found", `: want quotes around text, as in name = "s1"`},
		{"unexpected EOF; expected value", ": no value after the ="},
		{"strings cannot contain newlines", ": want the closing quote on the same line"},
		{"unexpected EOF; expected key separator", ": want key = value"},
		{"array terminator", ": want a comma between two values, or the ] that closes the list"},
		{"inline table terminator", ": want a comma between two values, or the } that closes the table, on the same line"},
		{"unexpected EOF", ": the text ends before a quote or bracket is closed"},
		{"has already been defined", ": this key or section is there already, further up"},
		{"was already created", ": this section is there already in another form, further up"},
		{"expected '.' or '='", ": want key = value"},
		{"expected a top-level item to end", ": want nothing after the value; inside text in quotes, write \\\" for a quote"},
		{"invalid escape", `: in "text" a \ starts an escape: write \\, or use 'text'`},
		{"to end table name", ": want a ] at the end of the section's name"},
		{"end of table array name", ": want ]] at the end of the section's name"},
		{"nteger", ": want a plain integer, such as 7"},
		{"out of range", ": the number is too large"},
		{"NULL bytes", ": want UTF-8 text"},
		{"UTF-8", ": want UTF-8 text"},
		{"ontrol character", ": a control character, such as NUL, is in the line: want UTF-8 text without"},
		{"unexpected comma", ": want a value before each comma"},
		{"unexpected '", ": want key = value"},
		{"", `: want key = "text", key = 7 or key = ["a", "b"]`},
	} {
		if strings.Contains(message, h.part) {
			return h.hint
		}
	}
	return ""
}

// line returns the line in which a key of a section, or without one the head
// of the section, stands in the file, counted from 1, or 0 if it cannot tell.
// Of several sections of the same name it takes the one of that index, from 0.
// The section without a name is the whole file.
func (d *document) line(index int, section []string, key ...string) int {
	if d.places == nil {
		d.places = places(d.text)
	}
	places := d.places
	path := slices.Concat(section, key)
	head := path[:max(len(section), 1)]
	var heads []int
	for i, p := range places {
		if slices.Equal(p.key, head) {
			heads = append(heads, i)
		}
	}
	if index < len(heads) {
		places = places[heads[index]:]
	}
	for _, p := range places {
		if slices.Equal(p.key, path) {
			return p.line
		}
	}
	for _, p := range places { // a section without a head, as in "server.number = 7"
		if p.key[0] == path[0] {
			return p.line
		}
	}
	return 0
}

// places finds where the keys of a text are, which the library does not tell.
func places(text string) (all []place) {
	var section toml.Key
	lines := strings.Split(text, "\n")
	eachStatement(lines, func(first, _ int, keys []toml.Key, _ map[string]any) {
		head := strings.HasPrefix(strings.TrimSpace(lines[first]), "[")
		for _, key := range keys {
			if head {
				section = key
			} else {
				key = slices.Concat(section, key)
			}
			all = append(all, place{key, first + 1})
		}
	})
	return all
}

// Error is a problem with the text of a file.
type Error struct {
	File    string
	Line    int    // 0 if something is missing
	Key     string // such as "server.number"; empty if the text is not TOML
	Problem string // the problem, and what is expected instead
}

func (e *Error) Error() string {
	place := e.File
	if e.Line > 0 {
		place += ":" + strconv.Itoa(e.Line)
	}
	return place + ": " + strings.TrimPrefix(e.Key+" "+e.Problem, " ")
}
