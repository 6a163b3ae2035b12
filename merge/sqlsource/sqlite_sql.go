package sqlsource

import (
	"slices"
	"strings"
)

// Some of what SQLite knows of a schema it tells in the words of the statement
// that made it, and nowhere else.

// token is a word, a name, a literal or a sign of a statement.
type token struct {
	text  string // as written
	start int    // where
}

// is reports whether the token is a keyword.
func (t token) is(word string) bool { return strings.EqualFold(t.text, word) }

// name is the token as a name, without its quotes.
func (t token) name() string {
	switch s := t.text; {
	case len(s) < 2:
		return s
	case s[0] == '[':
		return s[1 : len(s)-1]
	case s[0] == '"', s[0] == '`', s[0] == '\'':
		quote := s[:1]
		return strings.ReplaceAll(s[1:len(s)-1], quote+quote, quote)
	default:
		return s
	}
}

// tokens takes a statement apart, which is one that SQLite has accepted.
func tokens(sql string) (all []token) {
	for i := 0; i < len(sql); {
		start, rest := i, sql[i:]
		switch c := sql[i]; {
		case strings.IndexByte(" \t\n\r\f", c) >= 0:
			i++
			continue
		case strings.HasPrefix(rest, "--"):
			i += through(rest, "\n", 2)
			continue
		case strings.HasPrefix(rest, "/*"):
			i += through(rest, "*/", 2)
			continue
		case c == '[':
			i += through(rest, "]", 1)
		case c == '\'' || c == '"' || c == '`':
			for i += through(rest, rest[:1], 1); i < len(sql) && sql[i] == c; { // a doubled quote stands for one
				i += through(sql[i:], rest[:1], 1)
			}
		case wordByte(c):
			for i < len(sql) && wordByte(sql[i]) {
				i++
			}
		default:
			i++
		}
		all = append(all, token{sql[start:i], start})
	}
	return all
}

// through is the length of s up to and with the first end behind skip bytes, or
// all of s.
func through(s, end string, skip int) int {
	if i := strings.Index(s[skip:], end); i >= 0 {
		return skip + i + len(end)
	}
	return len(s)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// triggerEvent is when a trigger fires, "BEFORE INSERT", by the statement that
// made it.
func triggerEvent(sql string) string {
	when := "BEFORE"
	for i, t := range tokens(sql) {
		switch {
		case i < 3: // CREATE TRIGGER name, which may be any word
		case t.is("AFTER"):
			when = "AFTER"
		case t.is("INSTEAD"):
			when = "INSTEAD OF"
		case t.is("INSERT"), t.is("UPDATE"), t.is("DELETE"):
			return when + " " + strings.ToUpper(t.text)
		}
	}
	return ""
}

// generated is the expression of a generated column, by the statement that made
// its table: name ... AS (expression).
func generated(sql, column string) string {
	all := tokens(sql)
	first := slices.IndexFunc(all, func(t token) bool { return t.text == "(" })
	if first < 0 {
		return ""
	}
	depth, begins, within := 0, false, false
	for i, t := range all[first:] {
		if depth == 1 && begins {
			within, begins = strings.EqualFold(t.name(), column), false
		}
		switch t.text {
		case "(":
			if depth == 1 && within && i > 0 && all[first+i-1].is("AS") {
				return inParentheses(sql, all[first+i:])
			}
			depth++
			begins = depth == 1
		case ")":
			depth--
		case ",":
			begins = depth == 1
		}
	}
	return ""
}

// inParentheses is what stands between the first of the tokens and its partner.
func inParentheses(sql string, all []token) string {
	depth := 0
	for _, t := range all {
		switch t.text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return strings.TrimSpace(sql[all[0].start+1 : t.start])
			}
		}
	}
	return ""
}
