package suggest

import (
	"strings"

	"mergesafe/merge/campaign"
)

// Campaign is the suggestion as a campaign, for people to edit. Each merge has a note with the
// reasons and numbers.
func (s *Suggestion) Campaign(name string) *campaign.Campaign {
	c := &campaign.Campaign{Name: name, Parallel: s.Wishes.Parallel, PerServer: s.Wishes.Parallel, Into: campaign.DefaultInto}
	for _, m := range s.Merges {
		note := strings.Join(m.reasons(), "; ")
		if long := []rune(note); len(long) > campaign.MaxNote {
			note = string(long[:campaign.MaxNote-1]) + "…"
		}
		c.Merges = append(c.Merges, campaign.Merge{Worlds: m.Worlds, Note: note, Into: c.Into})
	}
	return c
}
