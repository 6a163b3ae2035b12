package keys

import (
	"fmt"
	"strconv"
	"strings"
)

// known are the formats of a cell.
const known = "list, regex, json, bits, records and array; words covers several columns; codec and exec are the game's own"

// Parse reads a format. An error says what is wrong, where, and what would be right.
func Parse(text string) (*Format, error) {
	steps, err := readSteps(text)
	if err != nil {
		return nil, err
	}
	f := &Format{text: text, number: digits{base: 10}}
	for i, s := range steps {
		s.last = i == len(steps)-1 || steps[i+1].name == "bits"
		f.add(s, i)
		if s.err != nil {
			return nil, s.err
		}
	}
	return f, nil
}

// add adds a step to a format.
func (f *Format) add(s *step, i int) {
	var find finder
	switch s.name {
	case "list":
		find, f.number = parseList(s)
	case "regex":
		find, f.number = parseRegex(s)
	case "json":
		find, f.number = parseJSON(s)
	case "records":
		find, f.number = parseRecords(s)
	case "array":
		find, f.number = parseArray(s)
	case "bits":
		if f.bits != nil || !s.last {
			s.fail(s.at, "bits must be the last format, and there can be only one")
		}
		f.bits = parseBits(s)
		return
	case "words":
		s.fail(s.at, "words covers several columns and cannot be the format of a cell")
	default:
		s.fail(s.at, "%q is not a format: known are %s", s.name, known)
	}
	f.steps = append(f.steps, find)
	if _, blob := f.number.(raw); blob && s.err == nil {
		for _, before := range f.steps[:i] {
			if _, ok := before.(jsonPath); ok {
				s.fail(s.at, "%s cannot follow json: a JSON string holds text, and %s reads bytes", s.name, s.name)
			}
		}
	}
}

// step is one format of those that are joined by then.
type step struct {
	text  string // all formats
	name  string
	at    int  // where it begins in the text
	last  bool // the keys are read as it says; else by the format after it
	words []word
	err   error // the first one
}

// word is one of the words after the name of a format: name, name=value or 'value'.
type word struct {
	at          int
	name, value string
	valued      bool // it has a value
	quoted      bool // in quotes, or in brackets
	used        bool
}

func (w *word) String() string {
	switch {
	case w.name == "":
		return "'" + w.value + "'"
	case w.name == "[]":
		return "[" + w.value + "]"
	case w.valued:
		return w.name + "=" + w.value
	default:
		return w.name
	}
}

// readSteps takes a text apart.
func readSteps(text string) (all []*step, err error) {
	s := &step{text: text, name: ""}
	for i := 0; s.err == nil; {
		for i < len(text) && text[i] == ' ' {
			i++
		}
		if i == len(text) {
			break
		}
		var w word
		w, i = s.cut(i)
		plain := !w.valued
		switch {
		case s.err != nil:
		case s.name == "" && (!plain || w.name == "then"):
			s.fail(w.at, "want the name of a format: %s", known)
		case s.name == "":
			s.name, s.at = w.name, w.at
		case plain && w.name == "then":
			all = append(all, s)
			s = &step{text: text}
		default:
			s.words = append(s.words, w)
		}
	}
	if s.err == nil && s.name == "" {
		s.fail(len(text), "want the name of a format: %s", known)
	}
	return append(all, s), s.err
}

// cut reads the word that begins at i, and returns where it ends.
func (s *step) cut(i int) (w word, end int) {
	w.at = i
	for i < len(s.text) && !strings.ContainsRune(" ='[", rune(s.text[i])) {
		i++
	}
	w.name = s.text[w.at:i]
	if i < len(s.text) && s.text[i] == '=' {
		i++
		w.valued = true
	}
	switch {
	case i == len(s.text) || s.text[i] == ' ':
	case s.text[i] == '\'' && (w.valued || w.name == ""):
		w.value, i = s.quote(i)
		w.quoted = true
	case s.text[i] == '[' && !w.valued && w.name == "":
		length := strings.IndexByte(s.text[i:], ']')
		if length < 0 {
			s.fail(i, "want ]")
			return w, i
		}
		w.value, i = s.text[i+1:i+length], i+length+1
		w.quoted, w.name = true, "[]"
	case w.valued:
		from := i
		for i < len(s.text) && s.text[i] != ' ' {
			i++
		}
		w.value = s.text[from:i]
	default:
		s.fail(i, "want a space or = before it")
	}
	w.valued = w.valued || w.quoted
	if i < len(s.text) && s.text[i] != ' ' {
		s.fail(i, "want a space; a quote in a text is written twice")
	}
	return w, i
}

// quote reads a text in quotes.
func (s *step) quote(i int) (value string, end int) {
	var b strings.Builder
	for j := i + 1; j < len(s.text); j++ {
		switch {
		case s.text[j] != '\'':
			b.WriteByte(s.text[j])
		case strings.HasPrefix(s.text[j:], "''"):
			b.WriteByte('\'')
			j++
		default:
			return b.String(), j + 1
		}
	}
	s.fail(i, "the quote is not closed")
	return "", len(s.text)
}

// fail notes an error, unless there is one already.
func (s *step) fail(at int, problem string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("format %.200q: at character %d: %s", s.text, at+1, fmt.Sprintf(problem, args...))
	}
}

// take returns a word by its name, nil if there is none. The name of a text in
// quotes alone is "", that of a list in brackets is "[]".
func (s *step) take(name string) *word {
	for i := range s.words {
		if w := &s.words[i]; w.name == name && !w.used {
			w.used = true
			return w
		}
	}
	return nil
}

// flag reports whether there is a word without a value.
func (s *step) flag(name string) bool {
	w := s.take(name)
	if w != nil && w.valued {
		s.fail(w.at, "%s has no value", name)
	}
	return w != nil
}

// textOf returns the text of name='...'.
func (s *step) textOf(name string) (text string, given bool) {
	w := s.take(name)
	if w == nil {
		return "", false
	}
	if !w.quoted {
		s.fail(w.at, "want %s='...'", name)
	}
	return w.value, true
}

// number returns the number of name=..., which must be within limits.
func (s *step) number(name string, least, most uint64) (n uint64, given bool) {
	w := s.take(name)
	if w == nil {
		return 0, false
	}
	n, ok := parseNumber(w.value)
	if !ok || w.quoted || n < least || n > most {
		s.fail(w.at, "want %s= and a number from %d to %d", name, least, most)
		return least, true
	}
	return n, true
}

// need is number of a word that must be there.
func (s *step) need(name string, least, most uint64) uint64 {
	n, given := s.number(name, least, most)
	if !given {
		s.fail(s.at, "%s needs %s=", s.name, name)
	}
	return n
}

// finish reports the words that nothing has asked for.
func (s *step) finish(right string) {
	for i := range s.words {
		w := &s.words[i]
		if w.used {
			continue
		}
		problem := "%s does not belong here; right is: %s"
		if !s.last {
			problem = "%s does not belong here, as the format after then reads the number; right is: %s"
		}
		s.fail(w.at, problem, w, right)
	}
}

// parseNumber reads a decimal number, or a hexadecimal one after 0x.
func parseNumber(text string) (n uint64, ok bool) {
	base := 10
	if rest, hex := strings.CutPrefix(text, "0x"); hex {
		text, base = rest, 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil
}
