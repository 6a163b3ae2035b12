package campaign

import (
	"context"
	"slices"
	"time"

	"mergesafe/merge/transfer"
)

// Work is what merges have to do, for a prediction.
type Work struct {
	Merges, Worlds int   // the worlds are targets and sources
	Moved          int64 // rows that come to a target
	Target         int64 // rows of the targets, which are read for the proof
}

// What a small machine does, with durable commits. Even without rows there are processes and
// connections to begin, and catalogues to read.
const (
	perMerge        = 400 * time.Millisecond
	perWorld        = 200 * time.Millisecond
	copiedPerSecond = 40_000
	readPerSecond   = 120_000
)

// A row that comes is copied and read: so many come in a second there.
const typical = copiedPerSecond * readPerSecond / (copiedPerSecond + readPerSecond)

// Weight is how long the work takes on a small machine, and After the part of it that comes after
// the copying.
func (w Work) Weight() time.Duration {
	return w.fixed() + rows(w.Moved, copiedPerSecond) + rows(w.Moved+w.Target, readPerSecond)
}

func (w Work) After() time.Duration { return w.fixed()/2 + rows(w.Moved+w.Target, readPerSecond) }

func (w Work) fixed() time.Duration {
	return time.Duration(w.Merges)*perMerge + time.Duration(w.Worlds)*perWorld
}

func rows(n, perSecond int64) time.Duration {
	return time.Duration(n*int64(time.Second/time.Microsecond)/perSecond) * time.Microsecond
}

// workOf is what a plan has to do.
func workOf(plan *transfer.Plan) Work {
	w := Work{Merges: 1, Worlds: 1 + len(plan.Sources), Moved: plan.AllRows()}
	if plan.Into != nil {
		return w // all that is there came
	}
	for _, t := range plan.Tables {
		w.Target += t.Target.Rows
	}
	return w
}

// Rate is how fast merges are: how many rows come in a second, from their copying to
// their proof. What does not depend on rows is faster or slower by as much.
type Rate struct {
	Slowest int64 `json:"slowest"`
	Fastest int64 `json:"fastest"`
}

// DefaultRate holds as long as nothing was measured: machines differ by that, see docs/fleet.md.
var DefaultRate = Rate{Slowest: typical / 4, Fastest: typical * 4}

// Takes is how long work of a weight takes, at the least and at the most.
func (r Rate) Takes(weight time.Duration) (least, most time.Duration) {
	at := func(perSecond int64) time.Duration {
		return time.Duration(weight.Microseconds()*typical/perSecond) * time.Microsecond
	}
	return at(r.Fastest), at(r.Slowest)
}

// Rate is that of the merges of the campaign that were carried out without an interruption. ok
// is false if there is none.
func (b *Book) Rate(ctx context.Context) (r Rate, ok bool, err error) {
	err = b.look(ctx, func(ctx context.Context, s state) error {
		known, err := s.records(ctx)
		r, ok = measured(known)
		return err
	})
	return r, ok, err
}

// measured is the rate of the merges that were measured, and somewhat more in both directions.
func measured(known map[string]*record) (r Rate, ok bool) {
	var rates []float64
	for _, m := range known {
		if m.Measured > 0 && m.Weight > 0 {
			rates = append(rates, typical*m.Weight/m.Measured)
		}
	}
	if len(rates) == 0 {
		return DefaultRate, false
	}
	wide := 1.25
	if len(rates) < 3 {
		wide = 2
	}
	return Rate{max(1, int64(slices.Min(rates)/wide)), max(1, int64(slices.Max(rates)*wide))}, true
}

// predict says how long each merge takes: by its rows, by what was measured in this campaign so
// far, and by its rehearsal.
func predict(merges []MergeStatus, known map[string]*record) {
	rate, _ := measured(known)
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
			least, most := rate.Takes(seconds(r.Weight))
			m.Predicted = [2]float64{least.Seconds(), most.Seconds()}
		}
	}
}

// seconds is a duration that was predicted.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
