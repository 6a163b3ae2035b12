package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mergesafe/gameid"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/mergetest"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
)

// What the documentation promises, checked against what the world knows.

// violation is a promise that was not kept: its name, and how.
type violation string

func (v violation) Error() string { return string(v) }

func (p *process) violates(format string, args ...any) {
	p.w.violates("process %d: %s", p.id, fmt.Sprintf(format, args...))
}

func (p *process) String() string {
	if p == nil {
		return "nobody"
	}
	return fmt.Sprintf("process %d", p.id)
}

// minReach is what a node whose clock was set back reserves at once, minStep how
// much it wants to gain otherwise; in milliseconds.
const minReach, minStep = 64, 16

// longestWait is how long a node may wait for a clock that is only adjusted.
const longestWait = 200 * time.Millisecond

// asks looks at a claim when the node makes it. The world's mutex is held.
func (p *process) asks(c gameid.Claim) {
	rec, opts := p.conn.loaded, p.opts
	if p.window = max(opts.Window, p.window, rec.Window); c.Window != p.window {
		p.violates("window: it claims with %s, want %s", c.Window, p.window)
	}
	p.w.widest = max(p.w.widest, p.window)
	mark := max(p.conn.asked, rec.Reserved, p.clock.horizon(p.window)) // the node may have skipped that far
	least := p.clock.now() + p.window.Milliseconds()
	if p.state == opening {
		old := max(rec.Reserved, p.conn.floor)
		mark = max(old, rec.begin)
		if off := p.off(); off > opts.MaxSkew {
			p.violates("clock: it opens although its clock is %s off, more than %s", off, opts.MaxSkew)
		}
		if ahead := gameid.TimeOf(old).Sub(latest(p.clock.compared, rec.Now)); ahead > p.markLimit() {
			p.violates("mark: it opens although the mark is %s ahead, more than %s", ahead, p.markLimit())
		}
	}
	most := max(p.clock.horizon(p.window), p.conn.asked, rec.Reserved)
	if mark+minStep > least+minReach || p.state == opening && p.w.clocksWrong {
		most = max(most, mark+minReach+minStep) // a clock was set back; the node may have read it a little later
	}
	if c.Reserved > most || c.Reserved < least {
		p.violates("reserve: it reserves up to %d, allowed is %d to %d", c.Reserved, least, most)
	}
	p.conn.asked = max(p.conn.asked, c.Reserved)
}

// off is how far the clock of the process disagrees with the registry's as the
// node read it, at some moment since it had asked for it.
func (p *process) off() time.Duration {
	registry := p.conn.loaded.Now
	ahead, behind := p.clock.compared.Sub(registry)-p.conn.took, registry.Sub(p.clock.compared)
	return max(ahead, behind)
}

// markLimit is how far the mark may be ahead when the node is opened.
func (p *process) markLimit() time.Duration {
	return max(p.opts.MaxSkew, 2*max(p.conn.loaded.Window, p.opts.Window))
}

// account looks at a claim that is being carried out. basis is what p had read
// before it made the claim, starting whether it was opening its node, asked when
// it decided on it. The world's mutex is held.
func (db *database) account(p *process, basis view, starting bool, asked time.Time, c gameid.Claim) {
	w := db.w
	holder, mark := w.tokens[db.row.holder.Token], db.row.reserved
	use := int64(0)
	own, back := holder == p, c.Holder.IsZero()
	// After a restore the epoch comes round again: a claim that was made before
	// it may fit to a row that is another one.
	rewound := p.moved || db.rewound.After(p.started)
	switch {
	case own:
	case starting:
		if other := w.tokens[basis.Holder.Token]; other != nil && other != p && basis.Now.Before(basis.LeaseUntil) && !basis.dead {
			p.violates("lease: it takes over from %s, whose lease lasts %s more", holder, basis.LeaseUntil.Sub(basis.Now))
		}
		if basis.Reserved != db.row.reserved && !rewound {
			p.violates("compare-and-set: it read the mark %d, but writes over %d", basis.Reserved, db.row.reserved)
		}
		mark = max(basis.Reserved, p.conn.floor)
		p.base, p.begun = max(mark, basis.begin), basis.read
		use = p.base + 1
	default:
		p.violates("compare-and-set: it writes over the row of %s", holder)
	}
	if rewound && (!own && !starting || mark < db.row.reserved || c.Reserved < mark && !back) {
		w.fault("claim of before a restore carried out after it")
		mark = min(mark, c.Reserved)
		db.forget(min(mark, max(p.last.ms(), p.base))) // beyond that it may grant again
	}
	if back {
		p.gaveBack = true
		if c.Reserved < max(p.last.ms(), p.base) {
			p.violates("release: it lowers the mark to %d, but it used times up to %d and began after %d", c.Reserved, p.last.ms(), p.base)
		}
		for _, g := range w.grants {
			if g.p == p {
				g.to = min(g.to, max(c.Reserved, g.from-1))
			}
		}
		return
	}
	if c.Reserved < mark {
		p.violates("mark: it lowers the mark from %d to %d", mark, c.Reserved)
	}
	db.grant(&grant{p: p, from: mark + 1, use: max(use, mark+1), to: c.Reserved, begun: p.begun, asked: asked})
}

// opened looks at how OpenNode ended.
func (w *world) opened(p *process, took time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if most := 8*timeoutOf(p.opts) + 4*longestWait; took > most {
		p.violates("time: OpenNode took %s, at most %s is allowed", took, most)
	}
	if err == nil {
		w.log(p, "is open")
		return
	}
	w.log(p, "does not open: %s", w.refusal(p, err))
}

// closed looks at how Close ended. lost is what ended the node before.
func (w *world) closed(p *process, took time.Duration, lost, err error) {
	_, after := p.kinds[0].next()
	w.mu.Lock()
	defer w.mu.Unlock()
	if most := 2 * timeoutOf(p.opts); took > most {
		p.violates("time: Close took %s, at most %s is allowed", took, most)
	}
	if end := p.node.Err(); after != end || end == nil || lost != nil && end != lost {
		p.violates("refusal: after Close, Next returns %v; the node ended with %v, before with %v", after, end, lost)
	}
	if _, p.lost = errors.AsType[*gameid.LostError](p.node.Err()); p.lost && err != nil {
		p.violates("refusal: the node was lost (%v), and yet Close returns %v", lost, err)
	}
	if err == nil {
		w.log(p, "is closed")
		return
	}
	w.log(p, "is closed: %s", w.refusal(p, err))
}

// returned looks at what a generator returned.
func (w *world) returned(p *process, c call) {
	left := time.Duration(0)
	if _, ok := errors.AsType[*gameid.ExhaustedError](c.err); ok {
		left = p.stats().Left
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	what := "Next"
	if c.size > 0 {
		what = fmt.Sprintf("Fill(%d)", c.size)
	}
	// Waiting for the clock is as slow as the clock, for the registry as slow
	// as the call to it. A wait for the clock ends a millisecond late.
	full := time.Duration((max(c.size, 1)+c.rivals)>>gameid.SequenceBits+2) * time.Millisecond
	most := timeoutOf(p.opts) + full*rightRate/slowest + time.Millisecond
	if max(c.after.ms(), p.base) > c.began.UnixMilli()-gameid.EpochMillis-longestWait.Milliseconds() || w.clocksWrong {
		// At the end of the window: the call under way may bring nothing, and
		// the next one waits for the clock, which may run slow.
		most += timeoutOf(p.opts) + longestWait*rightRate/slowest
	}
	if c.froze {
		most += timeoutOf(p.opts) // what was reserved at the first wait was over when it thawed: it waits once more
	}
	most += 2 * minStep * time.Millisecond // a node that skipped waits for its clock before it asks
	if stood := p.clock.stood.After(c.began) || p.clock.wall.rate <= slowest; c.awake > most && !stood {
		p.violates("time: %s took %s, at most %s is allowed", what, c.awake, most)
	}
	if c.err != nil {
		if v, ok := errors.AsType[violation](c.err); ok {
			p.violates("%s", v)
		}
		w.log(p, "%s: %s", what, w.refusal(p, c.err))
		if left > 0 {
			p.violates("exhausted: the node refuses although it has %s left", left)
		}
		return
	}
	w.log(p, "%s: %s", what, c.spans)
	if c.ended {
		p.violates("ended: the node had ended, and yet %s returned %s", what, c.spans)
	}
	p.check(c)
	for _, s := range c.spans {
		w.ids += uint64(s.last - s.first + 1)
		if last := len(p.minted) - 1; last >= 0 && p.minted[last].last+1 == s.first {
			p.minted[last].last = s.last
		} else {
			p.minted = append(p.minted, s)
		}
	}
	if db := p.conn.db; w.chance(w.plan.store) && !db.down {
		db.store(c.spans)
	}
}

// check looks at the IDs that a call returned.
func (p *process) check(c call) {
	count, after := 0, c.after
	for _, s := range c.spans {
		count += int(s.last - s.first + 1)
		if s.first <= after {
			p.violates("order: %s after %s", s.first, after)
		}
		after = s.last
		if !p.granted(s.first.ms(), s.last.ms()) {
			p.violates("range: %s to %s is not within what was granted", s.first, s.last)
		}
	}
	if count != max(c.size, 1) {
		p.violates("count: %d IDs instead of %d", count, max(c.size, 1))
	}
	if now, _ := gameid.MillisOf(time.Now()); !p.w.clocksWrong && after.ms() > now+p.w.widest.Milliseconds() {
		p.violates("lead: %s, and it is %d: more than %s ahead", after, now, p.w.widest)
	}
	if least, _ := gameid.MillisOf(clamp(c.low.Add(c.elapsed))); c.spans[0].first.ms() < least && !*flagCoarse {
		p.violates("late: %s, at least %d is expected", c.spans[0].first, least)
	}
}

// granted tells whether the process was granted all times from first to last.
func (p *process) granted(first, last int64) bool {
	for _, g := range slices.Backward(p.w.grants) {
		if g.p == p && g.use <= last && g.to >= last {
			if g.use <= first {
				return true
			}
			last = g.use - 1
		}
	}
	return false
}

// stats returns the node's statistics.
func (p *process) stats() gameid.Stats {
	p.w.mu.Lock()
	p.peeking = true
	p.w.mu.Unlock()
	s := p.node.Stats()
	p.w.mu.Lock()
	p.peeking = false
	p.w.mu.Unlock()
	return s
}

// refusal names what err refuses, and looks whether it has a reason to.
func (w *world) refusal(p *process, err error) string {
	name, reason := p.reason(err)
	if name == "" {
		p.violates("refusal: %v is of no documented kind", err)
	} else if !reason {
		p.violates("refusal: %q without a reason: it last read %+v, its clock said %s, the newest call: %v",
			err, p.conn.loaded, p.clock.shown, p.conn.failing)
	}
	w.tally.refusal(name)
	return name
}

func (p *process) reason(err error) (name string, reason bool) {
	rec, skew := p.conn.loaded, p.opts.MaxSkew
	other := rec.Holder.Token == "" || p.w.tokens[rec.Holder.Token] != p
	if e, ok := errors.AsType[*gameid.HeldError](err); ok {
		return "HeldError", other && !rec.dead && e.Holder == rec.Holder && e.Server == p.w.server &&
			e.Now.Equal(rec.Now) && e.LeaseUntil.Equal(rec.LeaseUntil) && rec.Now.Before(rec.LeaseUntil)
	}
	if e, ok := errors.AsType[*gameid.LostError](err); ok {
		return "LostError", other && e.Holder == rec.Holder && e.Server == p.w.server
	}
	if e, ok := errors.AsType[*gameid.ClockError](err); ok {
		return "ClockError", e.Limit == skew && e.Registry.Equal(rec.Now) && e.Local.Equal(p.clock.compared) && p.off() > skew
	}
	if e, ok := errors.AsType[*gameid.MarkError](err); ok {
		mark := gameid.TimeOf(max(rec.Reserved, p.conn.floor))
		return "MarkError", e.Limit == p.markLimit() && e.Mark.Equal(mark) && e.Now.Equal(latest(rec.Now, p.clock.compared)) && mark.Sub(e.Now) > e.Limit
	}
	if e, ok := errors.AsType[*gameid.ExhaustedError](err); ok {
		// The newest attempt to reserve failed, for the reason that is given.
		until, _ := gameid.MillisOf(e.Until)
		return "ExhaustedError", p.conn.failing != nil && known(e.Cause) && until >= p.last.ms() && until <= p.conn.asked
	}
	if _, ok := errors.AsType[*gameid.TimeError](err); ok {
		return "TimeError", !clamp(p.clock.shown).Equal(p.clock.shown)
	}
	if errors.Is(err, gameid.ErrClosed) {
		return "ErrClosed", p.state == closing || p.gone
	}
	if err == errStopped {
		return "stopped by its owner", p.stopped
	}
	if known(err) {
		return "registry unreachable", true
	}
	return "", false
}

// known tells whether err comes from a fault of the world.
func known(err error) bool {
	return errors.Is(err, errLost) || errors.Is(err, errRefused) || errors.Is(err, context.DeadlineExceeded) ||
		strings.Contains(err.Error(), "changed by another process") ||
		strings.Contains(err.Error(), "times in a row")
}

// verify looks at all IDs of the world together. That two processes minted the
// same is a violation, unless a database had forgotten that it gave those times
// to one of them, and the second defence failed too: see [world.overlap].
func (w *world) verify() {
	type issue struct {
		p *process
		span
	}
	var all []issue
	for _, p := range w.procs {
		for _, s := range p.minted {
			all = append(all, issue{p, s})
		}
	}
	slices.SortFunc(all, func(a, b issue) int { return cmp.Or(cmp.Compare(a.first, b.first), a.p.id-b.p.id) })
	var open []issue // those that reach to where we are
	for _, next := range all {
		open = slices.DeleteFunc(open, func(i issue) bool { return i.last < next.first })
		for _, i := range open {
			both := int(min(i.last, next.last)-next.first) + 1
			a, b := i.p, next.p
			if a.id > b.id {
				a, b = b, a
			}
			why := cmp.Or(w.forks[[2]*process{a, b}], w.forks[[2]*process{b, a}])
			if why == "" {
				w.violates("duplicate: %s was minted by %s and by %s", next.first, a, b)
				w.tally.duplicates += both
				continue
			}
			if a.moved || b.moved || a.conn.db != b.conn.db {
				why += ", on two copies of a database: the merge check sees them"
			}
			w.tally.excused[why] += both
		}
		open = append(open, next)
	}
}

// seenByMergeCheck demands that the check before a merge tells two databases
// that were copied from each other, and finds every ID that is in both.
func (w *world) seenByMergeCheck(a, b *database) error {
	const most = 300
	source := func(db *database) (catalog.Source, map[gameid.ID]bool) {
		ids := make(map[gameid.ID]bool)
		var rows []mergetest.Row
		for _, s := range db.stored {
			for word := s.first; word <= min(s.last, s.first+20) && len(ids) < most; word++ {
				id, err := gameid.Make(gameid.TimeOf(word.ms()), w.server, uint16(word))
				if err == nil && !ids[id] {
					ids[id] = true
					rows = append(rows, mergetest.Row{"id": id})
				}
			}
		}
		return &mergetest.Database{
			Label: fmt.Sprintf("db%d", db.name),
			Schema: catalog.Catalog{Engine: "sqlite", SchemaVersion: 1, Now: time.Now(), Tables: []catalog.Table{{
				Name: "things", Columns: []catalog.Column{{Name: "id", Type: "BLOB", IsID: true}}, Primary: []string{"id"},
			}}},
			Registry: []catalog.Server{{Server: w.server, World: "the world", Own: true, Reserved: gameid.MaxMillis}},
			Rows:     map[string][]mergetest.Row{"things": rows},
		}, ids
	}
	sourceA, idsA := source(a)
	sourceB, idsB := source(b)
	report, err := merge.Check(context.Background(), []catalog.Source{sourceA, sourceB}, rules.Options{})
	if err != nil {
		return err
	}
	want := map[string]int64{verdict.CodeWorldCloned: 1}
	for id := range idsA {
		if idsB[id] {
			want[verdict.CodeKeyCollision]++
		}
	}
	for _, r := range report.Results {
		want[r.Code] -= r.Count
	}
	if want[verdict.CodeWorldCloned] != 0 || want[verdict.CodeKeyCollision] != 0 {
		return fmt.Errorf("the merge check misses %d clones and %d IDs that are in both", want[verdict.CodeWorldCloned], want[verdict.CodeKeyCollision])
	}
	return nil
}
