package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

func applyCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{Name: "apply", Flags: append(append(workFlags(), pageFlags()...), cli.YesFlag(), &cliv3.BoolFlag{Name: "try"}),
		Action: s.works("apply", campaign.Apply, func(n *night) string {
			if n.cmd.Bool("try") {
				return amount(n, "This makes, as a rehearsal on the servers of the worlds, the new database of")
			}
			return amount(n, "This makes the new database of")
		})}
}

func undoCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{Name: "undo",
		Flags: append(workFlags(), cli.YesFlag(), &cliv3.BoolFlag{Name: "all"}, &cliv3.BoolFlag{Name: "force"}),
		Action: s.works("undo", campaign.Undo, func(n *night) string {
			return amount(n, "This drops the new database of")
		})}
}

// amount says what a command does to the merges that it is about.
func amount(n *night, does string) string {
	var names []string
	for _, m := range n.book.Campaign().Merges {
		if len(n.merges) == 0 || slices.Contains(n.merges, m.Name()) {
			names = append(names, m.Name())
		}
	}
	return fmt.Sprintf("%s %s: %s.", does, printable.Count(int64(len(names)), "merge", "merges"), printable.Names(names))
}

// name is the command that runs: "apply -try" of a rehearsal.
func (n *night) name() string {
	if n.cmd.Bool("try") {
		return n.cmd.Name + " -try"
	}
	return n.cmd.Name
}

// works is the action of a command that works on a campaign. question is asked before, if it is
// not nil.
func (s surroundings) works(
	name string, work func(context.Context, *campaign.Book, campaign.Options) (*campaign.Status, error),
	question func(*night) string,
) cliv3.ActionFunc {
	return s.on(func(n *night, ctx context.Context) error {
		cmd := n.cmd
		if name == "undo" {
			switch all := cmd.Bool("all"); {
			case all && len(n.merges) > 0:
				return cli.Usage("-all and %q are both given: want one of them", n.merges[0])
			case !all && len(n.merges) == 0:
				return cli.Usage("no merge given: want the first worlds of the merges to undo, or -all")
			}
			unknown, err := n.book.LaterMerges(ctx, n.merges)
			if err != nil {
				return err
			}
			for _, text := range unknown {
				cli.LogOf(cmd).Say(text)
			}
		}
		o, err := n.options(ctx)
		if err != nil {
			return err
		}
		o.Force, o.Try = cmd.Bool("force"), cmd.Bool("try")
		if question != nil && !n.finished(ctx) {
			if err := cli.Confirm(ctx, cmd, question(n)); err != nil {
				return err
			}
		}
		page, err := n.openPage(ctx, cmd.String("http"))
		if err != nil {
			return err
		}
		w := n.watch(ctx)
		status, err := work(ctx, n.book, o)
		w.close()
		if err := page.close(); err != nil {
			cli.LogOf(cmd).Say("live page: " + printable.Text(err.Error()))
		}
		if status != nil {
			if err := n.conclude(n.name(), status, err); err != nil {
				return err
			}
		}
		return n.failed(err)
	})
}

// finished reports whether apply has nothing left to do: it says so, and asks nothing.
func (n *night) finished(ctx context.Context) bool {
	s, err := n.book.Status(ctx)
	if err != nil || n.cmd.Name != "apply" || len(n.merges) > 0 || len(s.Missing) > 0 || s.Lost {
		return false
	}
	return s.Tally().Finished()
}

// failed puts the error of a command into words, with its exit code.
func (n *night) failed(err error) error {
	if err == nil {
		return nil
	}
	if not, ok := errors.AsType[*campaign.NotReadyError](err); ok {
		code := cli.Conflicts
		if not.Incomplete() {
			code = cli.Incomplete
		}
		return cli.WithHint(cli.WithCode(not, code), "When that is fixed, run the same command again: "+n.command(n.name(), n.merges...))
	}
	if errors.Is(err, merge.ErrStopped) {
		err := cli.WithCode(errors.New("stopped; nothing is lost"), cli.Stopped)
		if n.cmd.Bool("json") { // as text, the result says it
			err = cli.WithHint(err, "To resume: "+n.command(n.name(), n.merges...))
		}
		return err
	}
	if held, ok := errors.AsType[*campaign.HeldError](err); ok {
		return cli.WithHint(held, "To see its progress: "+n.command("status"))
	}
	return err
}

func (n *night) status(ctx context.Context) error {
	page, err := cli.NewFile("html", n.cmd.String("html"), n.inputs()...)
	if err != nil {
		return err
	}
	status, err := n.book.Status(ctx)
	if err != nil {
		return err
	}
	err = page.Write(func(w io.Writer) error {
		record, err := recordOf(ctx, n.book, status, n.telling("status", nil))
		if err != nil {
			return err
		}
		record.Program = n.cmd.Root().Version
		return record.WriteHTML(w)
	})
	if err != nil {
		return err
	}
	return n.conclude("status", status, nil)
}

// wishes is the action of a command that says a wish about the whole campaign.
func (s surroundings) wishes(wish func(*campaign.Book, context.Context) error, said string) cliv3.ActionFunc {
	return s.onWhole(func(n *night, ctx context.Context) error {
		if err := wish(n.book, ctx); err != nil {
			return err
		}
		fmt.Fprintln(n.cmd.Root().Writer, n.book.File()+": "+said)
		return nil
	})
}

func (n *night) skip(ctx context.Context) error {
	if len(n.merges) == 0 {
		return cli.Usage("no merge given: want the first worlds of the merges to leave out")
	}
	for _, t := range n.merges {
		if err := n.book.Skip(ctx, t); err != nil {
			return err
		}
		fmt.Fprintln(n.cmd.Root().Writer, n.book.File()+": the merge "+printable.Text(t)+" is left out; to include it again: "+n.command("apply", t))
	}
	return nil
}
