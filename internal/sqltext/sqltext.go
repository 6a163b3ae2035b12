// Package sqltext takes SQL statements apart into words, names, literals and signs: some of what a
// database knows of its schema it tells in the words of a statement only.
package sqltext

import (
	"regexp"
	"slices"
	"strings"
)

// Token is a word, a name, a literal or a sign of a statement.
type Token struct {
	Text  string // as written
	Start int    // where
}

// Keyword reports whether the token is a keyword.
func (t Token) Keyword(word string) bool { return strings.EqualFold(t.Text, word) }

// End is where the token ends.
func (t Token) End() int { return t.Start + len(t.Text) }

// IsWord reports whether the token is a word without quotes, and no number.
func (t Token) IsWord() bool { return wordByte(t.Text[0]) && (t.Text[0] < '0' || t.Text[0] > '9') }

// IsCharset reports whether the token is the character set of the literal behind it in a text, as in _utf8mb4'x'.
func (t Token) IsCharset(sql string) bool {
	return t.Text[0] == '_' && strings.HasPrefix(sql[t.End():], "'")
}

// Name is the token as a name, without its quotes.
func (t Token) Name() string {
	switch s := t.Text; {
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

// SQLite takes a statement of SQLite apart, which is one that it has accepted.
func SQLite(sql string) []Token { return take(sql, sqlite) }

// MySQL takes a statement apart that a server of MySQL or MariaDB has printed, or accepted as the body of
// a routine. What stands in a comment for some servers, as in /*!80023 INVISIBLE */, is taken for part of it.
func MySQL(sql string) []Token { return take(sql, mysql) }

// MySQLReadings takes a statement apart in each way in which a server may read it: to a server of an older
// version, or of another kind, /*!80023 INVISIBLE */ is a comment. It returns nil if the statement has comments
// for more than six versions or kinds.
func MySQLReadings(sql string) (all [][]Token) {
	var marks []string
	for i := range sql {
		if mark := sql[i : i+versioned(sql[i:])]; mark != "" && !slices.Contains(marks, mark) {
			marks = append(marks, mark)
		}
	}
	if len(marks) > 6 {
		return nil
	}
	for set := range 1 << len(marks) {
		var skip []string
		for i, mark := range marks {
			if set&(1<<i) != 0 {
				skip = append(skip, mark)
			}
		}
		all = append(all, take(sql, mysql, skip...))
	}
	return all
}

// PostgreSQL takes a statement of PostgreSQL apart, whose names may also stand in backquotes.
func PostgreSQL(sql string) []Token { return take(sql, postgres) }

type kind int

const (
	sqlite kind = iota
	mysql
	postgres
)

const byteOrderMark = "\ufeff"

// take takes a statement apart. What stands in a comment for some servers is part of it, unless the beginning
// of the comment, such as /*!80023, is one to skip.
func take(sql string, of kind, skip ...string) (all []Token) {
	for i := 0; i < len(sql); {
		start, rest := i, sql[i:]
		switch c := sql[i]; {
		case c <= ' ':
			i++
			continue
		case of == sqlite && strings.HasPrefix(rest, byteOrderMark): // which it takes for a space
			i += len(byteOrderMark)
			continue
		case of == mysql && versioned(rest) > 0:
			if mark := rest[:versioned(rest)]; slices.Contains(skip, mark) {
				i += nested(rest)
			} else {
				i += len(mark)
			}
			continue
		case of == mysql && strings.HasPrefix(rest, "*/"):
			i += len("*/")
			continue
		case of == postgres && strings.HasPrefix(rest, "--"):
			i += strings.IndexAny(rest+"\n", "\r\n")
			continue
		case strings.HasPrefix(rest, "--") && (of != mysql || len(rest) == 2 || rest[2] <= ' '), of == mysql && c == '#': // 1--1 is no comment
			i += through(rest, "\n", 1)
			continue
		case of == postgres && strings.HasPrefix(rest, "/*"):
			i += nested(rest)
			continue
		case strings.HasPrefix(rest, "/*"):
			i += through(rest, "*/", 2)
			continue
		case c == '[' && of == sqlite:
			i += through(rest, "]", 1)
		case (c == '\'' || c == '"') && of == mysql:
			i += mysqlText(rest)
		case of == postgres && (strings.HasPrefix(rest, "E'") || strings.HasPrefix(rest, "e'")):
			i += 1 + mysqlText(rest[1:])
		case of == postgres && c == '$' && dollars.MatchString(rest):
			quote := dollars.FindString(rest)
			i += through(rest, quote, len(quote))
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
		all = append(all, Token{sql[start:i], start})
	}
	return all
}

// versioned is the length of the beginning of a comment for some servers: /*!80023, /*M!100301 or /*T![feature].
func versioned(s string) int {
	if !strings.HasPrefix(s, "/*") {
		return 0
	}
	rest := s[2:]
	if rest != "" && (rest[0] == 'M' || rest[0] == 'T') {
		rest = rest[1:]
	}
	if !strings.HasPrefix(rest, "!") {
		return 0
	}
	if rest = rest[1:]; strings.HasPrefix(rest, "[") {
		return len(s) - len(rest) + through(rest, "]", 1)
	}
	return len(s) - len(strings.TrimLeft(rest, "0123456789"))
}

// mysqlText is the length of the text literal that s begins with. A backslash
// takes the character after it along.
func mysqlText(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == s[0] && i+1 < len(s) && s[i+1] == s[0]:
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

// dollars begins, and ends, a text literal of PostgreSQL.
var dollars = regexp.MustCompile(`^\$([A-Za-z_\x80-\x{10FFFF}][A-Za-z0-9_\x80-\x{10FFFF}]*)?\$`)

// nested is the length of the comment that s begins with, and of those within it.
func nested(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i++
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i++
		}
		if depth == 0 {
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

// Closing is the place of the parenthesis that closes the first of the tokens,
// or -1.
func Closing(all []Token) int {
	depth := 0
	for i, t := range all {
		switch t.Text {
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

// InParentheses is what stands between the first of the tokens and its partner.
func InParentheses(sql string, all []Token) string {
	if i := Closing(all); i > 0 {
		return strings.TrimSpace(sql[all[0].Start+1 : all[i].Start])
	}
	return ""
}

// Parts divides a text of MySQL or MariaDB at the commas that stand in no parentheses.
func Parts(text string) (parts []string) {
	depth, start := 0, 0
	for _, t := range MySQL(text) {
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Text == "," && depth == 0:
			parts, start = append(parts, strings.TrimSpace(text[start:t.Start])), t.End()
		}
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

// Flat leaves the parentheses of an AND within an AND, and of an OR within an OR, out of a text that a server of MySQL or
// MariaDB has printed. They mean nothing: where NOT or a comparison of rows became one, MySQL prints ((a or b) or c), and
// once it has read that, (a or b or c).
func Flat(sql string) string {
	type group struct {
		start, end int    // its parentheses
		within     int    // the group around it
		operator   string // between its operands, if it is one everywhere
	}
	all := MySQL(sql)
	groups, in := []group{{start: -1, end: len(all)}}, 0
	for i, t := range all {
		switch word := strings.ToLower(t.Text); word {
		case "(":
			groups = append(groups, group{start: i, end: len(all), within: in})
			in = len(groups) - 1
		case ")":
			groups[in].end = i
			in = groups[in].within
		case "and", "or", "xor", "between", "case": // the AND of BETWEEN is none, and CASE has operands of its own
			if is := &groups[in].operator; *is == "" || *is == word {
				*is = word
			} else {
				*is = "mixed"
			}
		}
	}
	var needless []int
	for _, g := range groups[1:] {
		around := groups[g.within]
		if g.operator != around.operator || g.operator != "and" && g.operator != "or" || g.end == len(all) {
			continue
		}
		// An operand may be more than what stands in parentheses: not (a or b).
		ends := func(i int) bool { return i == around.start || i == around.end || all[i].Keyword(g.operator) }
		if ends(g.start-1) && ends(g.end+1) {
			needless = append(needless, g.start, g.end)
		}
	}
	slices.Sort(needless)
	for _, i := range slices.Backward(needless) {
		sql = sql[:all[i].Start] + sql[all[i].End():]
	}
	return sql
}

// Definitions are the tokens that stand between the parentheses of CREATE TABLE
// name ( ... ), and of these the places of those that stand in no others.
func Definitions(all []Token) (inside []Token, outer []int) {
	for i, t := range all {
		if t.Text != "(" {
			continue
		}
		end := Closing(all[i:])
		if end < 0 {
			return nil, nil
		}
		inside = all[i+1 : i+end]
		break
	}
	depth := 0
	for i, t := range inside {
		if t.Text == ")" {
			depth--
		}
		if depth == 0 {
			outer = append(outer, i)
		}
		if t.Text == "(" {
			depth++
		}
	}
	return inside, outer
}
