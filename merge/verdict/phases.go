package verdict

import "time"

// Phase is a part of a run, by the step that it did: two nights can be compared by them.
type Phase struct {
	Step    string    `json:"step"`
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"` // that it took; 0 while it runs
}

// Phases are those of a run, in their order. They are not for several goroutines.
type Phases []Phase

// Begin begins a phase, and ends the one before it.
func (p *Phases) Begin(step string, now time.Time) {
	p.End(now)
	*p = append(*p, Phase{Step: step, Began: now.UTC().Truncate(time.Millisecond)})
}

// End ends the last phase, if it runs.
func (p *Phases) End(now time.Time) {
	if n := len(*p); n > 0 && (*p)[n-1].Seconds == 0 {
		(*p)[n-1].Seconds = max(now.Sub((*p)[n-1].Began).Round(time.Millisecond), time.Millisecond).Seconds()
	}
}
