package counters

import (
	"fmt"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/step"
	"mergesafe/merge/verdict"
)

// chooseSequence notes how far a sequence of the target is to be raised.
func chooseSequence(p *step.Planning, c *verdict.RekeyedCounter) {
	target := p.DBs[0]
	s := target.Known.Sequence(c.Table)
	refuse := func(format string, args ...any) {
		p.Refuse(plan.Refusal{Source: target.Name(), Table: c.Table, Reason: fmt.Sprintf("the sequence "+format, args...)})
	}
	switch {
	case s == nil:
		refuse("does not exist any more")
		return
	case s.Increment < 0 || s.Cycle || s.Next.Negative:
		refuse("counts down, begins again at its end, or is below 0, so its numbers would collide with keys that come; make it one that only rises (ALTER SEQUENCE), then plan again")
		return
	}
	after := c.Next
	if by := uint64(s.Increment); by > 1 && after > s.Next.Bits { // it keeps the remainder
		after += (by - (after-s.Next.Bits)%by) % by
	}
	switch {
	case after <= s.Next.Bits:
	case s.Max.Less(rekey.Integer{Bits: after}):
		refuse("would be raised to %d, and ends at %s: ALTER SEQUENCE %s MAXVALUE, then plan again", after, s.Max, target.Dialect.Quote(s.Name))
	default:
		p.Plan.Counters = append(p.Plan.Counters, plan.RowCounter{Table: c.Table, Before: s.Next.Bits, After: after})
	}
}

// probes need the rights to raise a sequence and to set it back, and change nothing: a sequence is
// not set to less than it stands at.
func probes(p *plan.Plan, d rowio.Dialect, _ func(table string) *rowio.Layout) (all []step.Probe) {
	for _, c := range p.Counters {
		if c.Column == "" {
			name := d.Quote(c.Table)
			all = append(all, step.Probe{Table: c.Table, Statement: fmt.Sprintf("DO SETVAL(%s, %d, 0)", name, int64(c.Before)-1)}, step.Probe{Table: c.Table, Statement: "ALTER TABLE " + name})
		}
	}
	return all
}
