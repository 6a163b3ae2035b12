package numbers

import "mergesafe/gameid"

// Which numbers a source may give out, without their check digits:
//
//	1, ... 8, 10, ... 89, 100, ... 899, 1000, ...     a fleet registry
//	9 1 7 0000, ... 9 1 7 9999, 9 1 7 00000, ...      server 7 without one
//	9 2 12 0000, ... 9 2 12 9999, 9 2 12 00000, ...   server 12 without one
//
// A number that begins with 9 is from a world without a fleet registry. The next
// digit says how many digits its server has, then comes the server,
// and then at least four digits that count. So the first digits name the
// server, and two servers never have the same number. No server has a
// number of the fleet registry, so a world can change to a fleet registry.

// numberDigits is how many digits number.Max has.
const numberDigits = 15

// countDigits is how many digits count in the first numbers of a share. When
// these numbers are used up, one more digit counts.
const countDigits = 4

// span is a run of numbers: from first up to, but not including, end.
type span struct{ first, end int64 }

// space is all numbers of one source, ascending.
type space []span

// fleetSpace returns all numbers of a fleet registry of up to so many digits.
func fleetSpace(digits int) (s space) {
	scale := int64(1)
	for range digits {
		s = append(s, span{scale, 9 * scale})
		scale *= 10
	}
	return s
}

// shareSpace returns all numbers of a server of up to so many digits.
func shareSpace(server gameid.ServerID, digits int) (s space) {
	length, scale := 1, int64(10)
	for ; int64(server) >= scale; length++ {
		scale *= 10
	}
	prefix := (90+int64(length))*scale + int64(server)
	scale = 1
	for count := 1; 2+length+count <= digits; count++ {
		if scale *= 10; count >= countDigits {
			s = append(s, span{prefix * scale, (prefix + 1) * scale})
		}
	}
	return s
}

// from returns the first span that has n or greater numbers. It reports false
// if there is none.
func (s space) from(n int64) (span, bool) {
	for _, sp := range s {
		if n < sp.end {
			return sp, true
		}
	}
	return span{}, false
}
