package profiles

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// statement is a text that begins like SQL, as a program puts it together.
type statement struct {
	at   string // file:line
	text string // with a mark for each value of the program
}

// program is a file of a program while it is read.
type program struct {
	*reader
	file, ext string
	all       []token
	open      []int                 // brackets
	current   map[string]*statement // by the variable that has it
}

var (
	begins   = regexp.MustCompile(`(?i)^[\s(]*(SELECT|INSERT|REPLACE|UPDATE|DELETE)\b`)
	appends  = regexp.MustCompile(`(?i)^$|append|printf|cat$|write`)
	percent  = regexp.MustCompile(`%%|%[-+ #0]*(\d+|\*)?(\.(\d+|\*))?(hh|h|ll|l|z|j|t|I64)?[a-zA-Z]`)
	braces   = regexp.MustCompile(`\{\{|\}\}|\{[^{}]*\}`)
	macro    = regexp.MustCompile(`^PR[A-Za-z]+|FMTD$`)
	called   = regexp.MustCompile(`(?:(\w+)(?:\.|->|::|:))?(\w+)$`)
	assigned = regexp.MustCompile(`(\w+)(?:<<|=\w+(?:\.\.|\+)|[:+]?=[\w.:>()-]*\(|[:+]?=)$`)
)

func (p *program) tok(i int) token {
	if i < 0 || i >= len(p.all) {
		return token{kind: sign}
	}
	return p.all[i]
}

// read reads the statements of a file.
func (p *program) read() {
	for i := 0; i < len(p.all); {
		switch t := p.all[i]; {
		case t.kind == literal:
			i = p.literal(i)
			continue
		case t.kind == sign && strings.Contains("([{", t.text):
			p.open = append(p.open, i)
		case t.kind == sign && strings.Contains(")]}", t.text):
			p.open = p.open[:max(0, len(p.open)-1)]
		}
		i++
	}
}

// written is what the program writes from one token to another.
func (p *program) written(from, to int) string {
	var b strings.Builder
	for i := max(0, from); i < min(to, len(p.all)); i++ {
		switch t := p.all[i]; {
		case t.kind == literal:
			b.WriteString(strconv.Quote(t.text))
		case t.is("->"):
			b.WriteByte('.')
		case i > from && (t.kind == word || t.kind == number) && slices.Contains([]kind{word, number}, p.all[i-1].kind):
			b.WriteString(" " + t.text)
		default:
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// before is what is written before i in the same statement.
func (p *program) before(i int) string {
	from := i
	for from > 0 && i-from < 40 && !p.all[from-1].is(";") && !p.all[from-1].is("{") {
		from--
	}
	return p.written(from, i)
}

// literal reads the literal at i with all that is joined to it, and returns what comes after.
func (p *program) literal(i int) int {
	text, after := p.chain(i)
	p.name(i, text, after)
	if len(p.current) == 0 && !begins.MatchString(text) {
		return after
	}
	callee, before, open := "", p.before(i), -1
	var vars []string
	if len(p.open) > 0 && p.all[p.open[len(p.open)-1]].is("(") {
		open = p.open[len(p.open)-1]
	}
	if m := assigned.FindStringSubmatch(before); m != nil {
		vars = []string{m[1]}
	}
	if !strings.HasSuffix(before, "=") && !strings.HasSuffix(before, "<<") && open >= 0 {
		m := append(called.FindStringSubmatch(p.before(open)), "", "", "")
		callee, vars = m[2], append(vars, m[1])
		if open+1 < i {
			vars = append(vars, p.args(open)[0])
		}
	}
	switch {
	case p.tok(after).is(",") && p.ext != ".java" || p.tok(after).is(",") && callee == "format":
		args := p.args(after)
		directive := percent
		if p.inC() && strings.HasSuffix(callee, "format") {
			directive = braces
		}
		text = p.fill(directive, text, args)
	case p.tok(after).is(")") && p.tok(after+2).text == "format": // ("..."):format(a, b) of Lua
		text = p.fill(percent, text, p.args(after+3))
	}
	if !begins.MatchString(text) {
		for _, v := range vars {
			if st := p.current[v]; st != nil && appends.MatchString(callee) {
				st.text += text
				break
			}
		}
		return after
	}
	st := &statement{at: fmt.Sprintf("%s:%d", p.file, p.all[i].line), text: text}
	p.statements = append(p.statements, st)
	for _, v := range vars {
		p.current[v] = st
	}
	return after
}

func (p *program) inC() bool { return p.ext != ".lua" && p.ext != ".java" && p.ext != ".go" }

// chain joins literals and values from i on, as the language does.
func (p *program) chain(i int) (text string, after int) {
	text = p.all[i].text
	for i++; i < len(p.all); {
		t := p.all[i]
		switch {
		case t.kind == literal && p.inC():
			text += t.text
			i++
		case t.kind == word && p.inC() && (p.tok(i+1).kind == literal || p.tok(i+1).kind == sign):
			if macro.MatchString(t.text) && strings.HasSuffix(text, "%") {
				text += "d"
			} else if !strings.HasPrefix(t.text, "_") && t.text != "sv" { // another macro, and no suffix
				text += p.hole(t.text)
			}
			i++
		case t.is("+") && p.ext != ".lua", t.is("..") && p.ext == ".lua", t.is("<<"):
			end := p.operand(i + 1)
			if one := p.tok(i + 1); one.kind == literal {
				text += one.text
			} else if end > i+1 {
				text += p.hole(p.written(i+1, end))
			} else {
				return text, i
			}
			i = end
		default:
			return text, i
		}
	}
	return text, i
}

// hole makes the mark of a value of the program.
func (r *reader) hole(value string) string {
	r.holes = append(r.holes, value)
	return fmt.Sprintf("\x01%d\x02", len(r.holes)-1)
}

// operand returns the end of the value that begins at i.
func (p *program) operand(i int) int {
	for p.tok(i).kind == sign && p.tok(i).text != "" && strings.Contains("*&-#!", p.tok(i).text) {
		i++
	}
	if p.tok(i).is("(") {
		i = p.closed(i)
	} else if p.tok(i).kind == sign {
		return i
	}
	for i++; ; {
		switch t := p.tok(i); {
		case t.is("("), t.is("["):
			i = p.closed(i) + 1
		case t.is("<") && strings.HasSuffix(p.tok(i-1).text, "_cast"):
			i += 3
		case (t.is(".") || t.is("->") || t.is("::") || t.is(":") && p.ext == ".lua") && p.tok(i+1).kind == word:
			i += 2
		default:
			return i
		}
	}
}

// closed returns the place of the bracket that closes the one at i.
func (p *program) closed(i int) int {
	for depth := 0; i < len(p.all); i++ {
		if t := p.all[i]; t.kind == sign && strings.Contains("([{", t.text) {
			depth++
		} else if t.kind == sign && strings.Contains(")]}", t.text) {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(p.all)
}

// args returns the values that follow the comma or bracket at i, up to the end of the brackets.
func (p *program) args(i int) (all []string) {
	start := i + 1
	for i = start; i < len(p.all); i++ {
		switch t := p.all[i]; {
		case t.is("("), t.is("["), t.is("{"):
			i = p.closed(i)
		case t.is(","), t.is(";"), t.is(")"), t.is("]"), t.is("}"):
			all = append(all, p.written(start, i))
			if start = i + 1; !t.is(",") {
				return all
			}
		}
	}
	return append(all, "")
}

// fill puts marks in the place of the directives of a format.
func (p *program) fill(directive *regexp.Regexp, text string, args []string) string {
	n := 0
	return directive.ReplaceAllStringFunc(text, func(d string) string {
		if d == "%%" || d == "{{" || d == "}}" {
			return d[:1]
		}
		if n += strings.Count(d, "*"); n >= len(args) {
			return d
		}
		n++
		return p.hole(args[n-1])
	})
}

// name notes a name that the program gives to a text: char_db[256] = "char", safestrncpy(char_db, "char", ...).
func (p *program) name(i int, text string, after int) {
	j := i - 2
	switch {
	case p.tok(i - 2).is("#define"):
		j = i - 1
	case p.tok(i-1).is(",") && (p.tok(after).is(",") || p.tok(after).is(")")):
	case p.tok(i-1).is("=") && p.tok(j).is("]"):
		for j--; !p.tok(j+1).is("[") && j > 0; {
			j--
		}
	case !p.tok(i - 1).is("="):
		return
	}
	if n := p.tok(j); n.kind == word && !begins.MatchString(text) && !slices.Contains(p.values[n.text], text) {
		p.values[n.text] = append(p.values[n.text], text)
	}
}
