package apply

import (
	"context"
	"fmt"

	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
)

// moved says how registries of the worlds and counters of the first one differ from the plan, which has to be made again
// then; "" if they do not.
func moved(ctx context.Context, r *job.Run) (reason string, err error) {
	for i, w := range r.Plan.Worlds {
		if len(w.Servers) == 0 {
			continue
		}
		now, err := ledger.Servers(ctx, r.Worlds[i].Database)
		if err != nil {
			return "", fmt.Errorf("database %q: %w", w.Name, err)
		}
		if reason := ledger.ChangedServers(w, now); reason != "" {
			return reason, nil
		}
	}
	s, err := rowio.OpenSource(ctx, r.Worlds[0].Database)
	if err != nil {
		return "", err
	}
	r.Know(s)
	s.Close()
	return countersMoved(ctx, r)
}

// countersMoved says which counter of the first world is beyond the plan's; "" if none is. [job.Run.Know] must have been
// called.
func countersMoved(ctx context.Context, r *job.Run) (reason string, err error) {
	on := r.Worlds[0]
	for _, t := range r.Plan.Tables {
		if t.Counter == nil || r.Keys[t.Name] == nil {
			continue
		}
		next, err := schema.Counter(ctx, on, t.Name)
		if err != nil {
			return "", err
		}
		if next > t.Counter.Before && t.Counter.Before > 0 {
			return fmt.Sprintf("the counter of table %q was %d and is %d", t.Name, t.Counter.Before, next), nil
		}
	}
	for _, c := range r.Plan.Counters {
		l := r.Keys[c.Table]
		if c.Column == "" || l == nil {
			continue // a sequence gives its numbers in advance
		}
		key, err := rowio.DecodeKey(c.Key)
		if err != nil {
			return "", err
		}
		if l.Multiset() || len(l.Key) != len(key) {
			continue // it was altered, which is told elsewhere
		}
		values, err := on.Texts(ctx, "SELECT CAST("+on.Dialect().Quote(c.Column)+" AS CHAR) FROM "+on.Dialect().Quote(c.Table)+" WHERE "+l.Equal(1), l.Bound(key)...)
		if err != nil {
			return "", err
		}
		for _, text := range values {
			if n, ok := rekey.ParseInteger([]byte(text)); ok && !n.Negative && n.Bits > c.Before {
				return fmt.Sprintf("the counter %s of table %q, row %s, was %d and is %s", c.Column, c.Table, rowio.KeyText(c.Key), c.Before, text), nil
			}
		}
	}
	return "", nil
}
