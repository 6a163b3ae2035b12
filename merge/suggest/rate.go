package suggest

import (
	"slices"

	"mergesafe/merge/campaign"
)

// Rate is how fast merges are. What is predicted is the time of the night: that of apply and verify.
// A row that comes counts as one, and a row of the target, which is only read, as a quarter.
type Rate struct {
	Slowest int64 `json:"slowest"` // rows a second
	Fastest int64 `json:"fastest"`
}

// DefaultRate is what was measured, see docs/fleet.md: the slowest is that of a game of many
// tables whose keys get new values, the fastest that of two large tables.
var DefaultRate = Rate{Slowest: 10_000, Fastest: 90_000}

// Each merge takes so long even without rows, and each of its worlds: processes and connections
// begin, catalogues are read. In milliseconds.
const (
	leastFixed, mostFixed       = 500, 3_000
	leastPerWorld, mostPerWorld = 100, 1_000
)

// RateOf is the rate of the merges that an earlier campaign, or its rehearsal, verified; rows are
// those of each world then. ok is false if none of them was long enough to tell.
func RateOf(status *campaign.Status, rows func(world string) int64) (r Rate, ok bool) {
	var rates []int64
	for _, m := range status.Merges {
		fixed := float64(leastFixed+leastPerWorld*(1+len(m.Sources))) / 1000
		if m.Phase != campaign.Verified || m.Rows == 0 || m.Took < 5*fixed {
			continue
		}
		rates = append(rates, max(1, int64(float64(m.Rows+rows(m.Target)/4)/(m.Took-fixed))))
	}
	if len(rates) == 0 {
		return r, false
	}
	return Rate{slices.Min(rates), slices.Max(rates)}, true
}

// longest is how many milliseconds a merge of so many worlds takes at the most.
func (r Rate) longest(worlds int, moved, target int64) int64 {
	return mostFixed + int64(worlds)*mostPerWorld + weighed(moved, target)*1000/(4*r.Slowest)
}

// shortest is how many it takes at the least.
func (r Rate) shortest(worlds int, moved, target int64) int64 {
	return leastFixed + int64(worlds)*leastPerWorld + weighed(moved, target)*1000/(4*r.Fastest)
}

// weighed is four times the rows, by what they cost.
func weighed(moved, target int64) int64 { return 4*moved + target }
