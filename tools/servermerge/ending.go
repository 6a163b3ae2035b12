package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rulefile"
)

// ending is where the outcome of a command goes.
type ending struct {
	began time.Time
	out   io.Writer
	json  bool // rather than text
	text  report.TextOptions
	page  *cli.File // of -html; nil without

	phases func() verdict.Phases // of the work; nil if there is none
}

func pageFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "html"} }

// newPage makes the file that -html names, before the work. It is neither the
// plan nor anything else that is still needed.
func newPage(cmd *cliv3.Command, plan string, all ...merge.Database) (*cli.File, error) {
	return cli.NewFile("html", cmd.String("html"), inputs(cmd, plan, all...)...)
}

// inputs are the files that a command must not write.
func inputs(cmd *cliv3.Command, plan string, all ...merge.Database) []cli.Input {
	dsns := slice.Map(all, func(d merge.Database) string { return d.DSN })
	return append(databases.Inputs(cmd, dsns...), cli.Input{What: "the plan", Name: plan})
}

// conclude prints an outcome, and writes it to the page if one is wanted. It
// returns how the command ends.
func (j *job) conclude(ctx context.Context, o *report.Outcome) error {
	pageErr := j.writePage(ctx, o)
	err := write(o, j.out, j.json, j.text)
	return cmp.Or(pageErr, err)
}

func (j *job) writePage(ctx context.Context, o *report.Outcome) error {
	return j.page.Write(func(w io.Writer) error {
		o.Now = j.now(ctx)
		return o.WriteHTML(w)
	})
}

// now is the state of the merge; nil if it cannot be read. After an interrupt it
// waits no longer than grace.
func (j *job) now(ctx context.Context) *merge.Status {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
	}
	at, err := merge.LookUp(ctx, j.plan, j.into, j.worlds)
	if err != nil {
		return nil
	}
	return at
}

// code is the exit code of a command with a result.
func code(e report.Ending) cli.Code {
	switch e {
	case report.Done:
		return cli.OK
	case report.Refused, report.Changed, report.Differs:
		return cli.Conflicts
	case report.Stopped:
		return cli.Stopped
	default:
		return cli.NotVerified
	}
}

// outcome is the outcome of a command that ends now.
func (j *job) outcome(command string) *report.Outcome {
	o := report.NewOutcome(command, j.plan, j.commands(command))
	o.Program, o.Began, o.Ended = j.program, j.began, time.Now()
	if j.phases != nil {
		o.Phases = j.phases()
	}
	return o
}

// write prints an outcome, and returns how the command ends.
func write(o *report.Outcome, out io.Writer, asJSON bool, text report.TextOptions) error {
	print := func(w io.Writer) error { return o.WriteText(w, text) }
	if asJSON {
		print = o.WriteJSON
	}
	if err := print(out); err != nil || o.Ending == report.Done {
		return err
	}
	return code(o.Ending)
}

// failed ends a command that writes and did not come to its end. What is a
// result is printed; anything else is an error.
func (j *job) failed(ctx context.Context, err error, o *report.Outcome) error {
	switch ok := o.Fail(err, ctx.Err() != nil); {
	case ok && o.Ending != report.Stopped:
		return j.conclude(ctx, o)
	case ok:
		if j.json {
			if err := o.WriteJSON(j.out); err != nil {
				return err
			}
		}
		words := o.View()
		said := words.Sentence
		if err := j.writePage(ctx, o); err != nil {
			said += "; and " + err.Error()
		}
		return cli.WithHint(cli.WithCode(errors.New(said), cli.Stopped), words.Hint())
	}
	return cli.WithHint(report.Plainly(err), "Completed work is kept. To see the state of the merge: "+j.command("status"))
}

// unread ends a command that only reads and could not.
func unread(ctx context.Context, err error, without string) error {
	if ctx.Err() != nil {
		return errors.New(without)
	}
	if stop, ok := errors.AsType[*merge.StoppedError](err); ok { // there is nothing to go on with
		err = fmt.Errorf("%s: %w", stop.Doing, stop.Cause)
	}
	hint := "There is " + without + "."
	if errors.Is(err, rules.ErrOptions) {
		hint = rulefile.Hint(err)
	}
	return cli.WithHint(report.Plainly(err), hint)
}
