package sqlsource

import "strings"

// Some of what a database knows of a schema it tells in the words of a statement
// only.

// token is a word, a name, a literal or a sign of a statement.
type token struct {
	text  string // as written
	start int    // where
}

// keyword reports whether the token is a keyword.
func (t token) keyword(word string) bool { return strings.EqualFold(t.text, word) }

// end is where the token ends.
func (t token) end() int { return t.start + len(t.text) }

// isWord reports whether the token is a word without quotes, and no number.
func (t token) isWord() bool { return wordByte(t.text[0]) && (t.text[0] < '0' || t.text[0] > '9') }

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

// tokens takes a statement of SQLite apart, which is one that it has accepted.
func tokens(sql string) []token { return take(sql, false) }

// mysqlTokens takes a statement apart that a MySQL server has printed. What stands
// in a comment for newer servers is taken for part of it.
func mysqlTokens(sql string) []token { return take(sql, true) }

func take(sql string, mysql bool) (all []token) {
	for i := 0; i < len(sql); {
		start, rest := i, sql[i:]
		switch c := sql[i]; {
		case strings.IndexByte(" \t\n\r\f", c) >= 0:
			i++
			continue
		case mysql && strings.HasPrefix(rest, "/*!"):
			for i += len("/*!"); i < len(sql) && sql[i] >= '0' && sql[i] <= '9'; {
				i++
			}
			continue
		case mysql && strings.HasPrefix(rest, "*/"):
			i += len("*/")
			continue
		case strings.HasPrefix(rest, "--") && !mysql: // a server prints no comments, but 1--1
			i += through(rest, "\n", 2)
			continue
		case strings.HasPrefix(rest, "/*"):
			i += through(rest, "*/", 2)
			continue
		case c == '[' && !mysql:
			i += through(rest, "]", 1)
		case c == '\'' && mysql:
			i += mysqlText(rest)
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

// mysqlText is the length of the text literal that s begins with. A backslash
// takes the character after it along.
func mysqlText(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] == '\'':
			return i + 1
		}
	}
	return len(s)
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

// closing is the place of the parenthesis that closes the first of the tokens,
// or -1.
func closing(all []token) int {
	depth := 0
	for i, t := range all {
		switch t.text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// inParentheses is what stands between the first of the tokens and its partner.
func inParentheses(sql string, all []token) string {
	if i := closing(all); i > 0 {
		return strings.TrimSpace(sql[all[0].start+1 : all[i].start])
	}
	return ""
}

// definitions are the tokens that stand between the parentheses of CREATE TABLE
// name ( ... ), and of these the places of those that stand in no others.
func definitions(all []token) (inside []token, outer []int) {
	for i, t := range all {
		if t.text != "(" {
			continue
		}
		end := closing(all[i:])
		if end < 0 {
			return nil, nil
		}
		inside = all[i+1 : i+end]
		break
	}
	depth := 0
	for i, t := range inside {
		if t.text == ")" {
			depth--
		}
		if depth == 0 {
			outer = append(outer, i)
		}
		if t.text == "(" {
			depth++
		}
	}
	return inside, outer
}
