package campaign

import (
	"cmp"
	"context"
	"time"

	"mergesafe/merge"
	"mergesafe/merge/keys"
)

// Options is what a command of a campaign needs beside the campaign file. Databases and
// Command are required; the zero value of all else means the default.
type Options struct {
	// Databases finds the database of a world.
	Databases func(world string) (merge.Database, error)

	// Merges are the names of those that the command is about. None means all, for Plan and
	// Apply without those that were skipped or undone.
	Merges []string

	// Force makes Undo drop new databases too in which a game wrote.
	Force bool

	// Try makes Apply a rehearsal.
	Try bool

	// Plan are the options of all plans, as files of rules make them; Rekey and Fence of the
	// campaign are added. Basis identifies them: a plan that was made with another basis is
	// made anew.
	Plan  merge.PlanOptions
	Basis string

	// Work are the options of carrying merges out. Progress, Retrying and Codecs are
	// the runner's own; Pause is called between batches, as in package merge.
	Work merge.Options

	// Rest is how long Work.Pause rests before a batch: it is part of the time that is left.
	Rest time.Duration

	// Places, if not nil, is the fleet registry in which the place of a world follows when its new
	// database is opened, and comes back when the merge is undone.
	Places Places

	// Codecs, if not nil, makes ready the codecs of the game's own that a plan names. stop ends
	// them.
	Codecs func(ctx context.Context, plan *merge.Plan) (codecs keys.Codecs, stop func(), err error)

	// Command is the command line of a command about some merges, for people to paste; without
	// names, about all. A rehearsal is "apply -try".
	Command func(name string, merges ...string) string

	// Program is the name of the program with its version, for plans and reports.
	Program string

	// Warn, if not nil, gets the errors that do not end the work, such as a state
	// that cannot be written for a while.
	Warn func(text string)

	// Tests are faster than the defaults.
	retryAfter time.Duration // how long a merge waits before it is tried again: 30 s
	tick       time.Duration // how often wishes are looked for, and progress is written: 1 s
}

// codecsOf makes ready the codecs that a plan names; nil is a plan that is to be made.
func (o Options) codecsOf(ctx context.Context, plan *merge.Plan) (codecs keys.Codecs, stop func(), err error) {
	if o.Codecs == nil {
		return nil, func() {}, nil
	}
	return o.Codecs(ctx, plan)
}

// databasesOf finds the databases of worlds.
func (o Options) databasesOf(worlds []string) (all []merge.Database, err error) {
	for _, world := range worlds {
		d, err := o.Databases(world)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// withDefaults fills in what was not given.
func (o Options) withDefaults() Options {
	o.retryAfter = cmp.Or(o.retryAfter, 30*time.Second)
	o.tick = cmp.Or(o.tick, time.Second)
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return o
}
