package merge

import (
	"context"
	"slices"
	"time"
)

// MatrixReport tells of each two sources whether they can be merged with one
// another.
type MatrixReport struct {
	Version    int       `json:"version"`
	Incomplete string    `json:"incomplete,omitempty"` // why it is; no pair has a verdict then
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

// Matrix finds out which of the sources can be merged with which, and reads
// each of them only once for that. What it says of two of them is what [Check]
// would say of these two alone, the one that was given first being the target.
// Samples are not shown, nothing is proposed, and Options.Target and Quick are
// not used.
//
// Errors are as those of Check. With a [*ReadError] comes a report in which no
// pair has a verdict.
func Matrix(ctx context.Context, sources []Source, opts Options) (*MatrixReport, error) {
	opts = opts.withDefaults()
	opts.Samples, opts.Propose, opts.Target, opts.Quick = -1, false, "", nil
	all := &checker{opts: opts}
	started := all.clock()
	if err := all.open(ctx, sources); err != nil {
		return nil, err
	}
	m := &matrix{opts: opts, dbs: all.dbs}
	for i, target := range all.dbs {
		for _, db := range all.dbs[i+1:] {
			p := &checker{opts: opts, dbs: []*database{target, db}, target: target, disjoint: make(map[string]bool), alike: make(map[string]bool), matrix: m}
			p.listTables()
			m.pairs = append(m.pairs, p)
		}
	}
	err := all.countRows(ctx)
	if err == nil {
		err = m.run(ctx)
	}
	r := &MatrixReport{Version: ReportVersion, Started: started, Finished: all.clock()}
	if err != nil {
		r.Incomplete = reasonOf(ctx, err)
	}
	for _, db := range all.dbs {
		r.Sources = append(r.Sources, db.summary())
	}
	for _, p := range m.pairs {
		r.Pairs = append(r.Pairs, p.pair(r.Incomplete))
	}
	return r, err
}

// run does the tasks of all pairs, those of one name together.
func (m *matrix) run(ctx context.Context) error {
	for _, p := range m.pairs {
		p.checkServers()
		p.checkSchema()
		p.checkUnseen()
		p.planAll()
	}
	m.count()
	for {
		i := slices.IndexFunc(m.pairs, func(p *checker) bool { return len(p.tasks) > 0 })
		if i < 0 {
			return nil
		}
		t := m.pairs[i].tasks[0]
		m.readings, m.ids, m.found = make(map[string]*sharedReading), make(map[string]*sharedIDs), make(map[string]*sharedStrays)
		for _, p := range m.pairs[i:] {
			n := slices.IndexFunc(p.tasks, func(other task) bool { return other.name == t.name })
			if n < 0 {
				continue
			}
			mine := p.tasks[n]
			p.tasks = slices.Delete(p.tasks, n, n+1)
			if err := mine.run(ctx); err != nil {
				return err
			}
		}
		for _, db := range m.dbs {
			db.work.done += db.workOf(t)
			db.work.now = 0
		}
	}
}

// count adds up what is to be read for the pairs together.
func (m *matrix) count() {
	seen := make(map[string]bool)
	for _, p := range m.pairs {
		for _, t := range p.tasks {
			if seen[t.name] {
				continue
			}
			seen[t.name] = true
			for _, db := range m.dbs {
				db.work.total += db.workOf(t)
			}
		}
	}
}

// pair concludes what was found about a pair.
func (c *checker) pair(incomplete string) Pair {
	r := c.report(incomplete)
	p := Pair{Target: c.dbs[0].name, Source: c.dbs[1].name, Verdict: r.Verdict, Checks: len(r.Results)}
	for _, result := range r.Results {
		if result.Verdict != Pass {
			p.Results = append(p.Results, result)
		}
	}
	return p
}
