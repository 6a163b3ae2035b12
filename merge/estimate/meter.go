// Package estimate says how long the work of checks and merges still takes. It is the one model of all tools.
package estimate

import (
	"math"
	"time"

	"mergesafe/merge"
)

// Amount is how many rows a step of package merge has to do.
type Amount struct {
	Step string
	Rows int64
}

// ApplyWork and VerifyWork are what a plan of so many rows has to do in all, for [Meter.Expect].
func ApplyWork(rows int64) []Amount {
	return []Amount{{merge.StepCopy, rows}, {merge.StepIndex, rows}, {merge.StepFinish, rows}}
}

// VerifyWork: the worlds are read; then the rules read the new database, and judge it.
func VerifyWork(rows int64) []Amount {
	return []Amount{{merge.StepVerify, rows}, {merge.StepResult, 2 * rows}}
}

// Part is a kind of work of a merge: which part of all of it, and its stage. Those of an earlier stage are done when it begins.
type Part struct {
	Step   string
	Weight float64
	Stage  int
}

// Parts are the work of a merge of so many rows on a server.
func Parts(rows int64) (all []Part) {
	for _, a := range append(ApplyWork(rows), VerifyWork(rows)...) {
		k := natures[a.Step]
		all = append(all, Part{a.Step, k.server * float64(a.Rows), k.stage})
	}
	return all
}

// StageOf is the stage of a step of package merge.
func StageOf(step string) int { return natures[step].stage }

// nature is what is known of a kind of work before it is measured.
type nature struct {
	server, sqlite float64 // how long a row of it takes: microseconds on a quick machine. Only the ratios count
	stage          int     // kinds of an earlier one are done when one of it begins
	rough          bool    // it says little until it ends, and of the rows only which share is done
	rests          float64 // how often it usually rests in 1000 rows
}

var natures = map[string]nature{
	merge.StepCheck:   {3, 3, 0, false, 0.5},
	merge.StepMeasure: {3, 3, 1, false, 0.5},
	merge.StepCopy:    {10, 10, 2, false, 0.25},
	merge.StepIndex:   {1, 1, 2, true, 0},
	merge.StepFinish:  {1.5, 1, 3, true, 0},
	merge.StepVerify:  {1.6, 3.2, 4, false, 0.5},
	merge.StepResult:  {1, 1, 5, false, 0},
}

// Meter says how long work still takes. The zero Meter is ready; it is not for several
// goroutines.
//
//   - What is left is known by kind of work, in rows, and how long a row of a kind takes beside one of another.
//   - How fast this run is, is measured without rests, over the last two thirds of the stage that runs; as long as that is
//     short, together with the stages before it. Before the first rows are done it is unknown.
//   - A pause that was asked for is a known cost: its length, by the batches that are left. The run shows both.
//   - Rests for a busy server or a late replica take the same share of the time as so far in this run.
//   - Work that says little goes on as expected, or as the share that it has said: the time passes. Once it takes longer,
//     half of its silence is left.
type Meter struct {
	Engine string        // as a plan has it: "sqlite"; anything else is a server
	Pause  time.Duration // that was asked for before each batch

	shown  merge.Progress
	kinds  map[string]*measured
	stage  int       // that runs
	began  time.Time // the first report
	since  time.Time // the stage began
	last   time.Time // that something was done
	held   time.Time // the operator pauses the work since then; zero: not
	rested rests     // in this run
	seen   []reading // of the stage, lately, the oldest first
	before float64   // the pace until the stage began; 0: nothing was measured
}

// rests are pauses before batches, and what came besides, for a server that was busy or a replica that lagged.
type rests struct{ pauses, load float64 } // in seconds

func (r rests) since(first rests) rests { return rests{r.pauses - first.pauses, r.load - first.load} }

// measured is one kind of work.
type measured struct {
	nature
	rows, total int64
	begun       bool                // something was reported
	of          map[string][2]int64 // rows and total by database, of a check
}

type reading struct {
	at      time.Time
	done    float64 // weight, in this run
	batches float64 // that are usual for it
	rested  rests   // until then
}

func (k *measured) batches(rows int64) float64 { return k.rests / 1000 * float64(rows) }

func (m *Meter) weight(k *measured, rows int64) float64 {
	if m.Engine == "sqlite" {
		return k.sqlite * float64(rows)
	}
	return k.server * float64(rows)
}

// Rested takes how long the work rested before a batch.
func (m *Meter) Rested(d time.Duration) {
	pause := d // a busy machine wakes late
	if d > 2*m.Pause {
		pause = m.Pause
	}
	m.rested = rests{m.rested.pauses + pause.Seconds(), m.rested.load + (d - pause).Seconds()}
}

// Hold says that the operator pauses the work, and Release that it goes on: the time between is no measure.
func (m *Meter) Hold(now time.Time) { m.held = now }

// Release ends what Hold began.
func (m *Meter) Release(now time.Time) {
	d := now.Sub(m.held)
	if m.held.IsZero() {
		return
	}
	m.held = time.Time{}
	later := func(t *time.Time) {
		if !t.IsZero() {
			*t = t.Add(min(d, now.Sub(*t)))
		}
	}
	later(&m.began)
	later(&m.since)
	later(&m.last)
	for i := range m.seen {
		later(&m.seen[i].at)
	}
}

// Expect adds work that comes, also before anything of it is reported.
func (m *Meter) Expect(all ...Amount) {
	for _, a := range all {
		m.kind(a.Step).total = a.Rows
	}
}

func (m *Meter) kind(step string) *measured {
	if m.kinds == nil {
		m.kinds = make(map[string]*measured)
	}
	k := m.kinds[step]
	if k == nil {
		k = &measured{nature: natures[step], of: make(map[string][2]int64)}
		m.kinds[step] = k
	}
	return k
}

// Report takes what is done at a time. What earlier calls did of it is no measure of how fast this one is.
func (m *Meter) Report(p merge.Progress, now time.Time) {
	k := m.kind(p.Step)
	if k.stage > m.stage || m.began.IsZero() {
		m.begin(k.stage, now)
	}
	if p.Step == merge.StepCheck {
		k.of[p.Database] = [2]int64{p.Rows, p.Total}
		p.Rows, p.Total = 0, 0
		for _, of := range k.of {
			p.Rows, p.Total = p.Rows+of[0], p.Total+of[1]
		}
	}
	copying := m.shown.Step == merge.StepCopy && m.shown.Rows < m.shown.Total
	if p.Step != merge.StepIndex || !copying { // indexes are made beside the copy
		m.shown = p
	}
	before := k.rows
	k.rows = p.Rows
	if k.rough && k.total > 0 {
		k.rows = int64(float64(p.Rows) / float64(max(p.Total, 1)) * float64(k.total))
	} else {
		k.total = max(p.Total, p.Rows)
	}
	if k.rows > before {
		m.last = now
	}
	if !k.rough {
		latest := m.seen[len(m.seen)-1]
		if did := p.Rows - max(before, p.Before); did > 0 && k.begun { // what is there at first is not of this run
			latest.done += m.weight(k, did)
			latest.batches += k.batches(did)
		}
		m.seen = append(m.seen, reading{now, latest.done, latest.batches, m.rested})
		m.forget(now)
	}
	k.begun = true
}

// Shown is what was reported last of the step that runs, over all databases: a check counts each by itself.
func (m *Meter) Shown() merge.Progress { return m.shown }

func (m *Meter) begin(stage int, now time.Time) {
	for _, k := range m.kinds {
		if k.stage < stage {
			k.rows = k.total
		}
	}
	from := reading{}
	if n := len(m.seen); n > 0 {
		from = m.seen[n-1]
		m.before, _ = m.pace(from.at)
	} else {
		m.began = now
	}
	m.stage, m.since, m.last = stage, now, now
	m.seen = []reading{{now, from.done, from.batches, m.rested}}
}

// forget drops readings that are no measure any more: a rate is that of the last two thirds, and of 5 seconds or more.
// Of those that are kept, one in each hundredth is enough.
func (m *Meter) forget(now time.Time) {
	lately := max(5*time.Second, now.Sub(m.since)*2/3)
	for len(m.seen) > 2 && now.Sub(m.seen[1].at) >= lately {
		m.seen = m.seen[1:]
	}
	if n := len(m.seen); n > 2 && m.seen[n-1].at.Sub(m.seen[n-3].at) < lately/100 {
		m.seen[n-2] = m.seen[n-1]
		m.seen = m.seen[:n-1]
	}
}

// Rate is how many rows of the step that runs were done in a second, lately.
func (m *Meter) Rate(step string, now time.Time) float64 {
	k := m.kinds[step]
	if k == nil || len(m.seen) < 2 {
		return 0
	}
	first := m.seen[0]
	return (m.seen[len(m.seen)-1].done - first.done) / m.weight(k, 1) / max(now.Sub(first.at).Seconds(), 0.001)
}

// pace is how many seconds a weight takes, without rests: a mean, that neither a fast beginning nor a slow one carries
// away, of what the stage that runs shows and of what was known before, which counts as 10 seconds. In the first stage
// that is a quick machine: it counts as a second, and less the more of the stage is done.
func (m *Meter) pace(until time.Time) (pace float64, known bool) {
	if len(m.seen) == 0 {
		return 0, false
	}
	first, latest := m.seen[0], m.seen[len(m.seen)-1]
	did, rested := latest.done-first.done, latest.rested.since(first.rested)
	all := until.Sub(first.at).Seconds()
	took := max(all-rested.pauses-rested.load, all/4) // while one worker rests, others may work
	if did <= 0 || took <= 0 {
		return m.before, m.before > 0
	}
	before, counts := m.before, 10.0
	if before == 0 {
		var whole float64
		for _, k := range m.kinds {
			if k.stage == m.stage && !k.rough {
				whole += m.weight(k, k.total)
			}
		}
		before, counts = 1e-6, max(0, 1-2*did/whole)
	}
	return math.Exp((took*math.Log(took/did) + counts*math.Log(before)) / (took + counts)), true
}

// Left is how long it still takes; known is false before anything was measured. It is never nothing, as long as
// the work has not ended.
func (m *Meter) Left(now time.Time) (left time.Duration, known bool) {
	if !m.held.IsZero() {
		now = m.held
	}
	next := math.MaxInt // the stage that runs; when all is done that it has said, the one that comes
	streams := false
	for _, k := range m.kinds {
		if k.stage >= m.stage && k.rows < k.total {
			next = min(next, k.stage)
			streams = streams || k.stage == m.stage && !k.rough
		}
	}
	until, silence := now, 0.0
	if n := len(m.seen); n > 0 && !streams {
		until, silence = m.seen[n-1].at, now.Sub(m.last).Seconds()
	}
	pace, known := m.pace(until)
	if !known {
		return 0, false
	}
	latest := m.seen[len(m.seen)-1]
	const few = 8 // so many batches as they are usual count beside those that were
	pauses := latest.rested.since(m.seen[0].rested).pauses
	pause := (pauses + few*m.Pause.Seconds()) / (latest.batches - m.seen[0].batches + few)
	busy := max(now.Sub(m.began).Seconds()-m.rested.pauses-m.rested.load, 0)
	pace *= 1 + m.rested.load/(busy+5)
	var doing, later float64
	for _, k := range m.kinds {
		rows := k.total - k.rows
		takes := m.weight(k, rows)*pace + k.batches(rows)*pause
		if k.rough && k.stage == m.stage && k.rows > 0 && len(m.seen) == 1 { // nothing else goes on
			takes = m.last.Sub(m.since).Seconds() * float64(rows) / float64(k.rows)
		}
		switch {
		case k.stage == next:
			doing += takes
		case k.stage > next:
			later += takes
		}
	}
	seconds := max(doing-silence, silence/2) + later
	return time.Duration(max(seconds, 0.2) * float64(time.Second)), true
}
