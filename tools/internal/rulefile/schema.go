package rulefile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mergesafe/internal/strict"
	"mergesafe/merge/rules"
)

// schema reads the section [schema]: the one that the file was written for; nil if it
// does not say.
func schema(root *strict.Section) (r *rules.Reviewed) {
	root.Section("schema", func(s *strict.Section) {
		r = &rules.Reviewed{Tables: make(map[string][]string)}
		need(s, "name", `want the name of the schema, such as %s = "MyGame: characters database"`)
		r.Name, r.Source = s.Text("name", strict.Label), s.Text("source", maxText)
		if !s.Has("tables") {
			s.Lacks("tables", `want [schema.tables], with a line for each table, such as characters = "guid account name"`)
		}
		s.Section("tables", func(s *strict.Section) {
			s.TextsOf(func(table, text string) string {
				columns, problem := columnList(text)
				if len(columns) > 0 {
					r.Tables[table] = columns
				}
				return problem
			})
		})
	})
	return r
}

// columnList reads the columns of a table, with spaces between them.
func columnList(text string) (columns []string, problem string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name := text
		if rest, quoted := strings.CutPrefix(text, "`"); quoted {
			var closed bool
			if name, text, closed = strings.Cut(rest, "`"); !closed {
				return columns, "has a backquote that is not closed"
			}
		} else {
			end := strings.IndexFunc(text, unicode.IsSpace)
			if end < 0 {
				end = len(text)
			}
			name, text = text[:end], text[end:]
		}
		switch {
		case name == "" || strings.ContainsFunc(name, unicode.IsControl):
			return columns, "has a name that is empty, or has control characters"
		case slices.Contains(columns, name):
			return columns, fmt.Sprintf("has the column %q twice", name)
		}
		columns = append(columns, name)
	}
	if len(columns) == 0 {
		return nil, `is empty: want the columns of the table, with spaces between them`
	}
	return columns, ""
}

const maxSource = 500 // characters

// maxText checks a text that is shown to people and may be long.
func maxText(s string) string {
	if len(s) > maxSource || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Sprintf("is too long, or has a control character in it: want at most %d characters", maxSource)
	}
	return ""
}

// listed looks whether what a file names is in the list of its schema.
type listed struct{ schema *rules.Reviewed }

// check reports every name, and every pattern, that means nothing in the list.
func (l listed) check(root *strict.Section) {
	root.Section("check", func(s *strict.Section) {
		l.places(s, "plain", "shared", "undecided")
		s.Entries("shared", func(string) string { return "" }, func(s *strict.Section) { l.places(s, "at"); knowAll(s) })
		for _, name := range []string{"unique", "id"} {
			s.Sections(name, func(s *strict.Section) { l.places(s, "at"); knowAll(s) })
		}
		s.Sections("reference", func(s *strict.Section) {
			l.places(s, "at", "to")
			l.when(s)
			l.by(s)
			knowAll(s)
		})
		s.Sections("world", func(s *strict.Section) { l.places(s, "at"); knowAll(s) })
		knowAll(s)
	})
	root.Section("merge", func(s *strict.Section) {
		s.Sections("space", func(s *strict.Section) { l.places(s, "keys"); knowAll(s) })
		s.Sections("counter", func(s *strict.Section) { l.places(s, "at"); l.when(s); knowAll(s) })
		s.Sections("table", func(s *strict.Section) { l.each(s, "tables", l.pattern); knowAll(s) })
		s.Sections("name", func(s *strict.Section) { l.places(s, "at"); l.by(s); knowAll(s) })
		knowAll(s)
	})
}

// knowAll makes the keys known that another reader judges.
func knowAll(s *strict.Section) { s.Know(s.Keys()...) }

// each looks at each text of keys that hold one, or a list.
func (l listed) each(s *strict.Section, key string, problem func(string) string) {
	for _, text := range s.Strings(key) {
		if p := problem(text); p != "" {
			s.ProblemAt(s.LineOf(key, text), key, "has %q in it, %s", text, p)
		}
	}
}

// places looks at keys that name columns.
func (l listed) places(s *strict.Section, keys ...string) {
	for _, key := range keys {
		l.each(s, key, func(text string) string {
			if strings.HasPrefix(text, "space:") || !strings.Contains(text, ".") {
				return ""
			}
			table, columns, is := joint(text)
			for _, column := range columns {
				if problem := l.pattern(rules.Place(table, column)); problem != "" {
					return problem
				}
			}
			if is {
				return ""
			}
			return l.pattern(text)
		})
	}
}

// pattern says that the list has nothing that a pattern matches.
func (l listed) pattern(text string) string {
	found, err := l.schema.Matches(text)
	switch {
	case err != nil || found: // what is malformed, others say
		return ""
	case rules.Exact(text):
		return "which [schema.tables] does not have: add it there if it was reviewed"
	default:
		return "which matches nothing in [schema.tables]"
	}
}

// by looks at the column that by names, beside those of at.
func (l listed) by(s *strict.Section) {
	for _, text := range s.Strings("at") {
		table, _ := split(text)
		l.each(s, "by", func(column string) string { return l.pattern(rules.Place(table, column)) })
	}
}

// when looks at the column of a condition, which a table of the section must have.
func (l listed) when(s *strict.Section) {
	s.Section("when", func(s *strict.Section) {
		for _, column := range s.Strings("column") {
			if found, err := l.schema.Matches("*." + rules.Name(column)); err == nil && !found {
				s.Problem("column", "is %q, which no table of [schema.tables] has", column)
			}
		}
		knowAll(s)
	})
}
