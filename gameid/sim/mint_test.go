package sim

import (
	"fmt"
	"time"

	"mergesafe/gameid"
)

// word is an ID without its server: milliseconds and sequence.
type word uint64

func (w word) ms() int64 { return int64(w >> gameid.SequenceBits) }

func (w word) String() string {
	return fmt.Sprintf("%d+%d", w.ms(), uint64(w&(1<<gameid.SequenceBits-1)))
}

func (s span) String() string {
	if s.first == s.last {
		return s.first.String()
	}
	return fmt.Sprintf("%s to %s", s.first, s.last)
}

func wordOf(id gameid.ID) word {
	return word(id.Millis())<<gameid.SequenceBits | word(id.Sequence())
}

// span is a run of consecutive words, first and last included.
type span struct{ first, last word }

// kind mints the IDs of one kind.
type kind struct {
	next func() ([]span, error)
	fill func(size int) ([]span, error)
}

type (
	player struct{}
	item   struct{}
	guild  struct{}
)

func kindsOf(n *gameid.Node) []kind {
	return []kind{kindOf[player](n), kindOf[item](n), kindOf[guild](n)}
}

func kindOf[E any](n *gameid.Node) kind {
	g := gameid.NewGenerator[E](n)
	return kind{
		next: func() ([]span, error) {
			id, err := g.Next()
			return spansOf(n, []gameid.Of[E]{id}, err)
		},
		fill: func(size int) ([]span, error) {
			ids := make([]gameid.Of[E], size)
			err := g.Fill(ids)
			return spansOf(n, ids, err)
		},
	}
}

// spansOf returns the IDs that a call returned as spans. With an error there
// must not be any.
func spansOf[E any](n *gameid.Node, ids []gameid.Of[E], err error) ([]span, error) {
	var spans []span
	for _, id := range ids {
		switch {
		case err != nil && id.IsValid():
			return nil, violation(fmt.Sprintf("a call that failed gave out %s", id))
		case err != nil:
			continue
		case id.Server() != n.Server():
			return nil, violation(fmt.Sprintf("%s is of server %s", id, id.Server()))
		}
		w := wordOf(id.ID())
		if last := len(spans) - 1; last >= 0 && spans[last].last+1 == w {
			spans[last].last = w
		} else {
			spans = append(spans, span{w, w})
		}
	}
	return spans, err
}

// job is what a minter does: some calls of one kind.
type job struct {
	kind, calls int
	size        int  // of a Fill; 0: Next
	stale       bool // if it is held up, then after reading the clock
}

// minter is a goroutine of a process that mints.
type minter struct {
	p    *process
	lane int
	job
	resume chan struct{} // while it waits for its turn
	parked time.Time
	until  time.Time // it is held up until then

	// Of the call under way:
	began   time.Time
	slept   time.Duration // how long the process had been frozen before
	waited  time.Duration // for its turn
	rivals  int           // IDs that others asked for meanwhile
	after   word          // the IDs must be greater
	over    bool          // the node had ended when it began
	low     time.Time     // see clock.low
	elapsed time.Duration // by the process's clock, when it began
}

// The lanes of a process: each runs one minter. That they are functions of
// their own lets takingLane find out which minter a goroutine is.
var lanes = [...]func(*minter){lane0, lane1, lane2}

var laneNames = [...]string{
	"mergesafe/gameid/sim.lane0",
	"mergesafe/gameid/sim.lane1",
	"mergesafe/gameid/sim.lane2",
}

//go:noinline
func lane0(m *minter) { m.run() }

//go:noinline
func lane1(m *minter) { m.run() }

//go:noinline
func lane2(m *minter) { m.run() }

// mint starts a minter, if a lane of the process is free.
func (w *world) mint(p *process, j job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for lane, run := range lanes {
		if p.minters[lane] == nil {
			m := &minter{p: p, lane: lane, job: j}
			p.minters[lane] = m
			go run(m)
			return
		}
	}
}

func (m *minter) run() {
	p, w := m.p, m.p.w
	for range m.calls {
		m.begin()
		var spans []span
		var err error
		if kind := p.kinds[m.kind]; m.size == 0 {
			spans, err = kind.next()
		} else {
			spans, err = kind.fill(m.size)
		}
		if !m.end(spans, err) || err != nil {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(p.minters, m.lane)
}

func (m *minter) begin() {
	p := m.p
	m.over = p.node.Err() != nil
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	m.began, m.slept, m.waited, m.rivals = time.Now(), p.asleep(), 0, 0
	m.after, m.low, m.elapsed = p.last, p.clock.low, p.clock.sinceStart()
	for _, other := range p.minters {
		if other != m {
			other.rivals += max(m.size, 1)
			m.rivals += max(other.size, 1)
		}
	}
}

// end notes what a call returned. It returns false if nobody gets to know
// because the process has crashed.
func (m *minter) end(spans []span, err error) bool {
	p := m.p
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.crashed() {
		return false
	}
	c := call{
		minter: *m,
		spans:  spans,
		err:    err,
		ended:  m.over || p.stopped,
		froze:  p.asleep() > m.slept,
		awake:  time.Since(m.began) - m.waited - (p.asleep() - m.slept),
	}
	if len(spans) > 0 {
		p.last = max(p.last, spans[len(spans)-1].last)
	}
	p.w.finish(p, m.lane, func() { p.w.returned(p, c) })
	return true
}

// call is one call of a generator that has returned.
type call struct {
	minter
	spans []span
	err   error
	ended bool          // the node had ended before the call began, or was stopped before it returned
	froze bool          // the process was frozen meanwhile
	awake time.Duration // how long it took, but for what the world held it up
}

// park waits for the minter's turn.
func (m *minter) park() {
	w := m.p.w
	w.mu.Lock()
	m.resume, m.parked = make(chan struct{}), time.Now()
	w.parked = append(w.parked, m)
	w.mu.Unlock()
	w.wake()
	<-m.resume
}
