package keys

import (
	"bytes"
	"math"
	"strings"
)

// list is a list of elements with a separator between them:
//
//	list sep=' ' pos=0        element 0, counted from 0: it must be there
//	list sep=',' every        every element
//	list sep=',' every=2+1    the elements are groups of 2, and the key is element 1 of each
//	                          group, counted from 0: elements 1, 3, 5 and so on
//
// Separators at the end add no element, and are kept. An element that is a key must be a
// decimal number and cannot be empty; before then, it is what the next format reads. The
// other elements may be anything. A list that lacks the element at pos, or whose last group
// is not complete, is an error. A list without elements has no keys.
type list struct {
	sep   []byte
	pos   int // this element of each group
	group int // 0: the list is one group
}

func parseList(s *step) (finder, notation) {
	const right = "list sep=' ' pos=0, list sep=' ' every, or list sep=' ' every=2+1"
	sep, given := s.textOf("sep")
	if !given || sep == "" || strings.ContainsAny(sep, "0123456789") {
		s.fail(s.at, "want sep='...' with a text that has no digits; right is: %s", right)
	}
	l := list{sep: []byte(sep)}
	pos, one := s.number("pos", 0, math.MaxInt16)
	l.pos = int(pos)
	if w := s.take("every"); w != nil {
		l.group = 1
		if w.valued {
			count, offset, ok := strings.Cut(w.value, "+")
			n, first := parseNumber(count)
			k, second := parseNumber(offset)
			if !ok || !first || !second || n > math.MaxInt16 || k >= n {
				s.fail(w.at, "want every=2+1: how many elements a group has, and which one is the key, counted from 0")
			}
			l.group, l.pos = int(n), int(k)
		}
		if one {
			s.fail(w.at, "pos and every exclude each other; right is: %s", right)
		}
	} else if !one {
		s.fail(s.at, "want pos= or every; right is: %s", right)
	}
	s.finish(right)
	return l, digits{base: 10}
}

func (l list) find(t part) (all []part, err error) {
	end := t.to
	for bytes.HasSuffix(t.source[t.from:end], l.sep) {
		end -= len(l.sep)
	}
	if end == t.from {
		return nil, nil
	}
	if l.group > 0 {
		all = make([]part, 0, bytes.Count(t.source[t.from:end], l.sep)/l.group+1)
	}
	n := 0
	for from := t.from; ; n++ {
		length := bytes.Index(t.source[from:end], l.sep)
		to := from + length
		if length < 0 {
			to = end
		}
		if n == l.pos || l.group > 0 && n%l.group == l.pos {
			all = append(all, t.sub(from, to))
		}
		if length < 0 {
			break
		}
		from = to + len(l.sep)
	}
	n++
	switch {
	case l.group == 0 && n <= l.pos:
		return nil, t.fault(t.from, t.to, "want element %d, counted from 0, but the list has %d", l.pos, n)
	case l.group > 0 && n%l.group != 0:
		return nil, t.fault(t.from, t.to, "want groups of %d, but the list has %d elements", l.group, n)
	}
	return all, nil
}
