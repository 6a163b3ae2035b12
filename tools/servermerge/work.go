package main

import (
	"context"
	"strings"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// grace is how long a transaction that runs may go on after an interrupt. A
// batch takes less than half a second where the database keeps up.
const grace = 2 * time.Second

// defaultLag is how far a replica may lag if -max-lag does not say.
const defaultLag = 5 * time.Second

// maxParallel keeps a slip of the finger from taking all connections of a server.
const maxParallel = 64

// workFlags are those of the commands that work through a plan.
func workFlags() []cliv3.Flag {
	return append(databases.Flags(), databases.ConfigFlag(), cli.JSONFlag(), codecFlag(),
		&cliv3.DurationFlag{Name: "patience", Value: merge.DefaultRetryFor},
		&cliv3.IntFlag{Name: "parallel", Value: merge.DefaultParallel},
		&cliv3.StringSliceFlag{Name: "replica"}, &cliv3.DurationFlag{Name: "max-lag"})
}

// work is a job with how it is to be done.
type work struct {
	*job
	options merge.Options
	spare   databases.Throttle

	replicas []merge.Database // that must not lag

	close func() // ends the commands of the game that it runs
}

// work reads what a command with workFlags is to do, how, and where it goes what comes of it. It must
// be closed.
func (s surroundings) work(ctx context.Context, cmd *cliv3.Command) (*work, error) {
	spare, err := databases.Of(cmd)
	if err != nil {
		return nil, err
	}
	patience := cmd.Duration("patience")
	switch {
	case patience < 0 || patience > 24*time.Hour:
		return nil, cli.Usage("-patience %s: want 0s to 24h", patience)
	case patience == 0:
		patience = -1 // rather than the default
	}
	parallel := cmd.Int("parallel")
	if parallel < 1 || parallel > maxParallel {
		return nil, cli.Usage("-parallel %d: want 1 to %d", parallel, maxParallel)
	}
	replicas, err := databases.NewConfig(cmd.String("config"), s.env).Places(cmd.StringSlice("replica"))
	if err != nil {
		return nil, err
	}
	switch {
	case len(replicas) > 0 && spare.MaxLag == 0:
		spare.MaxLag = defaultLag
	case len(replicas) == 0 && spare.MaxLag > 0:
		return nil, cli.Usage("-max-lag %s needs -replica with the DSN of a replica, or its name in the configuration", spare.MaxLag)
	}
	for _, p := range replicas {
		if !strings.HasPrefix(p.DSN.Reveal(), "mysql:") {
			return nil, cli.Usage("-replica %s: want a database of MariaDB or MySQL", printable.Text(p.FullName()))
		}
	}
	if err := reachable(ctx, slice.Map(replicas, databaseAt)); err != nil {
		return nil, err
	}
	j, err := s.job(cmd)
	if err != nil {
		return nil, err
	}
	j.named = cmd.StringSlice("codec")
	j.fleet = fleetTyped(cmd)
	j.ending = ending{began: time.Now(), out: cmd.Root().Writer, json: cmd.Bool("json"), text: s.text(cmd)}
	if j.page, err = newPage(cmd, j.file, j.all()...); err != nil {
		return nil, err
	}
	if err := j.asPlanned(ctx, cmd.Name); err != nil {
		return nil, j.failed(ctx, err, j.outcome(cmd.Name))
	}
	codecs, stop, err := j.codecs(ctx)
	if err != nil {
		return nil, err
	}
	options := merge.Options{RetryFor: patience, Grace: grace, Parallel: parallel, Codecs: codecs}
	return &work{
		job: j, options: options, spare: spare, replicas: slice.Map(replicas, databaseAt), close: stop,
	}, nil
}

// reachable asks each replica once, before anything is written: a DSN may be wrong.
func reachable(ctx context.Context, replicas []merge.Database) error {
	for _, d := range replicas {
		l := &load{database: d}
		err := l.reached(ctx)
		if l.source != nil {
			l.source.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
