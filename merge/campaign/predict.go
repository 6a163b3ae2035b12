package campaign

import (
	"slices"
	"time"

	"mergesafe/merge/transfer"
)

// What a small machine does in a second, with durable commits.
const (
	copiedPerSecond = 40_000
	readPerSecond   = 150_000
	overhead        = 0.5 // seconds of a merge without rows
)

// weigh says how much work a merge is: the seconds that it takes on a small machine, and how
// many of them come after the copying, for the proof.
func weigh(plan *transfer.Plan) (all, after float64) {
	copied := float64(plan.Rows())
	read := copied // of the sources
	for _, t := range plan.Tables {
		read += float64(t.Rows() + t.Target.Rows)
	}
	after = overhead/2 + read/readPerSecond
	return overhead/2 + copied/copiedPerSecond + after, after
}

// predict says how long each merge takes: by its rows, by what was measured in this campaign so
// far, and by its rehearsal.
func predict(merges []MergeStatus, known map[string]*record) {
	low, high := pace(known)
	for i := range merges {
		m := &merges[i]
		switch r := known[m.Target]; {
		case r == nil:
		case r.Rehearsed > 0:
			p := r.Rehearsed
			if r.Plan != "" && r.RehearsedWeight > 0 { // the worlds may have grown since
				p *= r.Weight / r.RehearsedWeight
			}
			m.Predicted = [2]float64{p, p}
		case r.Plan == "" || r.Plan != m.Plan:
		default:
			m.Predicted = [2]float64{low * r.Weight, high * r.Weight}
		}
	}
}

// pace is how long a merge takes for each second of its weight, at the least and at the most.
func pace(known map[string]*record) (low, high float64) {
	var measured []float64
	for _, r := range known {
		if r.Measured > 0 && r.Weight > 0 {
			measured = append(measured, r.Measured/r.Weight)
		}
	}
	const unknown = 4 // machines differ by that
	if len(measured) == 0 {
		return 1.0 / unknown, unknown
	}
	wide := 1.25
	if len(measured) < 3 {
		wide = 2
	}
	return slices.Min(measured) / wide, slices.Max(measured) * wide
}

// seconds is a duration that was predicted.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
