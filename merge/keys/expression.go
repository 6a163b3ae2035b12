package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// Expression takes the server of a world out of a key: "id / 10_000_000 % 10_000",
// "id >> 22 & 1023". It knows id, numbers, + - * / % >> << & | and parentheses, as Go
// does, on whole numbers from 0 to 2^64-1.
type Expression struct {
	text string
	eval func(id uint64) uint64
}

func (e *Expression) String() string { return e.text }

// Of returns the server of a key; ok is false for a key below 0.
func (e *Expression) Of(key Integer) (world uint64, ok bool) {
	if key.Negative {
		return 0, false
	}
	return e.eval(key.Bits), true
}

// ParseExpression reads an expression.
func ParseExpression(text string) (*Expression, error) {
	p := &expressionParser{text: text}
	e := p.sum()
	if p.skip(); p.err == nil && p.at < len(text) {
		p.fail("want an operator")
	}
	if p.err == nil && !p.id {
		p.fail("it does not contain id, the key")
	}
	return &Expression{text, e}, p.err
}

// expressionParser reads an expression by recursive descent, with two precedences, as Go
// has them: * / % >> << & before + - |.
type expressionParser struct {
	text string
	at   int
	id   bool // was read
	deep int
	err  error
}

func (p *expressionParser) fail(problem string) {
	if p.err == nil {
		p.err = fmt.Errorf("%.60q: at character %d: %s", p.text, p.at+1, problem)
	}
}

func (p *expressionParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// operator reads one of these, "" if there is none.
func (p *expressionParser) operator(all ...string) string {
	p.skip()
	for _, op := range all {
		if strings.HasPrefix(p.text[p.at:], op) {
			p.at += len(op)
			return op
		}
	}
	return ""
}

func (p *expressionParser) sum() func(uint64) uint64 {
	left := p.product()
	for p.err == nil {
		op := p.operator("+", "-", "|")
		if op == "" {
			break
		}
		a, b := left, p.product()
		switch op {
		case "+":
			left = func(id uint64) uint64 { return a(id) + b(id) }
		case "-":
			left = func(id uint64) uint64 { return a(id) - b(id) }
		case "|":
			left = func(id uint64) uint64 { return a(id) | b(id) }
		}
	}
	return left
}

func (p *expressionParser) product() func(uint64) uint64 {
	left := p.value()
	for p.err == nil {
		op := p.operator("*", "/", "%", ">>", "<<", "&")
		if op == "" {
			break
		}
		start := p.at
		a, b := left, p.value()
		if p.err == nil && (op == "/" || op == "%") && (strings.Contains(p.text[start:p.at], "id") || b(0) == 0) {
			p.at = start
			p.fail("want a number above 0 to divide by")
		}
		switch op {
		case "*":
			left = func(id uint64) uint64 { return a(id) * b(id) }
		case "/":
			left = func(id uint64) uint64 { return a(id) / b(id) }
		case "%":
			left = func(id uint64) uint64 { return a(id) % b(id) }
		case ">>":
			left = func(id uint64) uint64 { return a(id) >> b(id) }
		case "<<":
			left = func(id uint64) uint64 { return a(id) << b(id) }
		case "&":
			left = func(id uint64) uint64 { return a(id) & b(id) }
		}
	}
	return left
}

func (p *expressionParser) value() func(uint64) uint64 {
	none := func(uint64) uint64 { return 0 }
	if p.operator("(") != "" {
		if p.deep++; p.deep > 50 {
			p.fail("too many parentheses")
			return none
		}
		inner := p.sum()
		if p.err == nil && p.operator(")") == "" {
			p.fail("want )")
		}
		return inner
	}
	if p.operator("id") != "" {
		p.id = true
		return func(id uint64) uint64 { return id }
	}
	start := p.at
	for p.at < len(p.text) && (p.text[p.at] >= '0' && p.text[p.at] <= '9' || p.text[p.at] == '_') {
		p.at++
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(p.text[start:p.at], "_", ""), 10, 64)
	if err != nil {
		p.at = start
		p.fail("want id, a number or (")
		return none
	}
	return func(uint64) uint64 { return n }
}
