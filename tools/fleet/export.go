package main

import (
	"context"
	"os"

	"mergesafe/merge/campaign"
	"mergesafe/merge/live"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
)

// export writes a campaign as one page.
func (n *night) export(ctx context.Context) error {
	name := n.cmd.String("o")
	if name == "" {
		return cli.Usage("no file for the page: want -o page.html")
	}
	file, err := cli.NewFile("o", name, cli.Input{What: "the campaign file", Name: n.book.File()})
	if err != nil {
		return err
	}
	defer file.Close()
	record, err := recordOf(ctx, n.book)
	if err != nil {
		return err
	}
	record.Program = n.cmd.Root().Version
	return file.Write(record.WriteHTML)
}

func recordOf(ctx context.Context, book *campaign.Book) (*live.Record, error) {
	status, err := book.Status(ctx)
	if err != nil {
		return nil, err
	}
	r := &live.Record{Status: status, Plan: func(merge string) (*transfer.Plan, error) {
		f, err := os.Open(book.PlanFile(merge))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return transfer.ReadPlan(f)
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
