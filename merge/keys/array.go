package keys

import "strings"

// array is a count, and then as many numbers, and nothing else:
//
//	array count=u32le elem=u64le
//	array count=u8 elem=u16be
//	array count=u32le elem=u64le then bits 0..31 tag 48..63=0x4000
//
// Types are u8, u16, u32 and u64, with le (the lowest byte first) or be (the highest). The
// key is a number from 0 that must fit into its type. A cell whose length is not what its
// count says is an error.
type array struct {
	count, elem raw
}

func parseArray(s *step) (finder, notation) {
	const right = "array count=u32le elem=u64le, with types from u8 to u64"
	if !s.last {
		s.fail(s.at, "only bits may follow array, because its elements are numbers")
	}
	a := array{parseType(s, "count"), parseType(s, "elem")}
	s.finish(right)
	return a, a.elem
}

// parseType reads the type of a number.
func parseType(s *step, name string) raw {
	at, text := s.at, ""
	if w := s.take(name); w != nil {
		at, text = w.at, w.value
	}
	for i, kind := range []string{"u8", "u16", "u32", "u64"} {
		end, ok := strings.CutPrefix(text, kind)
		if ok && (end == "le" || end == "be" || i == 0 && end == "") {
			return raw{length: 1 << i, big: end == "be"}
		}
	}
	s.fail(at, "want %s= with u8, u16le, u16be, u32le, u32be, u64le or u64be", name)
	return raw{length: 8}
}

func (a array) find(t part) (all []part, err error) {
	if t.to-t.from < a.count.length {
		return nil, t.fault(t.from, t.to, "want a count of %d bytes", a.count.length)
	}
	from := t.from + a.count.length
	count, room := a.count.number(t.source[t.from:from]), t.to-from
	if room%a.elem.length != 0 || count != uint64(room/a.elem.length) {
		return nil, t.fault(t.from, t.to, "the count is %d, but %d bytes follow; want %d for each", count, room, a.elem.length)
	}
	for ; from < t.to; from += a.elem.length {
		all = append(all, t.field(from, from+a.elem.length))
	}
	return all, nil
}
