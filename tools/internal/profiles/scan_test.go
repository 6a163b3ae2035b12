package profiles

import "strings"

// token is a piece of a program or of SQL.
type token struct {
	kind kind
	text string // of a literal: what it stands for; of a hole: the value as the program writes it
	line int
	of   string  // SQL: what is written before the name and a dot
	in   []token // SQL: what is in the parentheses
}

type kind byte

const (
	nothing kind = iota
	word
	name // in backquotes
	number
	literal
	sign
	hole  // a value of the program in SQL
	group // what is in parentheses
)

func (t token) is(text string) bool { return t.kind == sign && t.text == text }

// until is the length of a text up to an end and with it.
func until(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}

func letter(c byte) bool {
	return c == '_' || c == '$' || c == '@' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

var escapes = strings.NewReplacer(`\n`, "\n", `\r`, " ", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\\`, `\`, "\\\n", "")

// scan reads the tokens of a file by the end of its name.
func scan(text, ext string) (all []token) {
	lua, sql := ext == ".lua", ext == ".sql"
	line := 1
	for at := 0; at < len(text); {
		rest, c := text[at:], text[at]
		has := func(s string) bool { return strings.HasPrefix(rest, s) }
		t, n := token{kind: sign, text: rest[:1], line: line}, 1
		raw := func(open, end string) {
			n = len(open) + until(rest[len(open):], end)
			t.kind, t.text = literal, strings.TrimSuffix(rest[len(open):n], end)
		}
		switch {
		case c <= ' ' && c != '\x01':
			t.kind = nothing
		case lua && has("--[["):
			t.kind, n = nothing, until(rest, "]]")
		case !lua && has("/*"):
			t.kind, n = nothing, until(rest, "*/")
		case (lua || sql) && has("--"), !lua && !sql && has("//"), sql && c == '#':
			t.kind, n = nothing, until(rest, "\n")
		case has("#define "):
			t.text, n = "#define", len("#define")
		case c == '#' && !lua && !sql: // another directive of C
			for t.kind, n = nothing, until(rest, "\n"); strings.HasSuffix(rest[:n], "\\\n"); {
				n += until(rest[n:], "\n")
			}
		case ext == ".java" && has(`"""`):
			raw(`"""`, `"""`)
		case lua && has("[["):
			raw("[[", "]]")
		case has(`R"(`):
			raw(`R"(`, `)"`)
		case c == '`':
			raw("`", "`")
			if sql {
				t.kind = name
			}
		case c == '\x01':
			raw("\x01", "\x02")
			t.kind = hole
		case c == '"', c == '\'':
			for n < len(rest) && rest[n] != c && (rest[n] != '\n' || sql) {
				if rest[n] == '\\' {
					n++
				}
				n++
			}
			n = min(n+1, len(rest))
			t.kind, t.text = literal, strings.TrimSuffix(rest[1:n], string(c))
			if !sql {
				t.text = escapes.Replace(t.text)
			}
		case letter(c):
			for n < len(rest) && letter(rest[n]) {
				n++
			}
			if t.kind, t.text = word, rest[:n]; c >= '0' && c <= '9' {
				t.kind = number
			}
		case has("->"), has("::"), has(".."), has("<<"):
			t.text, n = rest[:2], 2
		}
		if t.kind != nothing {
			all = append(all, t)
		}
		line, at = line+strings.Count(rest[:n], "\n"), at+n
	}
	return all
}
