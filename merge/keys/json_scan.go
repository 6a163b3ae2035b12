package keys

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonScanner reads JSON byte by byte, as strictly as encoding/json, and notes where the
// values at a path are.
type jsonScanner struct {
	part
	at    int
	deep  int
	path  jsonPath
	found []part
	err   error
}

// maxJSON is how deep values may lie in each other, as in encoding/json.
const maxJSON = 10000

// off is the step of a value that the path does not lead to.
const off = -1

func (s *jsonScanner) fail(problem string, args ...any) {
	if s.err == nil {
		s.err = s.fault(s.at, s.to, problem, args...)
	}
}

func (s *jsonScanner) space() {
	for s.at < s.to && strings.IndexByte(" \t\r\n", s.source[s.at]) >= 0 {
		s.at++
	}
}

// peek returns the next byte, 0 at the end.
func (s *jsonScanner) peek() byte {
	if s.err != nil || s.at >= s.to {
		return 0
	}
	return s.source[s.at]
}

// skip reads a byte, if it is the next.
func (s *jsonScanner) skip(c byte) bool {
	if c != s.peek() {
		return false
	}
	s.at++
	return true
}

// value reads a value. The path leads to it if step is not off: the steps from there on
// lead into it.
func (s *jsonScanner) value(step int) {
	from := s.at
	switch c := s.peek(); {
	case c == '{':
		if s.enters(step, false); s.err == nil {
			s.members('{', '}', func() { s.member(step) })
		}
	case c == '[':
		if s.enters(step, true); s.err == nil {
			n := 0
			s.members('[', ']', func() { s.element(step, n); n++ })
		}
	case c == '"':
		s.str()
		s.scalar(step, from)
	case c == '-' || c >= '0' && c <= '9':
		s.number()
		s.scalar(step, from)
	case s.word("null"):
	case s.word("true"), s.word("false"):
		if step != off && s.err == nil {
			s.at = from
			s.fail("%s", s.want(step))
		}
	default:
		s.fail("want a JSON value")
	}
}

// want says what the path leads to.
func (s *jsonScanner) want(step int) string {
	switch {
	case step < len(s.path.steps) && s.path.steps[step].array:
		return "want an array for the path's " + s.path.steps[step].String()
	case step < len(s.path.steps):
		return "want an object for the path's " + s.path.steps[step].String()
	case s.path.text:
		return "want a string or a number at the end of the path"
	default:
		return "want a whole number, or a string of one, at the end of the path"
	}
}

// enters fails unless the path leads into an array, or else an object, or not to it at all.
func (s *jsonScanner) enters(step int, array bool) {
	if step != off && (step == len(s.path.steps) || s.path.steps[step].array != array) {
		s.fail("%s", s.want(step))
	}
}

// scalar notes a string or a number that has been read, if the path ends there.
func (s *jsonScanner) scalar(step, from int) {
	switch {
	case step == off || s.err != nil:
	case step < len(s.path.steps):
		s.at = from
		s.fail("%s", s.want(step))
	case s.source[from] != '"':
		s.found = append(s.found, s.sub(from, s.at))
	default:
		s.found = append(s.found, s.unescape(from+1, s.at-1))
	}
}

// members reads what is between two brackets, with commas between.
func (s *jsonScanner) members(open, shut byte, one func()) {
	if s.deep++; s.deep > maxJSON {
		s.fail("the JSON is more than %d levels deep", maxJSON)
	}
	s.skip(open)
	s.space()
	for more := !s.skip(shut); more && s.err == nil; {
		s.space()
		one()
		s.space()
		if more = s.skip(','); !more && !s.skip(shut) {
			s.fail("want a comma or %c", shut)
		}
	}
	s.deep--
}

func (s *jsonScanner) member(step int) {
	from := s.at
	s.str()
	if s.err != nil {
		return
	}
	next := off
	if step != off {
		if want := s.path.steps[step]; want.all || want.name == string(s.unescape(from+1, s.at-1).bytes()) {
			next = step + 1
		}
	}
	s.space()
	if !s.skip(':') {
		s.fail("want a colon")
	}
	s.space()
	s.value(next)
}

func (s *jsonScanner) element(step, n int) {
	if step != off {
		if want := s.path.steps[step]; want.all || want.index == n {
			step++
		} else {
			step = off
		}
	}
	s.value(step)
}

func (s *jsonScanner) word(w string) bool {
	if !bytes.HasPrefix(s.source[s.at:s.to], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

// number reads a number of any kind.
func (s *jsonScanner) number() {
	s.skip('-')
	if !s.skip('0') {
		s.digits()
	}
	if s.skip('.') {
		s.digits()
	}
	if s.skip('e') || s.skip('E') {
		_ = s.skip('+') || s.skip('-')
		s.digits()
	}
}

// digits reads one digit or more.
func (s *jsonScanner) digits() {
	from := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	if from == s.at {
		s.fail("want a digit")
	}
}

// str reads a string.
func (s *jsonScanner) str() {
	if !s.skip('"') {
		s.fail("want a string")
	}
	for s.err == nil {
		switch c := s.peek(); {
		case s.at >= s.to:
			s.fail("the string is not closed")
		case c < ' ':
			s.fail("a string cannot contain this byte")
		case c == '"':
			s.at++
			return
		case c == '\\':
			if s.at+1 >= s.to || s.escape() == 0 {
				s.fail("this is not a valid escape")
			}
			s.at += s.escape()
		default:
			s.at++
		}
	}
}

// escape returns how long the escape at a backslash is, 0 if it is none.
func (s *jsonScanner) escape() int {
	rest := s.source[s.at+1 : s.to]
	switch {
	case len(rest) >= 5 && rest[0] == 'u':
		if _, err := strconv.ParseUint(string(rest[1:5]), 16, 16); err != nil {
			return 0
		}
		return 6
	case len(rest) >= 1 && strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0:
		return 2
	default:
		return 0
	}
}

// unescape returns what a string says whose content lies from one byte to another.
func (s *jsonScanner) unescape(from, to int) part {
	if bytes.IndexByte(s.source[from:to], '\\') < 0 {
		return s.sub(from, to)
	}
	var b []byte
	var places []int
	for i := from; i < to; {
		length, before := 1, len(b)
		if s.source[i] == '\\' {
			b, length = appendEscape(b, s.source[i:to])
		} else {
			b = append(b, s.source[i])
		}
		for range len(b) - before {
			places = append(places, s.position(i))
		}
		i += length
	}
	return part{source: b, to: len(b), places: append(places, s.position(to)), fixed: s.fixed}
}

// appendEscape appends what the escape at the beginning of a text says.
func appendEscape(b, text []byte) (result []byte, length int) {
	if text[1] != 'u' {
		plain := "\"\\/\b\f\n\r\t"[strings.IndexByte(`"\/bfnrt`, text[1])]
		return append(b, plain), 2
	}
	unit := func(i int) rune {
		if len(text) < i+6 || text[i] != '\\' || text[i+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(text[i+2:i+6]), 16, 16)
		return rune(n)
	}
	r, length := unit(0), 6
	if utf16.IsSurrogate(r) {
		if r = utf16.DecodeRune(r, unit(6)); r != utf8.RuneError {
			length = 12
		}
	}
	return utf8.AppendRune(b, r), length
}
