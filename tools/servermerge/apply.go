package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/htmlreport"
	"mergesafe/merge/transfer"
)

// applied is what the document says of an apply.
type applied struct {
	Rows    int64 `json:"rows"`
	Renames int   `json:"renames"`
	Resumed bool  `json:"resumed"`
}

func (s surroundings) applyCommand() *cliv3.Command {
	return &cliv3.Command{
		Name:        "apply",
		Description: helpApply,
		Flags:       workFlags(),
		Action:      s.apply,
	}
}

func (s surroundings) apply(ctx context.Context, cmd *cliv3.Command) error {
	const name = "apply"
	j, options, spare, err := s.work(cmd)
	if err != nil {
		return err
	}
	defer j.page.Close()
	before := s.announceApply(ctx, j)
	w := s.watch(spare, j.all())
	result, err := transfer.Apply(ctx, j.plan, j.target, j.sources, w.working(options))
	w.close()
	d, m := j.document(name, done), &htmlreport.Merge{Command: name}
	if err != nil {
		if _, isChanged := errors.AsType[*transfer.ChangedError](err); isChanged {
			m.Next = []htmlreport.Step{{Text: "To take it back:", Commands: []string{j.command("undo")}}}
		}
		return j.failed(ctx, err, d, m)
	}
	d.Applied = &applied{result.Rows, result.Renames, result.Resumed}
	m.Outcome, m.Sentence = "DONE", fmt.Sprintf("%s: %s came to the target, with %s", merging(j.plan), printable.Count(result.Rows, "row", "rows"), printable.Count(int64(result.Renames), "rename", "renames"))
	if before == transfer.StateCopied {
		m.Sentence += "; that was done before, and nothing was changed now"
	} else {
		m.Sentence += ", in " + took(j.began)
		m.Next = []htmlreport.Step{{Text: "Now prove it, before any game server is started:", Commands: []string{j.command("verify")}}}
	}
	return j.conclude(ctx, d, m, "")
}

// announceApply says what is going to be done, before it is, and returns where
// the merge is, as far as that can be seen.
func (s surroundings) announceApply(ctx context.Context, j *job) transfer.State {
	p := j.plan
	fmt.Fprintf(s.stderr, "servermerge: %s: %s\n", merging(p), amount(p))
	for _, w := range p.Sources {
		for _, m := range w.Servers {
			if w.Fence && m.Own {
				fmt.Fprintf(s.stderr, "servermerge: server %s will be kept from being started on %s\n", m.Server, printable.Text(w.Name))
			}
		}
	}
	fmt.Fprintf(s.stderr, "servermerge: Ctrl-C stops it between two batches; the same command goes on\n")
	at, err := transfer.LookUp(ctx, p, j.target, j.sources)
	if err != nil {
		return transfer.StateNone // the work itself waits, or says why
	}
	if at.State != transfer.StateNone {
		fmt.Fprintf(s.stderr, "servermerge: it was begun before: %s of %s are there\n", printable.Number(at.Copied()), printable.Count(p.Rows(), "row", "rows"))
	}
	return at.State
}

func took(began time.Time) string {
	if d := time.Since(began).Round(time.Second); d > 0 {
		return d.String()
	}
	return "less than a second"
}
