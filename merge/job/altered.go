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
			why, err := r.another(ctx, i, s)
			if err == nil && why != "" {
				refused.Refusals = append(refused.Refusals, plan.Refusal{Source: c.Name, Reason: why})
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

// another says why an open world is not the one that was planned; "" if it is.
func (r *Run) another(ctx context.Context, i int, s *world.World) (why string, err error) {
	gone, err := record.Missing(ctx, r.Plan, i, s.On)
	if err != nil {
		return "", err
	}
	if gone != "" {
		return gone + plan.Restore, nil
	}
	var now []catalog.Server
	if s.Known.HasRegistry {
		if now, err = s.Servers(ctx); err != nil {
			return "", err
		}
	}
	if another := r.Plan.Worlds[i].Another(now); another != "" {
		return another, nil
	}
	if what := r.Plan.Altered(i, s, true); what != "" {
		return what + ": alter them back", nil
	}
	return "", nil
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
