package planner

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/rowio"
)

// world describes the database for a plan.
func world(ctx context.Context, s *rowio.Source) (plan.World, error) {
	w := plan.World{Name: s.Name(), Schema: plan.Schema(s)}
	var err error
	if w.Tables, err = plan.Pack(plan.Form(s)); err != nil || !s.Known.HasRegistry {
		return w, err
	}
	if w.Servers, err = s.Servers(ctx); err != nil {
		err = fmt.Errorf("database %q: %w", s.Name(), err)
	}
	return w, err
}
