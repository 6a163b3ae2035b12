package keys

import "math"

// records are records of a fixed size, one after the other:
//
//	records size=16 at=3 len=4 le                  4 bytes from byte 3 of each 16, counted from 0
//	records size=16 at=3 len=4 be empty=0xFFFFFFFF the highest byte first; this number is no key
//	records size=32 at=0 len=16 then regex '...'   a text in each record
//
// le is the lowest byte first, be the highest; one byte needs neither. The key is a number
// from 0 that must fit into its bytes. A cell whose length is not a multiple of the size is
// an error. A format after then cannot change the length of what it gets.
type records struct{ size, at, length int }

func parseRecords(s *step) (finder, notation) {
	const right = "records size=16 at=3 len=4 le empty=0xFFFFFFFF (or be; empty= may be left out)"
	size := s.need("size", 1, math.MaxInt16)
	at := s.need("at", 0, size-1)
	most := size - at
	if s.last {
		most = min(most, 8)
	}
	r := records{size: int(size), at: int(at)}
	r.length = int(s.need("len", 1, most))
	n := raw{length: r.length}
	if s.last {
		little := s.flag("le")
		if n.big = s.flag("be"); n.big == little && (little || r.length > 1) {
			s.fail(s.at, "want le (lowest byte first) or be (highest first); right is: %s", right)
		}
		if s.err == nil {
			n.empty, n.empties = s.number("empty", 0, n.most())
		}
	}
	s.finish(right)
	return r, n
}

func (r records) find(t part) (all []part, err error) {
	if (t.to-t.from)%r.size != 0 {
		return nil, t.fault(t.from, t.to, "want records of %d bytes, but there are %d bytes", r.size, t.to-t.from)
	}
	for from := t.from + r.at; from < t.to; from += r.size {
		all = append(all, t.field(from, from+r.length))
	}
	return all, nil
}
