package cell

import (
	"math"
	"regexp"
)

// regex is a regular expression of package regexp:
//
//	regex 'item:([0-9]+)'                     decimal, the first group
//	regex '<(a|b)=([0-9a-f]+)>' group=2 base=16
//	regex '^([0-9A-F]{8}):' base=16 upper width=8 pad='0'
//
// The key is one group of every match in the cell; group=0 is the whole match. A group
// that takes no part in a match, as in 'id=([0-9]+)|none', is no key. A cell without any
// match is an error: the expression must say what else there may be.
//
// Without width= a number may grow, and only a part of a number, such as 3 digits of 4711,
// is an error. With width= it always has this many characters, with pad= before it; fields
// may then stand side by side.
type regex struct {
	expression *regexp.Regexp
	group      int
}

func parseRegex(s *step) (finder, notation) {
	const right = "regex '...' group=1 base=10 or 16 upper width=8 pad='0'"
	text, given := s.textOf("")
	if !given {
		s.fail(s.at, "want an expression in quotes; right is: %s", right)
	}
	expression, err := regexp.Compile(text)
	if err != nil {
		s.fail(s.at, "%v", err)
		return regex{}, digits{}
	}
	r := regex{expression, 1}
	if group, given := s.number("group", 0, math.MaxInt16); given {
		r.group = int(group)
	}
	if groups := expression.NumSubexp(); r.group > groups {
		s.fail(s.at, "want a group from 0 to %d: the expression has %d", groups, groups)
	}
	number := digits{base: 10}
	if s.last {
		number = parseDigits(s)
	}
	s.finish(right)
	return r, number
}

func (r regex) find(t part) (all []part, err error) {
	matches := r.expression.FindAllSubmatchIndex(t.bytes(), -1)
	if len(matches) == 0 {
		return nil, t.fault(t.from, t.to, "the expression %.80q does not match", r.expression.String())
	}
	for _, m := range matches {
		if from, to := m[2*r.group], m[2*r.group+1]; from >= 0 {
			all = append(all, t.sub(t.from+from, t.from+to))
		}
	}
	return all, nil
}
