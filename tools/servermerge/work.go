package main

import (
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/throttle"
)

// grace is how long a transaction that runs may go on after an interrupt. A
// batch takes less than half a second where the database keeps up.
const grace = 2 * time.Second

// maxParallel keeps a slip of the finger from taking all connections of a server.
const maxParallel = 64

// workFlags are those of the commands that work through a plan.
func workFlags() []cliv3.Flag {
	return append(throttle.Flags(), databases.ConfigFlag(), cli.JSONFlag(), codecFlag(),
		&cliv3.DurationFlag{Name: "patience", Value: transfer.DefaultRetryFor},
		&cliv3.IntFlag{Name: "parallel", Value: transfer.DefaultParallel},
		&cliv3.StringFlag{Name: "html"})
}

// work reads what a command with workFlags is to do, how, and where it goes what
// comes of it. The page of the job must be closed.
func (s surroundings) work(cmd *cliv3.Command) (j *job, o transfer.Options, spare throttle.Throttle, err error) {
	if spare, err = throttle.Of(cmd); err != nil {
		return nil, o, spare, err
	}
	patience := cmd.Duration("patience")
	switch {
	case patience < 0 || patience > 24*time.Hour:
		return nil, o, spare, cli.Usage("-patience %s: want 0s to 24h", patience)
	case patience == 0:
		patience = -1 // rather than the default
	}
	parallel := cmd.Int("parallel")
	if parallel < 1 || parallel > maxParallel {
		return nil, o, spare, cli.Usage("-parallel %d: want 1 to %d", parallel, maxParallel)
	}
	if j, err = s.job(cmd); err != nil {
		return nil, o, spare, err
	}
	j.named = cmd.StringSlice("codec")
	j.ending = ending{began: time.Now(), out: cmd.Root().Writer, json: cmd.Bool("json"), text: s.text(cmd)}
	j.page, err = newPage(cmd, j.file, j.all()...)
	return j, transfer.Options{RetryFor: patience, Grace: grace, Parallel: parallel}, spare, err
}
