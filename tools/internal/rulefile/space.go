package rulefile

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"mergesafe/internal/strict"
	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/rules"
)

// counter reads one [[merge.counter]].
func counter(s *strict.Section) rules.CounterRow {
	need(s, "at", `want the column that counts, such as %s = "seq.next", or the name of a sequence`)
	need(s, "to", `want the space whose keys it counts, such as %s = "items.id"`)
	if s.Has("others") && !s.Has("when") {
		s.Lacks("when", `want the rows that the counter covers, such as when = { column = "name", is = ["item"] }`)
	}
	c := rules.CounterRow{
		At: strings.Join(one(s, "at", strict.Label), ""), Space: s.Text("to", strict.Label),
		When: when(s), Others: s.Text("others", others),
	}
	s.Only("others", rules.OthersPlain)
	return c
}

// space reads one [[merge.space]].
func space(s *strict.Section, file string) rules.Space {
	space := rules.Space{Name: s.Text("name", strict.Label), Keys: s.Texts("keys", place)}
	if s.Has("match") && !s.Has("keys") {
		s.Lacks("keys", `want the key of the table in match, such as keys = ["accounts.id"]`)
	} else if len(space.Keys) != 1 && space.Name == "" {
		if s.Know("name"); !s.Asked() {
			s.Lacks("name", `want a name for the space, such as name = "objects"; only a space with a single key needs none`)
		}
	}
	space.Keep = s.Text("keep", kept)
	space.Max = uint64(s.Integer("max", 1, math.MaxInt64))
	const want = `a number whose multiples are added, such as offset = 10_000_000, or the number added to the ` +
		`keys of each source, such as offset = { s2 = 20_000_000 }, or the plan of another merge that gave these keys new values`
	for _, kind := range s.Kinds("offset", want, "integer", "table", "text") {
		switch kind {
		case "integer":
			space.Step = uint64(s.Integer("offset", 1, math.MaxInt64))
		case "text":
			space.Map = mapFrom(s, file, space)
		default:
			for source, offset := range s.Integers("offset", 0, math.MaxInt64) {
				if space.Offsets == nil {
					space.Offsets = make(map[string]uint64)
				}
				space.Offsets[source] = uint64(offset)
			}
		}
	}
	space.Match = s.Texts("match", place)
	return space
}

// mapFrom reads the name of a plan in offset, and what the plan says of the space.
func mapFrom(s *strict.Section, file string, space rules.Space) *rules.MapFrom {
	other := s.Text("offset", strict.Label)
	if other == "" {
		return nil
	}
	if !filepath.IsAbs(other) {
		other = filepath.Join(filepath.Dir(file), other)
	}
	name := space.Name
	if name == "" && len(space.Keys) == 1 {
		name = space.Keys[0]
	}
	found, err := merge.MapFromPlan(other, name)
	if err != nil {
		s.Problem("offset", "%v", err)
	}
	return found
}

// kept says what is wrong with keys that are kept.
func kept(s string) string {
	if _, err := keys.ParseValues([]string{s}); err != nil || s == "" {
		return fmt.Sprintf("is %.40q: want a key, or a bound such as %q", s, "<1000")
	}
	return ""
}
