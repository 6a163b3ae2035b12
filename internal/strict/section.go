package strict

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mergesafe/internal/naming"
	"mergesafe/internal/slice"
)

// Section is one table of the file while it is read: reading a key makes it
// known. A key that is missing, or has a problem, is read as the zero value.
type Section struct {
	doc    *document
	name   string // empty for the whole file
	index  int    // which of several of the same name, from 0
	values map[string]any
	known  []string
	secret []string // keys that may have a DSN
	apart  []string // keys that are sections

	missing []*Error // see Lacks

	shape *Shape // of a section that is only asked for its shape; nil: it is read
}

// Section lets read read the section [name], if there is one.
func (s *Section) Section(name string, read func(*Section)) {
	s.apart = append(s.apart, name)
	if s.shape != nil {
		s.describe(name, "table", read)
		return
	}
	if _, several := s.values[name].([]map[string]any); several {
		s.Know(name)
		s.Problem(name, "can be there only once: want [%s], not [[%[1]s]]", name)
	} else if values, ok := value[map[string]any](s, name, "a section ["+name+"]"); ok {
		s.below(name, 0, values, read)
	}
}

// Sections lets read read each of the sections [[name]].
func (s *Section) Sections(name string, read func(*Section)) {
	s.apart = append(s.apart, name)
	if s.shape != nil {
		s.describe(name, "tables", read)
		return
	}
	brackets := "[[" + s.path(name) + "]]"
	if _, one := s.values[name].(map[string]any); one {
		s.Know(name)
		s.Problem(name, "can be there several times: want %s, with two brackets", brackets)
		return
	}
	all, _ := value[[]map[string]any](s, name, "sections "+brackets)
	for i, values := range all {
		s.below(name, i, values, read)
	}
}

// Secret says that some keys may have a DSN or another secret, or any text for people. In the texts of all
// others a DSN is a problem, since they are shown.
func (s *Section) Secret(keys ...string) { s.secret = append(s.secret, keys...) }

func (s *Section) below(name string, index int, values map[string]any, read func(*Section)) {
	b := &Section{doc: s.doc, name: s.path(name), index: index, values: values}
	read(b)
	b.end()
}

// Know makes keys known without reading them.
func (s *Section) Know(keys ...string) {
	for _, key := range keys {
		if !slices.Contains(s.known, key) {
			s.known = append(s.known, key)
		}
	}
}

// Has reports whether the section has the key.
func (s *Section) Has(key string) bool {
	_, ok := s.values[key]
	return ok
}

// value reads a key that must be of type T. It returns false if the key is not
// there or has a problem.
func value[T any](s *Section, key, want string) (v T, ok bool) {
	s.Know(key)
	switch given := s.values[key].(type) {
	case nil:
	case T:
		return given, true
	default:
		s.Problem(key, "is %s: want %s", kind(given), want)
	}
	return v, false
}

// Text reads a key that must be a string that check accepts. What check returns
// is the problem; it may quote the value only if that cannot be secret.
func (s *Section) Text(key string, check func(string) string) string {
	s.may(key, text(check))
	given, ok := value[string](s, key, "text in quotes")
	if ok && s.refused(key, check(given)) {
		return ""
	}
	return given
}

func (s *Section) refused(key, problem string) bool {
	if problem != "" {
		s.Problem(key, "%s", problem)
	}
	return problem != ""
}

// Integer reads a key that must be an integer from lowest to highest.
func (s *Section) Integer(key string, lowest, highest int64) int64 {
	s.may(key, Type{Kind: "integer", Lowest: lowest, Highest: highest})
	n, ok := value[int64](s, key, fmt.Sprintf("an integer from %d to %d", lowest, highest))
	if ok && (n < lowest || n > highest) {
		s.Problem(key, "%d is out of range: want %d to %d", n, lowest, highest)
		return 0
	}
	return n
}

// Integers reads a key that must be a table of integers from lowest to highest, by names
// of any kind. It returns nil if there is none.
func (s *Section) Integers(key string, lowest, highest int64) map[string]int64 {
	s.may(key, tableOf(Type{Kind: "integer", Lowest: lowest, Highest: highest}))
	want := fmt.Sprintf("a table of integers, such as %s = { s2 = %d }", key, max(lowest, 1))
	return byName(s, key, want, func(_ string, n int64) string {
		if n < lowest || n > highest {
			return fmt.Sprintf("has %d in it: want %d to %d", n, lowest, highest)
		}
		return ""
	})
}

// TextsByName reads a key that must be a table of texts, by names of any kind. check says what
// is wrong with one; "" if nothing is. It returns nil if there is none.
func (s *Section) TextsByName(key, example string, check func(string) string) map[string]string {
	s.may(key, tableOf(Type{Kind: "text"}))
	want := fmt.Sprintf("a table of texts, such as %s = %s", key, example)
	return byName(s, key, want, func(name, text string) string {
		if problem := check(text); problem != "" {
			return name + " " + problem
		}
		return ""
	})
}

// byName reads a key that must be a table whose values are of type T.
func byName[T any](s *Section, key, want string, check func(name string, v T) string) map[string]T {
	table, ok := value[map[string]any](s, key, want)
	if !ok {
		return nil
	}
	all := make(map[string]T)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		v, is := table[name].(T)
		if !is {
			s.Problem(key, "has %s in it: want %s", kind(table[name]), want)
			return nil
		}
		if s.refused(key, check(name, v)) {
			return nil
		}
		all[name] = v
	}
	return all
}

// Boolean reads a key that must be true or false.
func (s *Section) Boolean(key string) bool {
	s.may(key, Type{Kind: "boolean"})
	b, _ := value[bool](s, key, "true or false")
	return b
}

// Texts reads a key that must be a list of strings that check accepts, as in
// [Section.Text], and of at least one.
func (s *Section) Texts(key string, check func(string) string) []string {
	s.may(key, Type{Kind: "list", Items: []Type{text(check)}, Least: 1})
	if list, ok := s.values[key].([]any); ok && len(list) == 0 {
		s.Know(key)
		s.Problem(key, "is empty: want at least one text, or remove it")
		return nil
	}
	return s.List(key, check)
}

// List is Texts for a list that may be empty.
func (s *Section) List(key string, check func(string) string) (texts []string) {
	s.may(key, Type{Kind: "list", Items: []Type{text(check)}})
	want := fmt.Sprintf(`a list of texts, such as %s = ["a", "b"]`, key)
	list, _ := value[[]any](s, key, want)
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			s.Problem(key, "has %s in it: want %s", kind(v), want)
			return nil
		}
		if s.refused(key, check(text)) {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

// OneOrMore is Texts for a key that may also be a text alone.
func (s *Section) OneOrMore(key string, check func(string) string) []string {
	s.may(key, text(check))
	if _, one := s.values[key].(string); !one {
		return s.Texts(key, check)
	}
	if text := s.Text(key, check); text != "" {
		return []string{text}
	}
	return nil
}

// Values reads a key that must be a list of texts and integers, of at least one. It
// returns integers as their digits.
func (s *Section) Values(key string) (texts []string) {
	integer := Type{Kind: "integer", Lowest: math.MinInt64, Highest: math.MaxInt64}
	s.may(key, Type{Kind: "list", Items: []Type{{Kind: "text"}, integer}, Least: 1})
	want := fmt.Sprintf(`a list of texts and integers, such as %s = [0, "none"]`, key)
	list, ok := value[[]any](s, key, want)
	if ok && len(list) == 0 {
		s.Problem(key, "is empty: want at least one value, or remove it")
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			texts = append(texts, v)
		case int64:
			texts = append(texts, strconv.FormatInt(v, 10))
		default:
			s.Problem(key, "has %s in it: want %s", kind(v), want)
			return nil
		}
	}
	return texts
}

// Entries reads a key that must be a list of texts that check accepts, as in [Section.Text], and of
// tables, each of which read reads. It returns the texts; the list may be empty.
func (s *Section) Entries(key string, check func(string) string, read func(*Section)) (texts []string) {
	if s.shape != nil {
		below := new(Shape)
		for _, t := range s.shape.key(key).Types {
			below = t.Items[1].Section
		}
		s.may(key, Type{Kind: "list", Items: []Type{text(check), {Kind: "table", Section: below}}})
		read(&Section{doc: s.doc, name: s.path(key), shape: below})
		return nil
	}
	want := fmt.Sprintf(`a list of texts, such as %s = ["a", "b"]`, key)
	var list []any
	if sections, all := s.values[key].([]map[string]any); all {
		s.Know(key)
		list = slice.Map(sections, func(one map[string]any) any { return one })
	} else {
		list, _ = value[[]any](s, key, want)
	}
	for i, entry := range list {
		switch entry := entry.(type) {
		case string:
			if s.refused(key, check(entry)) {
				return nil
			}
			texts = append(texts, entry)
		case map[string]any:
			s.below(key, i, entry, read)
		default:
			s.Problem(key, "has %s in it: want %s", kind(entry), want)
			return nil
		}
	}
	return texts
}

// Kinds returns which of several kinds of values a key has, as in [Type]; none if it is not there or
// has another one, which is a problem: want says what would be right.
func (s *Section) Kinds(key, want string, kinds ...string) []string {
	if s.shape != nil {
		return kinds
	}
	s.Know(key)
	given, ok := s.values[key]
	name := map[string]string{"text": "text", "an integer": "integer", "a section": "table"}[kind(given)]
	switch {
	case !ok:
		return nil
	case !slices.Contains(kinds, name):
		s.Problem(key, "is %s: want %s", kind(given), want)
		return nil
	}
	return []string{name}
}

// end reports the keys that were not read, or else those that Lacks named.
func (s *Section) end() {
	s.misplaced()
	var unknown []*Error
	for key := range s.values {
		if slices.Contains(s.known, key) {
			continue
		}
		shown := key
		if !bareKey.MatchString(key) {
			shown = "with special characters"
		}
		place := "the file has"
		if s.name != "" {
			place = "[" + s.name + "] has"
		}
		unknown = append(unknown, &Error{File: s.doc.file, Line: s.Line(key),
			Problem: fmt.Sprintf("unknown key %s%s: %s %s", shown, naming.Hint(shown, s.known), place, strings.Join(s.known, ", "))})
	}
	if len(unknown) == 0 {
		unknown = s.missing
	}
	s.doc.problems = append(s.doc.problems, unknown...)
}

// looksLikeDSN matches a DSN, a URL or a connection string that may have a password in it.
var looksLikeDSN = regexp.MustCompile(`(?is)^\W*(?:mysql|sqlite|mariadb|odbc)[:;]|^\W*[a-z][a-z0-9+.:-]*://|@(?:(?:tcp|unix)\(|//)|\A\W*[\w.+%-]*:.*@.|(?:pass|passwd|password|pwd|pw|authorization)\W{0,2}[=:]|^\W*(?:key|token|bearer|secret|dsn)=|--pass\w*\s|(?:^|\s)-p\S`)

// LooksLikeDSN reports whether a text may be a DSN with a password in it, in a place where texts are shown.
func LooksLikeDSN(text string) bool { return looksLikeDSN.MatchString(text) }

// misplaced reports the keys whose texts have a DSN, in the place of what else is wrong with them, which
// may quote it.
func (s *Section) misplaced() {
	for key, value := range s.values {
		if !slices.Contains(s.known, key) || slices.Contains(s.secret, key) || slices.Contains(s.apart, key) || !slices.ContainsFunc(texts(value), LooksLikeDSN) {
			continue
		}
		at := s.path(key)
		s.doc.problems = slices.DeleteFunc(s.doc.problems, func(p *Error) bool { return p.Key == at })
		s.Problem(key, "looks like a DSN, which may have a password in it, and this is shown: want a DSN under dsn alone")
	}
}

// texts are all texts of a value of TOML.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, texts(one)...)
		}
	case map[string]any:
		for name, one := range v {
			all = append(append(all, name), texts(one)...)
		}
	}
	return all
}

// Problem reports what is wrong with a key, and what would be right.
func (s *Section) Problem(key, format string, args ...any) {
	s.doc.problems = append(s.doc.problems, s.about(key, format, args))
}

// Lacks reports that a key is missing, and what it would be. It counts only if
// no key of the section is unknown: that is probably the missing one.
func (s *Section) Lacks(key, format string, args ...any) {
	if s.shape != nil {
		s.shape.key(key).Required = true
		return
	}
	s.missing = append(s.missing, s.about(key, "is missing: "+format, args))
}

func (s *Section) about(key, format string, args []any) *Error {
	e := s.At(key)
	e.Problem = fmt.Sprintf(format, args...)
	return &e
}

// At returns an error about a key that does not say yet what the problem is.
func (s *Section) At(key string) Error {
	return Error{File: s.doc.file, Line: s.Line(key), Key: s.path(key)}
}

// Line returns the line of a key, or of the section if it lacks the key.
func (s *Section) Line(key string) int {
	switch {
	case s.name == "":
		return s.doc.line(0, nil, key)
	case !s.Has(key):
		return s.doc.line(s.index, strings.Split(s.name, "."))
	default:
		return s.doc.line(s.index, strings.Split(s.name, "."), key)
	}
}

func (s *Section) path(key string) string {
	if s.name == "" {
		return key
	}
	return s.name + "." + key
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

const maxLabel = 64 // characters

// Label is a check for [Section.Text]: a name that is shown to people.
func Label(s string) string {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return "is empty: want a name, or remove it"
	case n > maxLabel:
		return fmt.Sprintf("has %d characters: want at most %d", n, maxLabel)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has a control character in it: want a plain name"
	}
	return ""
}

// bareKey is what may be shown of a key: one in quotes may be a secret, and one that begins as a flag
// may hold one.
var bareKey = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,39}$`)
