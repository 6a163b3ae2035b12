package job

import (
	"context"
	"fmt"

	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Unaltered returns a [*record.RefusedError] if the worlds are not those of the plan, or if their tables were altered
// since. If there are none such, it calls look, unless that is nil, for each world in turn; from the first one again if it
// has to retry.
func (r *Run) Unaltered(ctx context.Context, doing string, look func(world int, s *world.World) error) error {
	return r.Retry(ctx, "reading the databases", func(ctx context.Context) error {
		if err := r.Apart(ctx, doing); err != nil {
			return err
		}
		refused := &record.RefusedError{Doing: doing}
		for i, c := range r.Worlds {
			s, err := world.OpenWorld(ctx, c.Database)
			if err != nil {
				return err
			}
			var now []catalog.Server
			if s.Known.HasRegistry {
				now, err = s.Servers(ctx)
			}
			another := r.Plan.Worlds[i].Another(now)
			if err == nil && another != "" {
				refused.Refusals = append(refused.Refusals, plan.Refusal{Source: c.Name, Reason: another})
			} else if what := r.Plan.Altered(i, s, true); err == nil && what != "" {
				refused.Refusals = append(refused.Refusals, plan.Refusal{Source: c.Name, Reason: what + ": alter them back"})
			}
			if err == nil && len(refused.Refusals) == 0 && look != nil {
				err = look(i, s)
			}
			s.Close()
			if err != nil {
				return err
			}
		}
		if len(refused.Refusals) > 0 {
			return refused
		}
		return nil
	})
}

// LookAt opens the new database as package merge sees it, for the time of f.
func (r *Run) LookAt(ctx context.Context, f func(s *world.World) error) error {
	return r.Retry(ctx, fmt.Sprintf("reading %q", r.New.Name), func(soft context.Context) error {
		s, err := world.OpenWorld(soft, r.New.Database)
		if err != nil {
			return err
		}
		defer s.Close()
		return f(s)
	})
}

// Learn is [Run.Know] of the new database as it is now.
func (r *Run) Learn(ctx context.Context) error {
	return r.LookAt(ctx, func(s *world.World) error {
		r.Know(s)
		return nil
	})
}
