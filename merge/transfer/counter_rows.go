package transfer

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge"
	"mergesafe/merge/rekey"
)

// RowCounter is a value in the target in which the game counts keys. It is raised above
// the keys that come.
type RowCounter struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"` // empty: Table is a sequence
	Key    string `json:"key,omitempty"`    // of the row; see [KeyText]
	Before uint64 `json:"before"`
	After  uint64 `json:"after"`
}

// findCounters reads the counters in rows of the target that are to be raised.
func (p *planner) findCounters(ctx context.Context) error {
	if p.plan.Rekey == nil {
		return nil
	}
	target := p.dbs[0]
	for _, c := range p.plan.Rekey.Counters {
		if c.Column == "" {
			p.findSequence(&c)
			continue
		}
		t := target.table(c.Table)
		refuse := func(format string, args ...any) {
			p.refuse(Refusal{Source: target.Name(), Table: c.Table, Reason: fmt.Sprintf(format, args...)})
		}
		if t == nil || t.Key() == nil {
			refuse("its column %s counts keys, and the table has no key to find its rows by", c.Column)
			continue
		}
		for _, trigger := range t.Triggers {
			if trigger.On(merge.OnUpdate) {
				refuse(forCounters, trigger.Name, trigger.Event)
			}
		}
		l := newLayout(target.dialect, t)
		at, on := slices.Index(l.columns, c.Column), -1
		if c.When != nil {
			on = slices.Index(l.columns, c.When.Column)
		}
		if at < 0 {
			refuse("its column %s counts keys, and cannot be written", c.Column)
			continue
		}
		err := every(ctx, target.on, l, func(row []any) error {
			if c.When != nil && (on < 0 || !c.When.Holds(printed(row[on]))) {
				return nil
			}
			n, ok := rekey.ParseInteger(printed(row[at]))
			if !ok || n.Negative {
				refuse("row %s: its column %s counts keys, and is not a number above 0", l.keyText(row), c.Column)
				return nil
			}
			if c.Most > 0 && c.Next > c.Most && n.Bits < c.Next {
				refuse("row %s: its column %s counts keys, would be raised to %d, and ends at %d: give it a larger type in all databases, or raise max of its space", l.keyText(row), c.Column, c.Next, c.Most)
				return nil
			}
			key, err := encodeKey(l.keyOf(row))
			if err == nil && n.Bits < c.Next {
				p.plan.Counters = append(p.plan.Counters, RowCounter{c.Table, c.Column, key, n.Bits, c.Next})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// raiseRowCounters raises the counters in rows, or sets back those that nobody raised
// further since.
func (r *run) raiseRowCounters(ctx context.Context, back bool) error {
	for _, c := range r.plan.Counters {
		if c.Column == "" {
			if err := r.setSequence(ctx, &c, back); err != nil {
				return err
			}
			continue
		}
		from, to := c.Before, c.After
		if back {
			from, to = to, from
		}
		d := r.target.dialect()
		statement := fmt.Sprintf("UPDATE %s SET %s = %d", d.Quote(c.Table), d.Quote(c.Column), to)
		for _, name := range r.clocked[c.Table] {
			statement += fmt.Sprintf(", %s = %[1]s", d.Quote(name))
		}
		if _, err := r.counterRow(ctx, &c, statement, from); err != nil {
			return err
		}
		if back {
			continue
		}
		reached, err := r.counterAt(ctx, &c)
		if err != nil {
			return err
		}
		if !reached {
			return fmt.Errorf("transfer: table %q of %q: row %s: its counter %s is not %d any more: another process wrote to it while the merge ran: undo the merge, then plan again",
				c.Table, r.target.Name, KeyText(c.Key), c.Column, c.Before)
		}
	}
	return nil
}

// counterAt reports whether a counter is where the merge raises it, or beyond.
func (r *run) counterAt(ctx context.Context, c *RowCounter) (bool, error) {
	d := r.target.dialect()
	where, args, err := r.counterKey(c)
	if err != nil {
		return false, err
	}
	found := false
	err = r.target.rows(ctx, "SELECT "+d.Quote(c.Column)+" FROM "+d.Quote(c.Table)+where, false, args, func(row []any) (bool, error) {
		n, ok := rekey.ParseInteger(printed(row[0]))
		found = ok && !n.Negative && n.Bits >= c.After
		return true, nil
	})
	return found, err
}

func (r *run) counterRow(ctx context.Context, c *RowCounter, statement string, value uint64) (int64, error) {
	where, args, err := r.counterKey(c)
	if err != nil {
		return 0, err
	}
	return r.target.exec(ctx, "counter", statement+where+fmt.Sprintf(" AND %s = %d", r.target.dialect().Quote(c.Column), value), false, args...)
}

// counterKey is the condition that finds the row of a counter.
func (r *run) counterKey(c *RowCounter) (where string, args []any, err error) {
	if args, err = decodeKey(c.Key); err != nil {
		return "", nil, err
	}
	l := r.keys[c.Table]
	if l == nil || l.multiset() || len(l.key) != len(args) {
		return "", nil, fmt.Errorf("table %q has another key than when the merge was planned", c.Table)
	}
	return " WHERE " + l.equal(1), l.bound(args), nil
}

// proveCounters makes sure that no counter lies below the keys that came.
func (r *run) proveCounters(ctx context.Context, p *KeyProof) error {
	for _, c := range r.plan.Counters {
		if c.Column == "" {
			if next, err := r.sequenceAt(ctx, &c); err != nil {
				return err
			} else if next < c.After {
				p.wrong(1, "the sequence %s is below keys that came", c.Table)
			}
			continue
		}
		reached, err := r.counterAt(ctx, &c)
		if err != nil {
			return err
		}
		if !reached {
			p.wrong(1, "table %s: row %s: the counter %s is below keys that came", c.Table, KeyText(c.Key), c.Column)
		}
	}
	return nil
}
