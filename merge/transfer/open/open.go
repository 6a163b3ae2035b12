package open

import (
	"context"
	"fmt"

	"mergesafe/merge/transfer/apply"
	"mergesafe/merge/transfer/job"
	"mergesafe/merge/transfer/ledger"
	"mergesafe/merge/transfer/plan"
	"mergesafe/merge/transfer/prove"
	"mergesafe/merge/transfer/rowio"
	"mergesafe/merge/transfer/schema"
	"mergesafe/merge/verdict"
)

// Options configures [Open].
type Options struct {
	job.Options

	// Placing, if not nil, is called when all was looked at, before anybody can enter: to note
	// elsewhere where the world is now. If the call is interrupted it is made again.
	Placing func(ctx context.Context) error
}

// Opened is the result of [Open].
type Opened struct {
	ID     string       `json:"id"`
	Before bool         `json:"before,omitempty"` // an earlier call had opened it
	Events int          `json:"events,omitempty"` // that run from now on
	Lifted []job.Lifted `json:"lifted,omitempty"` // the servers that may start
}

// Open opens the new database of a merge, which [prove.Verify] must have found as planned: it
// looks once more whether anybody wrote there or in a world, enables the events, and lifts the
// fence of the new database last. The worlds stay fenced.
//
// If it is interrupted, the same call resumes. If the database is open, nothing is looked at and
// nothing changed. A database that was not proved, or that was written to, is a
// [*ledger.RefusedError].
func Open(ctx context.Context, p *plan.Plan, into rowio.Database, worlds []rowio.Database, opts Options) (*Opened, error) {
	return With(ctx, p, into, worlds, opts, job.Hooks{})
}

// With is [Open] with what only tests choose.
func With(ctx context.Context, p *plan.Plan, into rowio.Database, worlds []rowio.Database, opts Options, h job.Hooks) (*Opened, error) {
	r, err := job.NewRun(p, into, worlds, opts.Options, h)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.New.Unchecked = true
	state, err := r.Begin(ctx)
	if err != nil {
		return nil, err
	}
	done := &Opened{ID: p.ID, Before: state == ledger.StateOpen}
	if state == ledger.StateProved {
		err = look(ctx, r)
	} else if state != ledger.StateOpen {
		err = refuse(r, "%s", notProved(r, state))
	}
	if err != nil {
		return done, err
	}
	if err := enter(ctx, r, opts, done); err != nil {
		return done, err
	}
	done.Lifted = r.Lifted
	return done, nil
}

func refuse(r *job.Run, format string, args ...any) error {
	return &ledger.RefusedError{Doing: "open", Refusals: []plan.Refusal{{Source: r.New.Name, Reason: fmt.Sprintf(format, args...)}}}
}

// notProved says what has to come first.
func notProved(r *job.Run, state ledger.State) string {
	switch state {
	case "":
		return "it was not made: run apply, then verify"
	case ledger.StateMade:
		return "it was not proved: run verify, which must end with PASS"
	case ledger.StateTried:
		return "it was made by a rehearsal, from worlds that may have run, and is never opened: run undo, which drops it"
	case ledger.StateUndoing, ledger.StateDropping:
		return fmt.Sprintf("the merge %s is being undone: run undo again to its end", r.Plan.ID)
	}
	return "it is not complete: run apply to its end, then verify"
}

// look makes sure that no process wrote since the proof. If no registry keeps a game from starting, it
// repeats the whole proof.
func look(ctx context.Context, r *job.Run) error {
	err := r.Retry(ctx, "looking at the new database", func(ctx context.Context) error {
		if err := r.LookAt(ctx, func(s *rowio.Source) error {
			r.Know(s)
			if err := r.SameColumns("open", "undo the merge, then apply it again"); err != nil {
				return err
			}
			hidden, err := s.HiddenObjects(ctx) // events that are to be enabled
			if err == nil && len(hidden) > 0 {
				err = refuse(r, "the account cannot see all of it: %s", hidden[0])
			}
			return err
		}); err != nil {
			return err
		}
		if err := apply.AsMade(ctx, r, "open", false); err != nil {
			return err
		}
		return apply.Undisturbed(ctx, r)
	})
	if err != nil || r.Registry {
		return err
	}
	proof, err := prove.Again(ctx, r)
	if err != nil {
		return err
	}
	if proof.Verdict != verdict.Pass {
		return refuse(r, "it has no registry that would keep a game from starting, so it was proved once more, and is not as planned any more: %s: undo the merge, or run verify to see how it differs", proof.Verdict)
	}
	return nil
}

// enter lets the game in.
func enter(ctx context.Context, r *job.Run, opts Options, done *Opened) error {
	if !done.Before && opts.Placing != nil {
		if err := opts.Placing(ctx); err != nil {
			return err
		}
	}
	return r.Retry(ctx, "opening the new database", func(ctx context.Context) error {
		if !done.Before {
			all, err := schema.Read(ctx, r.Worlds[0])
			if err != nil {
				return err
			}
			if err := all.EnableEvents(ctx, r.New); err != nil {
				return err
			}
			done.Events = all.Enabled()
			if err := r.Manifest.Advance(ctx, ledger.StateProved, ledger.StateOpen); err != nil {
				return err
			}
		}
		return apply.OpenGate(ctx, r)
	})
}
