package main

import (
	"context"
	"slices"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/keys"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

func codecFlag() cliv3.Flag { return &cliv3.StringSliceFlag{Name: "codec"} }

// codecs makes the codecs of the plan that are commands ready to run: those that the command
// line names. A plan is a file, and may be somebody else's: it must not say what is run here.
// stop must be called.
func (j *job) codecs(ctx context.Context) (all keys.Codecs, stop func(), err error) {
	inPlan := commandsOf(j.plan)
	for _, f := range j.named {
		if !slices.Contains(inPlan, f) {
			return nil, nil, cli.Usage("-codec %s: the plan has no such command%s", printable.Quoted(f), runs(inPlan))
		}
	}
	for _, f := range inPlan {
		if !slices.Contains(j.named, f) {
			return nil, nil, cli.Usage("the plan runs a command of the game, %s: if you know it and want to run it here, add -codec %s", printable.Text(f), printable.Quoted(f))
		}
	}
	all, stop = keys.Commands(ctx, j.named)
	return all, stop, nil
}

func runs(commands []string) string {
	if len(commands) == 0 {
		return ", and none at all"
	}
	return ", but " + printable.Quoted(commands[0])
}

// commandsOf are the codecs of a plan that are commands.
func commandsOf(p *merge.Plan) []string {
	return slices.DeleteFunc(p.Codecs(), func(f string) bool { return !keys.IsCommand(f) })
}
