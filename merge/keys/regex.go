package keys

import (
	"math"
	"regexp"
)

// regex is a regular expression of package regexp:
//
//	regex 'item:([0-9]+)'                     decimal, the group
//	regex '<(a|b)=([0-9a-f]+)>' group=2 base=16
//	regex '^([0-9A-F]{8}):' base=16 upper width=8 pad='0'
//
// The key is one group of every match in the cell; group=0 is the whole match. With several
// groups, group= must be there; (?:...) is none. A group
// that takes no part in a match, as in 'id=([0-9]+)|none', is no key. A cell without any
// match is an error: the expression must say what else there may be. Bytes that are in no
// match may be anything, unless the expression has ^ and $.
//
// Without width= a number may grow. With width= it always has this many characters, with
// the pad character ('0' if pad= is left out) before it as often as needed.
//
// Only a part of a number, such as 3 digits of 4711, is an error. Fields of a fixed width
// may stand side by side, if the expression matches them both: '^([0-9]{8})[0-9]{8}$'.
type regex struct {
	expression *regexp.Regexp
	group      int
	number     digits
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
	r := regex{expression, 1, digits{base: 10}}
	group, given := s.number("group", 0, math.MaxInt16)
	if given {
		r.group = int(group)
	}
	switch groups := expression.NumSubexp(); {
	case groups == 0 && !given:
		s.fail(s.at, "the expression has no group: put the key in parentheses, or write group=0 if the whole match is the key")
	case r.group > groups:
		s.fail(s.at, "want a group from 0 to %d: the expression has %d", groups, groups)
	case groups > 1 && !given:
		s.fail(s.at, "the expression has %d groups: say which one is the key, such as group=1; if others are keys too, each needs its own reference; "+
			"a group that is not a key can be written (?:...)", groups)
	}
	if s.last {
		r.number = parseDigits(s)
	}
	s.finish(right)
	return r, r.number
}

func (r regex) find(t part) (all []part, err error) {
	matches := r.expression.FindAllSubmatchIndex(t.bytes(), -1)
	if len(matches) == 0 {
		return nil, t.fault(t.from, t.to, "the expression %.80q does not match", r.expression.String())
	}
	for _, m := range matches {
		from, to := m[2*r.group], m[2*r.group+1]
		if from < 0 {
			continue
		}
		found := t.sub(t.from+from, t.from+to)
		if r.number.width > 0 && (from == m[0] && r.number.cutBefore(found) || to == m[1] && r.number.cutAfter(found)) {
			return nil, cutFault(found)
		}
		all = append(all, found)
	}
	return all, nil
}
