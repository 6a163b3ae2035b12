package build

import (
	"context"

	"mergesafe/merge/job"
	"mergesafe/merge/record"
)

// What is looked at when all rows are there is in this file. Their sums were taken as they were read and compared
// with the plan's, and they were counted as they were inserted: no row is read again. What others write to the new
// database, or to a world that was read, the proof finds.

// undisturbed makes sure that no server of a world ran, as far as the registries tell.
func undisturbed(ctx context.Context, r *job.Run) error {
	if err := r.Fenced(ctx); err != nil || !r.Registry {
		return err
	}
	now, err := record.Servers(ctx, r.New.Database)
	if err != nil {
		return err
	}
	if reason := record.ChangedServers(record.InNew(r.Plan.Worlds[0]), withoutMerged(r, now)); reason != "" {
		return &record.ChangedError{Database: r.New.Name, Reason: reason}
	}
	return nil
}
