package merge

import (
	"context"
	"time"
)

// MatrixReport tells of each two sources whether they can be merged with one
// another.
type MatrixReport struct {
	Version    int       `json:"version"`
	Incomplete string    `json:"incomplete,omitempty"` // why it is; pairs without a verdict are unknown then
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	Sources    []Summary `json:"sources"`
	Pairs      []Pair    `json:"pairs"` // every pair once, in the order of the sources
}

// Pair is what stands against merging two sources. Target is the one that was
// given first: its schema and collations count.
type Pair struct {
	Target  string   `json:"target"`
	Source  string   `json:"source"`
	Verdict Verdict  `json:"verdict"`
	Checks  int      `json:"checks"`            // results, those that passed included
	Results []Result `json:"results,omitempty"` // those that did not pass, without samples
}

// Pair returns what is said of two sources, in either order; nil if it says
// nothing.
func (m *MatrixReport) Pair(a, b string) *Pair {
	for i := range m.Pairs {
		if p := &m.Pairs[i]; p.Target == a && p.Source == b || p.Target == b && p.Source == a {
			return p
		}
	}
	return nil
}

// Matrix finds out which of the sources can be merged with which. What it says
// of two of them is what [Check] would say of these two alone, the one that was
// given first being the target. Samples are not shown, nothing is proposed, and
// Options.Target is not used.
//
// Errors are as those of Check.
func Matrix(ctx context.Context, sources []Source, opts Options) (*MatrixReport, error) {
	opts = opts.withDefaults()
	opts.Samples, opts.Propose, opts.Target = -1, false, ""
	m := &MatrixReport{Version: ReportVersion, Started: opts.Clock().UTC().Truncate(time.Millisecond)}
	for i := range sources {
		for j := i + 1; j < len(sources); j++ {
			r, err := Check(ctx, []Source{sources[i], sources[j]}, opts)
			if err != nil {
				return nil, err
			}
			p := Pair{Target: sources[i].Name(), Source: sources[j].Name(), Verdict: r.Verdict, Checks: len(r.Results)}
			for _, result := range r.Results {
				if result.Verdict != Pass {
					p.Results = append(p.Results, result)
				}
			}
			m.Pairs = append(m.Pairs, p)
		}
	}
	return m, nil
}
