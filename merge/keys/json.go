package keys

import (
	"strconv"
	"strings"
)

// jsonPath is a path into JSON (RFC 8259):
//
//	json '$.owner'             the member owner of an object
//	json '$.items[*].id'       every element of an array
//	json '$.slots[0]'          one element, counted from 0
//	json '$.guilds.*.id'       every member of an object
//	json '$["two words"].id'   a name with other characters in it
//	json '$'                   the whole text
//
// At the end of the path there must be a whole number, or a string that is one, which then
// stays a string. A number with a fraction or an exponent is an error. A member or an
// element that is not there, and null, are no keys; everything else that the path does not
// lead through or to is an error. If an object has a name twice, both members count.
//
// Before then, the path leads to a string, and the next format reads what the string says:
// JSON within JSON strings, for instance. Escapes in it stay as they are; only a number that
// is written with escapes is an error.
type jsonPath struct {
	steps []jsonStep
	text  bool // it leads to strings for the next format
}

// jsonStep leads from a value to some of those in it.
type jsonStep struct {
	array bool
	all   bool
	name  string
	index int
}

// String names the step as the path does.
func (s jsonStep) String() string {
	switch {
	case s.array && s.all:
		return "[*]"
	case s.array:
		return "[" + strconv.Itoa(s.index) + "]"
	case s.all:
		return ".*"
	default:
		return "." + s.name
	}
}

func parseJSON(s *step) (finder, notation) {
	const right = "json '$.owner', json '$.items[*].id', json '$.slots[0]' or json '$.guilds.*.id'"
	path, given := s.textOf("")
	rest, ok := strings.CutPrefix(path, "$")
	p := jsonPath{text: !s.last}
	for ok = ok && given; ok && rest != ""; {
		var next jsonStep
		next, rest, ok = cutStep(rest)
		p.steps = append(p.steps, next)
	}
	if !ok {
		s.fail(s.at, "want a path in quotes; right is: %s", right)
	}
	s.finish(right)
	return p, digits{base: 10}
}

// cutStep reads the first step of a path.
func cutStep(path string) (step jsonStep, rest string, ok bool) {
	if name, dot := strings.CutPrefix(path, "."); dot {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		step.name, rest = name[:end], name[end:]
		step.all = step.name == "*"
		return step, rest, step.name != "" && !strings.ContainsAny(step.name, "]'\" ~?@()")
	}
	if name, quoted := strings.CutPrefix(path, `["`); quoted {
		step.name, rest, ok = strings.Cut(name, `"]`)
		return step, rest, ok
	}
	index, rest, ok := strings.Cut(path, "]")
	index, bracket := strings.CutPrefix(index, "[")
	step.array, step.all = true, index == "*"
	if !step.all {
		n, err := strconv.ParseUint(index, 10, 31)
		step.index = int(n)
		ok = ok && err == nil
	}
	return step, rest, ok && bracket
}

func (p jsonPath) find(t part) ([]part, error) {
	s := &jsonScanner{part: t, at: t.from, path: p}
	s.space()
	s.value(0)
	s.space()
	if s.err == nil && s.at < t.to {
		s.fail("want the end of the JSON")
	}
	return s.found, s.err
}
