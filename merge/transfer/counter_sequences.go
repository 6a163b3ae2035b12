package transfer

import (
	"context"
	"fmt"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// findSequence notes how far a sequence of the target is to be raised.
func (p *planner) findSequence(c *merge.RekeyedCounter) {
	target := p.dbs[0]
	s := target.catalog.Sequence(c.Table)
	refuse := func(format string, args ...any) {
		p.refuse(Refusal{Source: target.Name(), Table: c.Table, Reason: fmt.Sprintf("the sequence "+format, args...)})
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
	if by := uint64(s.Increment); by > 1 && after > s.Next.Bits { // it goes on with the same remainder
		after += (by - (after-s.Next.Bits)%by) % by
	}
	switch {
	case after <= s.Next.Bits:
	case s.Max.Less(rekey.Integer{Bits: after}):
		refuse("would be raised to %d, and ends at %s: ALTER SEQUENCE %s MAXVALUE, then plan again", after, s.Max, target.dialect.Quote(s.Name))
	default:
		p.plan.Counters = append(p.plan.Counters, RowCounter{Table: c.Table, Before: s.Next.Bits, After: after})
	}
}

// sequenceAt returns the number that a sequence has certainly not given.
func (r *run) sequenceAt(ctx context.Context, c *RowCounter) (uint64, error) {
	values, err := r.target.texts(ctx, "SELECT CAST(next_not_cached_value AS CHAR) FROM "+r.target.dialect().Quote(c.Table))
	if err != nil {
		return 0, fmt.Errorf("reading the sequence %q: %w", c.Table, err)
	}
	if len(values) != 1 {
		return 0, fmt.Errorf("the sequence %q of %q has %d rows, want one", c.Table, r.target.Name, len(values))
	}
	next, ok := rekey.ParseInteger([]byte(values[0]))
	if !ok || next.Negative {
		return 0, fmt.Errorf("the sequence %q of %q is at %s", c.Table, r.target.Name, values[0])
	}
	return next.Bits, nil
}

// setSequence raises a sequence, or sets it back if it gave no number since.
func (r *run) setSequence(ctx context.Context, c *RowCounter, back bool) error {
	next, err := r.sequenceAt(ctx, c)
	name := r.target.dialect().Quote(c.Table)
	switch {
	case err != nil:
		return err
	case back && next == c.After:
		_, err = r.target.exec(ctx, "counter", fmt.Sprintf("ALTER SEQUENCE %s RESTART WITH %d", name, c.Before), false)
		return err
	case back, next >= c.After:
		return nil
	case next != c.Before:
		return fmt.Errorf("transfer: the sequence %q of %q is not at %d any more: another process used it while the merge ran: undo the merge, then plan again", c.Table, r.target.Name, c.Before)
	}
	_, err = r.target.exec(ctx, "counter", fmt.Sprintf("DO SETVAL(%s, %d, 0)", name, c.After), false)
	return err
}

// sequenceProbes are statements that need the rights to raise a sequence and to set it
// back, and change nothing: a sequence is not set to less than it stands at.
func sequenceProbes(d dialect, c *RowCounter) []string {
	name := d.Quote(c.Table)
	return []string{fmt.Sprintf("DO SETVAL(%s, %d, 0)", name, int64(c.Before)-1), "ALTER TABLE " + name}
}
