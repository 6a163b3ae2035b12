package campaign

import (
	"slices"
	"time"

	"mergesafe/merge"
)

// workOf is what a plan has to do.
func workOf(plan *merge.Plan) Work {
	return Work{Merges: 1, Worlds: len(plan.Worlds), Rows: plan.Rows()}
}

// measured is the rate of the merges that were measured or are under way, and somewhat more in both directions.
func measured(known map[string]*record) Rate {
	var rates []float64
	for _, m := range known {
		switch took := m.Elapsed + m.Left; {
		case m.Weight <= 0:
		case m.Measured > 0:
			rates = append(rates, Typical*m.Weight/m.Measured)
		case m.Active && m.Attempts == 1 && m.Left > 0 && m.Elapsed > took/10: // as it looks now
			rates = append(rates, Typical*m.Weight/took)
		}
	}
	if len(rates) == 0 {
		return DefaultRate
	}
	wide := 1.25
	if len(rates) < 3 {
		wide = 2
	}
	slowest, fastest := int64(slices.Min(rates)/wide), int64(slices.Max(rates)*wide)
	return Rate{Slowest: max(1, slowest), Fastest: max(1, fastest)}
}

// predict says how long each merge takes: by its rows, by what was measured in this campaign so
// far, and by its rehearsal, which has no proof.
func predict(merges []MergeStatus, known map[string]*record) {
	rate := measured(known)
	for i := range merges {
		m := &merges[i]
		switch r := known[m.Name()]; {
		case r == nil:
		case r.Tried > 0 && r.TriedWeight > 0:
			p := r.Tried * r.Weight / r.TriedWeight // the worlds may have grown since, too
			m.Predicted = [2]float64{p, p}
		case r.Plan == "" || r.Plan != m.Plan:
		default:
			least, most := rate.Takes(seconds(r.Weight))
			m.Predicted = [2]float64{least.Seconds(), most.Seconds()}
		}
	}
}

// seconds is a duration that was predicted.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
