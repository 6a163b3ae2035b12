package suggest

import (
	"strings"

	"mergesafe/merge/agenda"
)

// Campaign is the suggestion as a campaign, for people to edit. Each merge has a note with the
// reasons and numbers.
func (s *Suggestion) Campaign(name string) *agenda.Campaign {
	c := &agenda.Campaign{Name: name, Parallel: s.Wishes.Parallel, PerServer: s.Wishes.Parallel, Into: agenda.DefaultInto}
	for _, m := range s.Merges {
		note := strings.Join(m.reasons(), "; ")
		if long := []rune(note); len(long) > agenda.MaxNote {
			note = string(long[:agenda.MaxNote-1]) + "…"
		}
		c.Merges = append(c.Merges, agenda.Merge{Worlds: m.Worlds, Note: note, Into: c.Into})
	}
	return c
}
