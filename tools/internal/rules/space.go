package rules

import (
	"fmt"
	"math"
	"path/filepath"

	"mergesafe/internal/strict"
	"mergesafe/merge/declare"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer"
)

// counter reads one [[merge.counter]].
func counter(s *strict.Section) declare.CounterRow {
	need(s, "at", `want the column that counts, such as %s = "seq.next", or the name of a sequence`)
	need(s, "space", `want the space whose keys it counts, such as %s = "items.id"`)
	if s.Has("others") && !s.Has("when") {
		s.Lacks("when", `want the rows that the counter covers, such as when = { column = "name", is = ["item"] }`)
	}
	return declare.CounterRow{At: s.Text("at", strict.Label), Space: s.Text("space", strict.Label), When: when(s), Others: s.Text("others", others)}
}

// space reads one [[propose.space]].
func space(s *strict.Section, file string) declare.Space {
	space := declare.Space{
		Name: s.Text("name", strict.Label), Step: uint64(s.Integer("step", 1, math.MaxInt64)), Max: uint64(s.Integer("max", 1, math.MaxInt64)),
	}
	space.Keys = s.Texts("keys", place)
	if s.Has("match") && !s.Has("keys") {
		s.Lacks("keys", `want the key of the table that match names, such as keys = ["accounts.id"]`)
	} else if len(space.Keys) != 1 && space.Name == "" {
		s.Lacks("name", `want a name for the space, such as name = "objects"; only a space with a single key needs none`)
	}
	space.Keep = s.Text("keep", kept)
	space.Match = s.Texts("match", place)
	if other := s.Text("map", strict.Label); other != "" {
		if !filepath.IsAbs(other) {
			other = filepath.Join(filepath.Dir(file), other)
		}
		name := space.Name
		if name == "" && len(space.Keys) == 1 {
			name = space.Keys[0]
		}
		var err error
		if space.Map, err = transfer.MapFromPlan(other, name); err != nil {
			s.Problem("map", "%v", err)
		}
	}
	for source, offset := range s.Integers("offset", 0, math.MaxInt64) {
		if space.Offsets == nil {
			space.Offsets = make(map[string]uint64)
		}
		space.Offsets[source] = uint64(offset)
	}
	return space
}

// kept says what is wrong with keys that are kept.
func kept(s string) string {
	if _, err := rekey.ParseValues(false, []string{s}); err != nil || s == "" {
		return fmt.Sprintf("is %.40q: want a key, or a bound such as %q", s, "<1000")
	}
	return ""
}
