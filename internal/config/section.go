package config

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mergesafe/internal/nearest"
)

// Error is a problem with the text of a file.
type Error struct {
	File    string
	Line    int    // 0 if it is about something that is not there
	Key     string // such as "server.number"; empty if the text is not TOML
	Problem string // what is wrong, and what would be right
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + " ")
	}
	b.WriteString(e.Problem)
	return b.String()
}

// section is one table of the file while it is read: what reads a key thereby
// says that the key is known, and of what type it is.
type section struct {
	doc    *document
	name   string // empty for the whole file
	index  int    // which of several of the same name, from 0
	values map[string]any
	known  []string

	missing []*Error // counts only if no key is unknown: that is probably the missing one
}

// err returns the problems found, in the order of the file.
func (d *document) err() error {
	slices.SortStableFunc(d.problems, func(a, b *Error) int { return a.Line - b.Line })
	var errs []error
	for _, p := range d.problems {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

func (d *document) root() *section { return &section{doc: d, values: d.values} }

// section returns the section of that name, and whether there is one.
func (s *section) section(name string) (*section, bool) {
	switch v := s.get(name).(type) {
	case nil:
		return nil, false
	case map[string]any:
		return &section{doc: s.doc, name: name, values: v}, true
	case []map[string]any:
		s.problem(name, fmt.Sprintf("can be there only once: want [%s], not [[%[1]s]]", name))
	default:
		s.problem(name, fmt.Sprintf("is %s: want a section [%s]", kind(v), name))
	}
	return nil, false
}

// sections returns the sections of that name, each of which has two brackets.
func (s *section) sections(name string) []*section {
	var all []*section
	switch v := s.get(name).(type) {
	case nil:
	case []map[string]any:
		for i, values := range v {
			all = append(all, &section{doc: s.doc, name: s.path(name), index: i, values: values})
		}
	case map[string]any:
		s.problem(name, fmt.Sprintf("can be there several times: want [[%s]], with two brackets", s.path(name)))
	default:
		s.problem(name, fmt.Sprintf("is %s: want sections [[%s]]", kind(v), s.path(name)))
	}
	return all
}

func (s *section) get(key string) any {
	s.known = append(s.known, key)
	return s.values[key]
}

func (s *section) has(key string) bool {
	_, ok := s.values[key]
	return ok
}

// text reads a key that must be a string that check accepts. It returns ""
// where the key is not there or has a problem. What check returns is the
// problem; it may quote the value only if that cannot be secret.
func (s *section) text(key string, check func(string) string) string {
	v := s.get(key)
	if v == nil {
		return ""
	}
	text, ok := v.(string)
	if !ok {
		s.problem(key, fmt.Sprintf("is %s: want text in quotes", kind(v)))
		return ""
	}
	if problem := check(text); problem != "" {
		s.problem(key, problem)
		return ""
	}
	return text
}

// integer reads a key that must be an integer from lowest to highest. It
// returns 0 where the key is not there or has a problem.
func (s *section) integer(key string, lowest, highest int64) int64 {
	switch v := s.get(key).(type) {
	case nil:
		return 0
	case int64:
		if v >= lowest && v <= highest {
			return v
		}
		s.problem(key, fmt.Sprintf("%d is out of range: want %d to %d", v, lowest, highest))
	default:
		s.problem(key, fmt.Sprintf("is %s: want an integer from %d to %d", kind(v), lowest, highest))
	}
	return 0
}

// boolean reads a key that must be true or false. It returns false where the
// key is not there or has a problem.
func (s *section) boolean(key string) bool {
	v := s.get(key)
	b, ok := v.(bool)
	if !ok && v != nil {
		s.problem(key, fmt.Sprintf("is %s: want true or false", kind(v)))
	}
	return b
}

// texts reads a key that must be a list of strings that check accepts. It
// returns nil where the key is not there or has a problem.
func (s *section) texts(key string, check func(string) string) []string {
	v := s.get(key)
	if v == nil {
		return nil
	}
	want := fmt.Sprintf(`want a list of texts, such as %s = ["a", "b"]`, key)
	list, ok := v.([]any)
	if !ok {
		s.problem(key, fmt.Sprintf("is %s: %s", kind(v), want))
		return nil
	}
	if len(list) == 0 {
		s.problem(key, "is empty: want at least one text, or no such key")
	}
	var texts []string
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			s.problem(key, fmt.Sprintf("has %s in it: %s", kind(v), want))
			return nil
		}
		if problem := check(text); problem != "" {
			s.problem(key, problem)
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// database reads the keys dsn and dsn_env, of which one must be there.
func (s *section) database() Database { return Database{s.held("dsn", dsnForm)} }

// end finds the keys that nobody has read.
func (s *section) end() {
	var unknown []*Error
	for key := range s.values {
		if slices.Contains(s.known, key) {
			continue
		}
		shown := key
		if !bareKey.MatchString(key) { // who knows what was quoted by mistake
			shown = "with special characters"
		}
		place := "the file has"
		if s.name != "" {
			place = "[" + s.name + "] has"
		}
		unknown = append(unknown, &Error{File: s.doc.file, Line: s.line(key),
			Problem: fmt.Sprintf("unknown key %s%s: %s %s", shown, nearest.Hint(shown, s.known), place, strings.Join(s.known, ", "))})
	}
	if len(unknown) == 0 {
		unknown = s.missing
	}
	s.doc.problems = append(s.doc.problems, unknown...)
}

func (s *section) problem(key, problem string) {
	s.doc.problems = append(s.doc.problems, s.about(key, problem))
}

func (s *section) lacks(key, want string) {
	s.missing = append(s.missing, s.about(key, "is missing: "+want))
}

func (s *section) about(key, problem string) *Error {
	return &Error{File: s.doc.file, Line: s.line(key), Key: s.path(key), Problem: problem}
}

func (s *section) path(key string) string {
	if s.name == "" {
		return key
	}
	return s.name + "." + key
}

// line returns the line of a key, or of the section if that lacks the key.
func (s *section) line(key string) int {
	var path []string
	if s.name != "" {
		path = strings.Split(s.name, ".")
	}
	if s.name != "" && !s.has(key) {
		return s.doc.line(s.index, path)
	}
	return s.doc.line(s.index, path, key)
}

// kind names the type of a value of TOML.
func kind(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case int64:
		return "an integer"
	case float64:
		return "a number with a fraction"
	case bool:
		return "true or false"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a section"
	case []map[string]any:
		return "a list of sections"
	default:
		return "a list"
	}
}

// The checks of texts. Each returns what is wrong, or "".

const maxLabel = 64 // characters

func label(s string) string {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return "is empty: want a name, or no such key"
	case n > maxLabel:
		return fmt.Sprintf("has %d characters: want at most %d", n, maxLabel)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has a control character in it: want a plain name"
	}
	return ""
}

func sourceName(s string) string {
	if problem := label(s); problem != "" {
		return problem
	}
	if strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsAny(s, `:/\`) || s[0] == '-' {
		return `is no name that a tool takes as an argument: want no space, no colon, no slash, and no "-" in front`
	}
	return ""
}

func address(s string) string {
	const want = `want host:port, such as "127.0.0.1:8080", or ":8080" for every address of the machine`
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return "is not an address: " + want
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && port != "0" {
		return "has no port from 0 to 65535: " + want
	}
	return ""
}

var envPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func envName(s string) string {
	if !envPattern.MatchString(s) {
		return "is not the name of an environment variable: want letters, digits and _, with no $ in front"
	}
	return ""
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
