package check

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"mergesafe/merge/catalog"
	"mergesafe/merge/check/read"
	"mergesafe/merge/check/rule"
	"mergesafe/merge/declare"
	"mergesafe/merge/stream"
	"mergesafe/merge/verdict"
)

// MatrixReport tells of each two worlds whether they can be merged.
type MatrixReport struct {
	Version    int               `json:"version"`
	Program    string            `json:"program,omitempty"`    // as of [verdict.Report]
	Incomplete string            `json:"incomplete,omitempty"` // why it is; no pair has a verdict then
	Started    time.Time         `json:"started"`
	Finished   time.Time         `json:"finished"`
	Phases     verdict.Phases    `json:"phases,omitempty"` // as of [verdict.Report]
	Worlds     []verdict.Summary `json:"worlds"`
	Pairs      []Pair            `json:"pairs"` // every pair once, in the order of the worlds
}

// ExitCode is the exit code of a program that prints the report: that of the
// worst pair, 2 if it is incomplete, or a pair has no verdict.
func (m *MatrixReport) ExitCode() int {
	without := func(p Pair) bool { return p.Verdict == "" }
	if m.Incomplete != "" || slices.ContainsFunc(m.Pairs, without) {
		return verdict.ExitIncomplete
	}
	code := verdict.ExitPass
	for _, p := range m.Pairs {
		switch p.Verdict {
		case verdict.Fail:
			return verdict.ExitFail
		case verdict.Pass:
		default:
			code = verdict.ExitNotVerified
		}
	}
	return code
}

// Pair tells whether two worlds can be merged. The schema and the collations of the first count: it
// is the one that was given first.
type Pair struct {
	Worlds  [2]string       `json:"worlds"`
	Verdict verdict.Verdict `json:"verdict"`

	// Incomplete says which of the two could not be read, and why. There is no verdict
	// then.
	Incomplete string `json:"incomplete,omitempty"`

	Checks  int              `json:"checks"`            // results, those that passed included
	Renames int64            `json:"renames,omitempty"` // as in Report
	Rekeyed bool             `json:"rekeyed,omitempty"` // keys get new values
	Results []verdict.Result `json:"results,omitempty"` // those that did not pass, without samples
}

// Pair returns the verdict on two worlds, in either order; nil if the report has
// nothing.
func (m *MatrixReport) Pair(a, b string) *Pair {
	for i := range m.Pairs {
		if p := &m.Pairs[i]; p.Worlds == [2]string{a, b} || p.Worlds == [2]string{b, a} {
			return p
		}
	}
	return nil
}

// Matrix reports which of the worlds can be merged with which, and reads each
// of them only once for that. What it says of two of them is what [merge.Check]
// would say of these two alone, in the same order.
// Samples are not shown, nothing is proposed or summed up, and With.Quick is
// not used.
//
// A source that cannot be read is left out: its pairs say why, and have no
// verdict. What was read of the others until then is read again.
//
// Errors are otherwise as those of Check. If ctx ends, a report comes with the error
// in which no pair has a verdict.
func Matrix(ctx context.Context, sources []catalog.Source, opts declare.Options) (*MatrixReport, error) {
	opts = opts.WithDefaults()
	if opts.Rekey != nil || len(opts.Leave) > 0 {
		return rekeyedMatrix(ctx, sources, opts)
	}
	opts.Samples, opts.Propose, opts.Contents = -1, false, false
	started := opts.Stamp()
	left, lost := slices.Clone(sources), make(map[string]string) // why, by name
	for len(lost) == 0 || len(left) >= 2 {
		r, err := matrixOf(ctx, left, opts, started)
		read, unreadable := errors.AsType[*catalog.ReadError](err)
		if err == nil || ctx.Err() != nil || !unreadable {
			if r != nil {
				r.addLost(sources, lost)
			}
			return r, err
		}
		lost[read.World] = read.Reason()
		left = slices.DeleteFunc(left, func(s catalog.Source) bool { return s.Name() == read.World })
	}
	r := &MatrixReport{Version: verdict.ReportVersion, Started: started, Finished: opts.Stamp()}
	r.addLost(sources, lost)
	return r, nil
}

// rekeyedMatrix is Matrix where keys get new values: what these are depends on the two
// databases, so that each two are checked by themselves.
func rekeyedMatrix(ctx context.Context, sources []catalog.Source, opts declare.Options) (*MatrixReport, error) {
	m := &MatrixReport{Version: verdict.ReportVersion, Started: opts.Stamp(), Worlds: []verdict.Summary{}, Pairs: []Pair{}}
	opts.Samples, opts.Propose, opts.Contents = -1, false, false
	known := make(map[string]bool)
	for i, first := range sources {
		for _, s := range sources[i+1:] {
			p := Pair{Worlds: [2]string{first.Name(), s.Name()}}
			report, err := Check(ctx, []catalog.Source{first, s}, opts, With{})
			read, unreadable := errors.AsType[*catalog.ReadError](err)
			switch {
			case err == nil:
				p.take(report)
			case ctx.Err() != nil || !unreadable:
				return nil, err
			default:
				p.Incomplete = read.Reason()
			}
			if report != nil {
				for _, summary := range report.Worlds {
					if !known[summary.Name] {
						known[summary.Name] = true
						m.Worlds = append(m.Worlds, summary)
					}
				}
			}
			m.Pairs = append(m.Pairs, p)
		}
	}
	m.Finished = opts.Stamp()
	m.addLost(sources, nil)
	return m, nil
}

// addLost adds the sources that could not be read, and the pairs of all that have none.
func (m *MatrixReport) addLost(sources []catalog.Source, lost map[string]string) {
	summaries, pairs := []verdict.Summary{}, []Pair{}
	for i, first := range sources {
		k := slices.IndexFunc(m.Worlds, func(s verdict.Summary) bool { return s.Name == first.Name() })
		if k >= 0 {
			summaries = append(summaries, m.Worlds[k])
		} else {
			summaries = append(summaries, verdict.Summary{Name: first.Name(), Servers: []verdict.ServerSummary{}, Tables: []verdict.TableSummary{}})
		}
		for _, s := range sources[i+1:] {
			p := m.Pair(first.Name(), s.Name())
			if p == nil {
				p = &Pair{Worlds: [2]string{first.Name(), s.Name()}, Incomplete: cmp.Or(lost[first.Name()], lost[s.Name()], "no other world could be read")}
			}
			pairs = append(pairs, *p)
		}
	}
	m.Worlds, m.Pairs = summaries, pairs
}

// Unreachable is a source that cannot even be opened, for this reason: whatever is read
// of it fails.
func Unreachable(name string, err error) catalog.Source { return unreachable{name, err} }

type unreachable struct {
	name string
	err  error
}

func (u unreachable) Name() string { return u.name }

func (u unreachable) Catalog(context.Context) (*catalog.Catalog, error) { return nil, u.err }

func (u unreachable) Servers(context.Context) ([]catalog.Server, error) { return nil, u.err }

func (u unreachable) Count(context.Context, string) (int64, error) { return 0, u.err }

func (u unreachable) Scan(context.Context, catalog.Scan) iter.Seq2[*catalog.Batch, error] {
	return func(yield func(*catalog.Batch, error) bool) { yield(nil, u.err) }
}

func (u unreachable) Row(context.Context, string, []string, [][]byte) ([]catalog.Field, error) {
	return nil, u.err
}

// matrixOf is Matrix of sources that can be read.
func matrixOf(ctx context.Context, sources []catalog.Source, opts declare.Options, started time.Time) (*MatrixReport, error) {
	f, err := read.DescribeAll(ctx, sources, opts)
	if err == nil && (len(f.Severed) > 0 || len(f.Keeps) > 0 || len(f.Partly) > 0) {
		return nil, declare.Unsuitable("a matrix judges every pair both ways, and which rows do not come (rows, keep) is known for one order only: check the merge instead")
	}
	if err != nil {
		return nil, err
	}
	m := newMatrix(f, started)
	all := NewRun(f, read.NewReader(f, m.shared.Progress), m.summaries, started, Rules())
	before, err := read.TakeStamps(ctx, f)
	if err == nil {
		err = all.CountRows(ctx)
	}
	if err == nil {
		err = m.run(ctx)
	}
	var after read.Stamps
	if err == nil {
		after, err = read.TakeStamps(ctx, f)
	}
	r := &MatrixReport{Version: verdict.ReportVersion, Started: started, Finished: opts.Stamp(), Worlds: []verdict.Summary{}, Pairs: []Pair{}}
	if err != nil {
		r.Incomplete = reasonOf(ctx, err)
	}
	for _, db := range f.DBs {
		r.Worlds = append(r.Worlds, m.summaries.summary(db))
	}
	for _, p := range m.pairs {
		if err == nil {
			p.settle(before, after)
		}
		pair := Pair{Worlds: [2]string{p.facts.DBs[0].Name, p.facts.DBs[1].Name}}
		pair.take(p.Report(r.Incomplete))
		r.Pairs = append(r.Pairs, pair)
	}
	return r, err
}

// matrix carries the rules out for every pair, and does the tasks of all pairs
// together.
type matrix struct {
	pairs     []*run
	shared    *read.SharedReader
	summaries *summaries
}

func newMatrix(f *read.Facts, started time.Time) *matrix {
	m := &matrix{
		shared:    &read.SharedReader{All: f, Progress: stream.NewProgress(f.Resolved), Kept: make(read.Memory)},
		summaries: NewSummaries(f),
	}
	for i, first := range f.DBs {
		for _, db := range f.DBs[i+1:] {
			pair := f.Among(first, first, db)
			r := read.NewReader(pair, m.shared.Progress)
			r.Shared = m.shared
			m.shared.Pairs = append(m.shared.Pairs, pair)
			m.pairs = append(m.pairs, NewRun(pair, r, m.summaries, started, Rules()))
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
		i := slices.IndexFunc(m.pairs, func(p *run) bool { return len(p.Tasks) > 0 })
		if i < 0 {
			return nil
		}
		t := m.pairs[i].Tasks[0]
		m.shared.Forget()
		for _, p := range m.pairs[i:] {
			n := slices.IndexFunc(p.Tasks, func(other rule.Task) bool { return other.ID == t.ID })
			if n < 0 {
				continue
			}
			mine := p.Tasks[n]
			p.Tasks = slices.Delete(p.Tasks, n, n+1)
			if err := p.Do(ctx, mine); err != nil {
				return err
			}
		}
		m.shared.Progress.Finish(t.ID.Code, t.Tables)
	}
}

// planProgress adds up what is to be read for the pairs together.
func (m *matrix) planProgress() {
	seen := make(map[rule.TaskID]bool)
	for _, p := range m.pairs {
		for _, t := range p.Tasks {
			if !seen[t.ID] {
				seen[t.ID] = true
				m.shared.Progress.Plan(t.Tables)
			}
		}
	}
}

// take notes what a report about the two says.
func (p *Pair) take(report *verdict.Report) {
	p.Verdict, p.Checks, p.Renames = report.Verdict, len(report.Results), report.Renames
	p.Rekeyed = report.Rekeyed != nil && report.Rekeyed.Moves()
	for _, result := range report.Results {
		if result.Verdict != verdict.Pass {
			p.Results = append(p.Results, result)
		}
	}
}
