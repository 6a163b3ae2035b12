package rules

import (
	"math"

	"mergesafe/internal/strict"
	"mergesafe/merge"
)

// counter reads one [[merge.counter]].
func counter(s *strict.Section) merge.CounterRow {
	need(s, "at", `want the column that counts, such as %s = "seq.next"`)
	need(s, "space", `want the space whose keys it counts, such as %s = "items.id"`)
	return merge.CounterRow{At: s.Text("at", place), Space: s.Text("space", strict.Label), When: when(s)}
}

// space reads one [[merge.space]].
func space(s *strict.Section) merge.Space {
	space := merge.Space{
		Name: s.Text("name", strict.Label), Step: uint64(s.Integer("step", 1, math.MaxInt64)), Max: uint64(s.Integer("max", 1, math.MaxInt64)),
	}
	if space.Keys = s.Texts("keys", place); len(space.Keys) != 1 && space.Name == "" {
		s.Lacks("name", `want what the space is called, such as name = "objects"; only one with a single key needs none`)
	}
	for source, offset := range s.Integers("offset", 0, math.MaxInt64) {
		if space.Offsets == nil {
			space.Offsets = make(map[string]uint64)
		}
		space.Offsets[source] = uint64(offset)
	}
	return space
}
