package merge

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"
	"mergesafe/merge/plan"
	"mergesafe/merge/record"
	"mergesafe/merge/world"
)

// Gone is called with the error of a command that works on a plan: a database or a table may have been dropped or renamed before
// it or while it ran. If that is so of a world, it returns a [*RefusedError] that names it, instead of the answer of a server.
func Gone(ctx context.Context, doing string, p *Plan, into Database, worlds []Database, err error) error {
	for _, known := range []error{nil, ErrStopped, ErrBusy, ErrNoMerge, ErrNotProved, sqldb.ErrUnavailable} {
		if errors.Is(err, known) {
			return err
		}
	}
	if _, refused := errors.AsType[*RefusedError](err); refused || len(worlds) != len(p.Worlds) {
		return err
	}
	now := &RefusedError{Doing: doing}
	for i, d := range worlds {
		if what, unread := record.Gone(ctx, p, i, d); unread == nil && what != "" {
			now.Refusals = append(now.Refusals, Refusal{Source: d.Name, Reason: what + plan.Restore})
		}
	}
	if len(now.Refusals) > 0 {
		return now
	}
	if there, unread := world.Exists(ctx, into); unread == nil && !there && sqldb.Says(err, sqldb.NoDatabase) {
		return fmt.Errorf("merge: database %q was dropped while %s ran: run it again: %w", into.Name, doing, err)
	}
	return dropped(doing, err)
}

// goneFromPlan is Gone for the command that makes the plan.
func goneFromPlan(ctx context.Context, worlds []Database, err error) error {
	if sqldb.Says(err, sqldb.NoDatabase) || errors.Is(err, sqldb.ErrChanged) {
		for _, d := range worlds {
			if there, unread := world.Exists(ctx, d); unread == nil && !there {
				return fmt.Errorf("merge: database %q: there is no such database%s", d.Name, plan.Restore)
			}
		}
	}
	return dropped("plan", err)
}

// dropped says what it means that a table or a database, of which a command knew, is not there.
func dropped(doing string, err error) error {
	if sqldb.Says(err, sqldb.Redefined) {
		return fmt.Errorf("merge: a table was altered, or dropped and made again, while %s ran: run it again: %w", doing, err)
	}
	if sqldb.Says(err, sqldb.NoTable) || sqldb.Says(err, sqldb.NoDatabase) {
		err = fmt.Errorf("merge: a table or a database was dropped or renamed while %s ran: run it again, which says what is missing: %w", doing, err)
	}
	return err
}
