package progress

import (
	"math"
	"time"

	"mergesafe/merge/transfer"
)

// Amount is how many rows a step of package transfer has to do.
type Amount struct {
	Step string
	Rows int64
}

// ApplyWork and VerifyWork are what a plan has to do in all, for [Meter.Expect].
func ApplyWork(p *transfer.Plan) []Amount { return applyWork(p.AllRows(), p.Into != nil) }

func applyWork(moved int64, into bool) []Amount {
	if into { // its indexes help
		return []Amount{{transfer.StepCopy, moved}, {transfer.StepIndex, moved}, {transfer.StepFinish, moved / 2}}
	}
	return []Amount{{transfer.StepCopy, moved}, {transfer.StepFinish, moved}}
}

// VerifyWork: the target is read, and the sources; then the rules judge the result.
func VerifyWork(p *transfer.Plan) []Amount { return verifyWork(p.AllRows(), ownOf(p)) }

func verifyWork(moved, own int64) []Amount {
	return []Amount{{transfer.StepVerify, 2*moved + own}, {transfer.StepResult, 2 * (moved + own)}}
}

// ownOf is how many rows of the target's own are read for a proof. Of a new database all came.
func ownOf(p *transfer.Plan) (n int64) {
	if p.Into == nil {
		for i := range p.Tables {
			n += p.Tables[i].Target.Rows
		}
	}
	return n
}

// nature is what is known of a kind of work before it is measured: how long a row of it takes, in microseconds on a small
// machine, by engine, and which kinds come before it. Only the ratios count: how fast this machine is, the
// run shows.
type nature struct {
	sqlite, mariadb, mysql float64
	stage                  int
	silent                 bool    // it says when it begins, and nothing until it ends
	rests                  float64 // how much a row rests, beside one that is copied: batches are smaller or larger; 0: it does not rest
}

var natures = map[string]nature{
	transfer.StepCheck:   {8, 8, 8, 0, false, 1},
	transfer.StepMeasure: {8, 8, 8, 1, false, 1},
	transfer.StepRename:  {20, 20, 20, 2, false, 1},
	transfer.StepReset:   {20, 20, 20, 2, false, 1},
	transfer.StepCopy:    {25, 25, 25, 3, false, 1},
	transfer.StepIndex:   {1, 1, 1, 3, true, 0},
	transfer.StepFinish:  {2.5, 13, 6.5, 4, true, 0},
	transfer.StepVerify:  {9, 5, 4.3, 5, false, 2},
	transfer.StepResult:  {1.7, 1.7, 2.4, 6, false, 0},
	transfer.StepCompare: {8, 8, 8, 7, false, 1},
	transfer.StepUndo:    {20, 20, 20, 8, false, 1},
	transfer.StepRestore: {20, 20, 20, 9, false, 1},
}

// Meter says how long work still takes: for each kind of it, what is left, at the rate that was measured in this run. It is
// the one model of all tools. The zero Meter is ready; it is not for several goroutines.
type Meter struct {
	Engine string        // as a plan has it: "sqlite", "mysql"; anything else counts as MariaDB
	Pause  time.Duration // that was asked for before each batch

	kinds  map[string]*measured
	stage  int       // that runs
	since  time.Time // the stage began
	last   time.Time // that something was done
	rested rests     // in this run, between batches
	held   time.Time // the operator pauses the work since then; zero: not
	seen   []reading // of the stage, lately, the oldest first
	before pace      // until the stage began
}

// pace is how long work takes: seconds per weight, without rests; those of a busy server by the same; and the pauses, per
// row that is copied.
type pace struct{ busy, load, pauses float64 }

// rests are pauses before batches, and what came besides, for a server that was busy or a replica that lagged.
type rests struct{ pauses, load time.Duration }

func (r rests) since(first rests) (pauses, load float64) {
	return (r.pauses - first.pauses).Seconds(), (r.load - first.load).Seconds()
}

// small is the pace of the machine that the weights are of. It counts as a second of measuring.
var small = pace{busy: 1e-6}

const smallCounts, beforeCounts = 1.0, 5.0

// measured is one kind of work.
type measured struct {
	nature
	rows, total int64
	begun       bool                // something was reported
	of          map[string][2]int64 // rows and total by database, of a check, which counts each by itself
}

type reading struct {
	at     time.Time
	done   float64 // weight, in this run
	rows   float64 // as they rest
	rested rests   // until then
}

func (m *Meter) weight(k *measured) float64 {
	switch m.Engine {
	case "sqlite":
		return k.sqlite
	case "mysql":
		return k.mysql
	}
	return k.mariadb
}

// Rested takes how long the work rested before a batch.
func (m *Meter) Rested(d time.Duration) {
	pause := min(d, m.Pause)
	m.rested.pauses, m.rested.load = m.rested.pauses+pause, m.rested.load+d-pause
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
		k = &measured{nature: natures[step]}
		m.kinds[step] = k
	}
	return k
}

// Report takes what is done at a time. What earlier calls did of it is no measure of how fast this one is.
func (m *Meter) Report(p transfer.Progress, now time.Time) {
	k := m.kind(p.Step)
	if k.stage > m.stage || m.since.IsZero() {
		for _, earlier := range m.kinds {
			if earlier.stage < k.stage {
				earlier.rows = earlier.total
			}
		}
		if n := len(m.seen); n > 1 && m.seen[n-1].done > m.seen[0].done {
			m.before, _ = m.pace(m.seen[n-1].at, m.seen[n-1].rested)
		}
		m.stage, m.since = k.stage, now
		if !k.silent || m.last.IsZero() {
			m.last = now
		}
		from := reading{}
		if n := len(m.seen); n > 0 {
			from = m.seen[n-1]
		}
		m.seen = []reading{{now, from.done, from.rows, m.rested}}
	}
	before := k.rows
	rows, total := p.Rows, p.Total
	if p.Step == transfer.StepCheck {
		if k.of == nil {
			k.of = make(map[string][2]int64)
		}
		k.of[p.Database] = [2]int64{rows, total}
		rows, total = 0, 0
		for _, of := range k.of {
			rows, total = rows+of[0], total+of[1]
		}
	}
	if !k.silent || k.total == 0 {
		k.total = total
	}
	k.rows, k.total = rows, max(k.total, rows)
	latest := m.seen[len(m.seen)-1]
	if did := rows - max(before, p.Before); did > 0 && !k.silent && k.begun { // what is there at first is not of this run
		latest.done += m.weight(k) * float64(did)
		latest.rows += k.rests * float64(did)
		m.last = now
	}
	k.begun = true
	if !k.silent {
		m.seen = append(m.seen, reading{now, latest.done, latest.rows, m.rested})
		m.forget(now)
	}
}

// forget drops readings that are no measure any more: a rate is that of the last two fifths, and of 5 seconds or more. Of those
// that are kept, one each 50 ms is enough.
func (m *Meter) forget(now time.Time) {
	lately := max(5*time.Second, now.Sub(m.since)*2/5)
	for len(m.seen) > 2 && now.Sub(m.seen[1].at) >= lately {
		m.seen = m.seen[1:]
	}
	if n := len(m.seen); n > 2 && m.seen[n-1].at.Sub(m.seen[n-3].at) < 50*time.Millisecond {
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
	return (m.seen[len(m.seen)-1].done - first.done) / m.weight(k) / max(now.Sub(first.at).Seconds(), 0.001)
}

// pace is the one of the stage that runs until a time, and for as long as little of it is measured the one before it.
func (m *Meter) pace(until time.Time, rested rests) (p pace, known bool) {
	before, counts := m.before, beforeCounts
	if before.busy == 0 {
		before, counts = small, smallCounts
	}
	if len(m.seen) == 0 {
		return before, false
	}
	first, latest := m.seen[0], m.seen[len(m.seen)-1]
	did, all := latest.done-first.done, until.Sub(first.at).Seconds()
	pauses, load := rested.since(first.rested)
	took := max(all-pauses-load, all/4) // while one worker rests, others may work
	p = before
	if did > 0 && took > 0 { // a mean that neither a fast beginning nor a slow one carries away
		p.busy = math.Exp((took*math.Log(took/did) + counts*math.Log(before.busy)) / (took + counts))
	}
	if rows := latest.rows - first.rows; rows > 0 {
		still := max(all-took, 0) / max(pauses+load, 0.001)
		p.pauses, p.load = still*pauses/rows, still*load/did
	}
	return p, m.before.busy > 0 || did > 0 && took > 0.2
}

// Left is how long it still takes; known is false before anything was measured. It is never nothing, as long as
// the work has not ended.
func (m *Meter) Left(now time.Time) (left time.Duration, known bool) {
	if !m.held.IsZero() {
		now = m.held
	}
	var stream, resting, silent, running, rows float64 // weight that is left, of that what rests; silent weight, of that what runs; rows as they rest
	streams := false
	for _, k := range m.kinds {
		rest := m.weight(k) * float64(k.total-k.rows)
		switch {
		case k.stage < m.stage:
		case k.silent:
			silent += rest
		default:
			stream += rest
			if k.rests > 0 {
				resting += rest
			}
			rows += k.rests * float64(k.total-k.rows)
			streams = streams || k.stage == m.stage && rest > 0
		}
	}
	if !streams { // up to the next kind that says how far it is
		next := math.MaxInt
		for _, k := range m.kinds {
			if !k.silent && k.stage > m.stage && k.total > k.rows {
				next = min(next, k.stage)
			}
		}
		for _, k := range m.kinds {
			if k.silent && k.stage >= m.stage && k.stage < next {
				running += m.weight(k) * float64(k.total-k.rows)
			}
		}
		silent -= running
	}
	until, rested := now, m.rested
	if n := len(m.seen); n > 0 && !streams { // little is said until it ends
		until, rested = m.seen[n-1].at, m.seen[n-1].rested
	}
	p, known := m.pace(until, rested)
	if !known {
		return 0, false
	}
	seconds := running * p.busy
	if !streams {
		over := now.Sub(m.last).Seconds()
		seconds = max(seconds-over, over*0.4)
	}
	seconds += (stream+silent)*p.busy + resting*p.load + rows*p.pauses
	return time.Duration(max(seconds, 0.5) * float64(time.Second)), true
}
