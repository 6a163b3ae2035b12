package suggest

import (
	"strings"

	"mergesafe/merge/campaign"
)

// Campaign is the suggestion as a campaign, for people to edit. Each merge has a note with the
// reasons and numbers.
func (s *Suggestion) Campaign(name string) *campaign.Campaign {
	c := &campaign.Campaign{Name: name, Parallel: s.Wishes.Parallel, PerServer: s.Wishes.Parallel, Fence: true}
	for _, m := range s.Merges {
		note := strings.Join(m.reasons(), "; ")
		if long := []rune(note); len(long) > longestNote {
			note = string(long[:longestNote-1]) + "…"
		}
		c.Merges = append(c.Merges, campaign.Merge{Target: m.Target, Sources: m.Sources, Note: note})
	}
	return c
}

// longestNote is how many characters a note of a campaign may have.
const longestNote = 1000
