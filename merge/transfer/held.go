package transfer

import (
	"context"
	"fmt"

	"mergesafe/store"
)

// held says of every server in a registry that may not take part in a merge why
// it may not: it runs, or another merge has fenced it. token is that of the
// merge's own fence.
func held(servers []store.Server, token string) (reasons []string) {
	for _, s := range servers {
		if into, since, ok := s.FencedInto(); ok && !s.Fenced(token) {
			reasons = append(reasons, fmt.Sprintf("server %s is fenced: its world went to %q by another merge, on %s: leave it out, or undo that merge first",
				s.ID, into, since.UTC().Format("2006-01-02T15:04:05Z")))
		} else if !s.FenceFree(token) {
			reasons = append(reasons, fmt.Sprintf("server %s runs: it is held by %s until %s: stop it first",
				s.ID, s.Holder, s.LeaseUntil.UTC().Format("2006-01-02T15:04:05Z")))
		}
	}
	return reasons
}

// refuseHeld refuses a database of whose servers one runs. A plan that was made
// of it would not fit any more when the server has stopped.
func (p *planner) refuseHeld(ctx context.Context, d Database) error {
	db, err := store.OpenReadOnly(ctx, d.DSN)
	if err != nil {
		return fmt.Errorf("database %q: %w", d.Name, err)
	}
	defer db.Close()
	servers, err := db.Registry().Servers(ctx)
	if err != nil {
		return fmt.Errorf("database %q: %w", d.Name, err)
	}
	for _, reason := range held(servers, "") {
		p.refuse(Refusal{Source: d.Name, Reason: reason + ", then plan again"})
	}
	return nil
}
