package job

import (
	"context"
	"fmt"
	"slices"

	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// Apart returns a [*record.RefusedError] if two of the databases are one, under two names. Whether that can be told of
// the worlds is a matter of the plan, which may allow that it cannot. It is asked once: no DSN leads elsewhere while a command runs.
func (r *Run) Apart(ctx context.Context, doing string) error {
	if r.apart {
		return nil
	}
	var all []world.Database
	for _, c := range r.Worlds {
		all = append(all, c.Database)
	}
	if there, err := world.Exists(ctx, r.New.Database); err != nil {
		return err
	} else if there {
		all = append(all, r.New.Database)
	}
	twins, err := world.Twins(ctx, all)
	if err != nil {
		return err
	}
	refused := &record.RefusedError{Doing: doing}
	allowed := slices.ContainsFunc(r.Plan.Check.Allowed, func(r plan.Refusal) bool { return r.Code == verdict.CodeWorldTwice })
	for _, t := range twins {
		if t.Unclear == "" {
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: t.B, Reason: fmt.Sprintf("it is the same database as %q: check which databases their DSNs lead to", t.A)})
		} else if !allowed && t.B != r.New.Name { // which is known by its record
			refused.Refusals = append(refused.Refusals, plan.Refusal{Source: t.B, Reason: fmt.Sprintf("it may be the same database as %q: %s", t.A, t.Unclear), Next: plan.NextPlan})
		}
	}
	if len(refused.Refusals) > 0 {
		return refused
	}
	r.apart = true
	return nil
}
