package merge

import (
	"context"
	"slices"
	"time"
)

// MatrixReport tells of each two sources whether they can be merged.
type MatrixReport struct {
	Version    int       `json:"version"`
	Incomplete string    `json:"incomplete,omitempty"` // why it is; no pair has a verdict then
	Started    time.Time `json:"started"`
	Finished   time.Time `json:"finished"`
	Sources    []Summary `json:"sources"`
	Pairs      []Pair    `json:"pairs"` // every pair once, in the order of the sources
}

// ExitCode is the exit code of a program that prints the report: that of the
// worst pair, 2 if it is incomplete.
func (m *MatrixReport) ExitCode() int {
	if m.Incomplete != "" {
		return ExitIncomplete
	}
	code := ExitPass
	for _, p := range m.Pairs {
		switch p.Verdict {
		case Fail:
			return ExitFail
		case Pass:
		default:
			code = ExitNotVerified
		}
	}
	return code
}

// Pair tells whether two sources can be merged. Target is the one that was
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

// Matrix reports which of the sources can be merged with which, and reads each
// of them only once for that. What it says of two of them is what [Check]
// would say of these two alone, the one that was given first being the target.
// Samples are not shown, nothing is proposed or summed up, and Options.Target and Quick are
// not used.
//
// Errors are as those of Check. With a [*ReadError] comes a report in which no
// pair has a verdict.
func Matrix(ctx context.Context, sources []Source, opts Options) (*MatrixReport, error) {
	opts = opts.withDefaults()
	opts.Samples, opts.Propose, opts.Contents, opts.Target, opts.Quick = -1, false, false, "", nil
	started := opts.stamp()
	f, err := describeAll(ctx, sources, opts)
	if err != nil {
		return nil, err
	}
	m := newMatrix(f, started)
	all := newRun(f, newReader(f, m.shared.progress), m.summaries, started)
	before, err := takeStamps(ctx, f)
	if err == nil {
		err = all.countRows(ctx)
	}
	if err == nil {
		err = m.run(ctx)
	}
	if err == nil {
		err = m.settle(ctx, f, before)
	}
	r := &MatrixReport{Version: ReportVersion, Started: started, Finished: opts.stamp(), Sources: []Summary{}, Pairs: []Pair{}}
	if err != nil {
		r.Incomplete = reasonOf(ctx, err)
	}
	for _, db := range f.dbs {
		r.Sources = append(r.Sources, m.summaries.summary(db))
	}
	for _, p := range m.pairs {
		r.Pairs = append(r.Pairs, p.pair(r.Incomplete))
	}
	return r, err
}

// matrix carries the rules out for every pair, and does the tasks of all pairs
// together.
type matrix struct {
	pairs     []*run
	shared    *sharedReader
	summaries *summaries
}

func newMatrix(f *facts, started time.Time) *matrix {
	m := &matrix{
		shared:    &sharedReader{opts: f.opts, dbs: f.dbs, progress: newProgress(f)},
		summaries: newSummaries(f),
	}
	for i, target := range f.dbs {
		for _, db := range f.dbs[i+1:] {
			pair := f.pair(target, db)
			r := newReader(pair, m.shared.progress)
			r.shared = m.shared
			m.shared.pairs = append(m.shared.pairs, pair)
			m.pairs = append(m.pairs, newRun(pair, r, m.summaries, started))
		}
	}
	return m
}

// run does the tasks of all pairs, those with one ID together.
func (m *matrix) run(ctx context.Context) error {
	for _, p := range m.pairs {
		p.judgeCatalogs()
		p.plan()
	}
	m.planProgress()
	for {
		i := slices.IndexFunc(m.pairs, func(p *run) bool { return len(p.tasks) > 0 })
		if i < 0 {
			return nil
		}
		t := m.pairs[i].tasks[0]
		m.shared.forget()
		for _, p := range m.pairs[i:] {
			n := slices.IndexFunc(p.tasks, func(other task) bool { return other.id == t.id })
			if n < 0 {
				continue
			}
			mine := p.tasks[n]
			p.tasks = slices.Delete(p.tasks, n, n+1)
			if err := p.do(ctx, mine); err != nil {
				return err
			}
		}
		m.shared.progress.finish(t)
	}
}

// settle looks again at the tables that are in no snapshot, for every pair.
func (m *matrix) settle(ctx context.Context, f *facts, before stamps) error {
	after, err := takeStamps(ctx, f)
	if err != nil {
		return err
	}
	for _, p := range m.pairs {
		p.settle(before, after)
	}
	return nil
}

// planProgress adds up what is to be read for the pairs together.
func (m *matrix) planProgress() {
	seen := make(map[taskID]bool)
	for _, p := range m.pairs {
		for _, t := range p.tasks {
			if !seen[t.id] {
				seen[t.id] = true
				m.shared.progress.plan(t)
			}
		}
	}
}

// pair concludes what was found about a pair.
func (r *run) pair(incomplete string) Pair {
	report := r.report(incomplete)
	p := Pair{Target: r.facts.dbs[0].name, Source: r.facts.dbs[1].name, Verdict: report.Verdict, Checks: len(report.Results)}
	for _, result := range report.Results {
		if result.Verdict != Pass {
			p.Results = append(p.Results, result)
		}
	}
	return p
}
