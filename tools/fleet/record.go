package main

import (
	"context"
	"os"

	"mergesafe/merge/campaign"
	"mergesafe/merge/live"

	"mergesafe/merge"
)

// recordOf is what the page of -html shows, of a status that was just read.
func recordOf(ctx context.Context, book *campaign.Book, status *campaign.Status, telling campaign.Telling) (*live.Record, error) {
	r := &live.Record{Status: status, Telling: telling, Plan: func(m string) (*merge.Plan, error) {
		f, err := os.Open(book.PlanFile(m))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return merge.ReadPlan(f)
	}}
	const some = 1000
	for after := int64(0); ; {
		events, err := book.Events(ctx, after, some)
		if err != nil {
			return nil, err
		}
		r.Events = append(r.Events, events...)
		if len(events) < some {
			return r, nil
		}
		after = events[len(events)-1].Number
	}
}
