package build

import (
	"context"
	"errors"
	"fmt"

	"mergesafe/internal/sqldb"

	"mergesafe/internal/worldregistry"

	"mergesafe/merge/job"
	"mergesafe/merge/plan"
	"mergesafe/merge/prove"
	"mergesafe/merge/record"
	"mergesafe/merge/world"

	"mergesafe/merge/verdict"
)

// Options configures [Open].
type Options struct {
	job.Options

	// Placing, if not nil, is called when the database was proved, before anybody can enter: to note
	// elsewhere where the worlds are now. If the call is interrupted it is made again.
	Placing func(ctx context.Context) error
}

// Opened is the result of [Open].
type Opened struct {
	ID     string       `json:"id"`
	Before bool         `json:"before,omitempty"` // an earlier call had opened it
	Events int          `json:"events,omitempty"` // that run from now on
	Lifted []job.Lifted `json:"lifted,omitempty"` // the servers that may start

	// Proof is what the database was found to be; nil unless the proof came to its end, or if an earlier call had opened it.
	Proof *prove.Proof `json:"-"`

	Began  bool `json:"-"` // beside an error: something was written
	Closed bool `json:"-"` // the database is made, and no game can enter it yet
}

// ErrNotProved says that the new database was not found to be as planned: see [Opened.Proof].
var ErrNotProved = errors.New("merge: the new database is not as planned, and stays closed")

// Open proves that the new database is as planned, as [prove.Verify] does, and opens it: the fences of the worlds say
// so, the gate is lifted, and the events are enabled last. The worlds stay fenced.
//
// If the proof does not pass, the error is [ErrNotProved] and nothing was changed. If Open is interrupted, the same
// call resumes. If the database is open already, only what an interrupted call left is done, and nothing is proved. A merge
// in another state, or a world without its fence, is a [*record.RefusedError].
func Open(ctx context.Context, p *plan.Plan, into world.Database, worlds []world.Database, opts Options) (*Opened, error) {
	return With(ctx, p, into, worlds, opts, job.Hooks{})
}

// With is [Open] with what only tests choose.
func With(ctx context.Context, p *plan.Plan, into world.Database, worlds []world.Database, opts Options, h job.Hooks) (*Opened, error) {
	ctx, release := sqldb.Keep(ctx)
	defer release()
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
	done := &Opened{ID: p.ID, Before: state == record.StateOpen}
	defer func() {
		done.Began = r.Began
		done.Closed = state.Whole() && !done.Before && r.Manifest.Left != record.StateOpen
	}()
	if state == "" {
		if err := r.Retry(ctx, "checking the fences", func(ctx context.Context) error { return Lost(ctx, r, "open") }); err != nil {
			return done, err
		}
	}
	if !state.Whole() {
		return done, notMade(r, state)
	}
	if err := r.OrBusy(ctx, r.Kept(ctx, "open", state)); err != nil {
		return done, err
	}
	return done, r.OrBusy(ctx, open(ctx, r, opts, done))
}

func open(ctx context.Context, r *job.Run, opts Options, done *Opened) error {
	if !done.Before {
		if err := enter(ctx, r, opts, done); err != nil {
			return err
		}
	} else if err := openGate(ctx, r, record.StateOpen, done); err != nil || r.Manifest.Ended(record.StateOpen) {
		return err // an undo that was killed may have left the gate; the events are the game's now
	}
	return r.Retry(ctx, "enabling the events", func(ctx context.Context) error {
		all, err := world.Read(ctx, r.Worlds[0])
		if err != nil || !all.HasEvents() { // the game may be there, and nothing has to be written
			return err
		}
		if err := all.EnableEvents(ctx, r.New); err != nil {
			return err
		}
		done.Events = all.Enabled()
		return r.Manifest.NoteEnd(ctx, record.StateOpen)
	})
}

// enter proves the database, and opens it to game servers.
func enter(ctx context.Context, r *job.Run, opts Options, done *Opened) error {
	proof, err := prove.Prove(ctx, r)
	if err != nil {
		return err
	}
	done.Proof = proof
	if proof.Verdict != verdict.Pass {
		return ErrNotProved
	}
	err = inOrder(ctx, r, []step{
		{"trying to write fences", func(ctx context.Context) error { return mayFence(ctx, r, "open") }},
		{"recording that it is being opened", func(ctx context.Context) error {
			err := r.Manifest.Advance(ctx, r.Manifest.Left, record.StateOpening)
			r.Began = err == nil
			return err
		}},
		{"marking the fences", func(ctx context.Context) error { return MarkFences(ctx, r, worldregistry.FenceOpened) }},
		{"recording where the worlds are", func(ctx context.Context) error {
			if opts.Placing == nil {
				return nil
			}
			return opts.Placing(ctx)
		}},
	}...)
	if err != nil {
		return err
	}
	return openGate(ctx, r, record.StateOpening, done)
}

// openGate records that the database is open and lets its servers start, at once.
func openGate(ctx context.Context, r *job.Run, from record.State, done *Opened) error {
	return r.Retry(ctx, "lifting the fence of "+r.New.Name, func(ctx context.Context) error {
		r.Lifted = nil
		err := r.New.Tx(ctx, func() error {
			if err := r.Manifest.Advance(ctx, from, record.StateOpen); err != nil {
				return err
			}
			if err := r.Manifest.HoldState(ctx, record.StateOpen, record.Exclusive); err != nil {
				return err
			}
			if from == record.StateOpen {
				if err := notLater(ctx, r, "open", "its game belongs there; or undo that merge"); err != nil {
					return err
				}
			}
			return OpenGate(ctx, r)
		})
		done.Lifted = r.Lifted
		r.Began = r.Began || err == nil
		return err
	})
}

func refuse(r *job.Run, next plan.Next, reason string) error {
	return &record.RefusedError{Doing: "open", Refusals: []plan.Refusal{{Source: r.New.Name, Reason: reason, Next: next}}}
}

// notMade says what has to come first.
func notMade(r *job.Run, state record.State) error {
	switch state {
	case "":
		return refuse(r, plan.NextApply, "it was not made")
	case record.StateTried:
		return refuse(r, plan.NextUndo, "it was made by a rehearsal from worlds that may have been running, and is never opened")
	case record.StateUndoing:
		return refuse(r, plan.NextUndo, fmt.Sprintf("the merge %s is being undone", r.Plan.ID))
	}
	return refuse(r, plan.NextApply, "it is not complete")
}
