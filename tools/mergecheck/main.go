// Mergecheck tells whether game databases can be merged into one. It reads
// them and never writes. See mergecheck -h.
package main

import (
	"context"
	"errors"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/merge/htmlreport"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout, stderr), args, stdout, stderr)
}

// command is the command line. stdout and stderr are looked at only to see
// whether they are terminals.
func command(env cli.Env, stdout, stderr io.Writer) *cliv3.Command {
	cmd := &cliv3.Command{
		Name:        "mergecheck",
		Description: help,
		Flags:       flags(),
		Action: func(ctx context.Context, cmd *cliv3.Command) error {
			out := cmd.Root().Writer
			if cmd.Bool("codes") {
				return writeCodes(out)
			}
			s, err := newSettings(cmd, env)
			switch {
			case err != nil:
				return err
			case cmd.Bool("grants"):
				return writeGrants(out, s.places, s.options.Target)
			case s.matrix:
				return matrix(ctx, s, out, stderr)
			default:
				return check(ctx, s, out, stderr, cli.ScreenOf(stdout, env))
			}
		},
	}
	cli.Topics(cmd, topics())
	return cmd
}

// check carries the check out and prints the report. An error may come with a
// report, of what was established until then.
func check(ctx context.Context, s settings, out, stderr io.Writer, screen cli.Screen) error {
	page, err := cli.NewFile("html", s.html)
	if err != nil {
		return err
	}
	defer page.Close()
	report, checkErr := runCheck(ctx, s, stderr)
	if report == nil {
		return noVerdict(ctx, checkErr)
	}
	if s.since != nil && checkErr == nil {
		holdAgainst(report, s.since)
	}
	if s.json {
		err = writeJSON(out, report)
	} else {
		err = report.WriteText(out, merge.TextOptions{Width: screen.Width, Color: screen.Color})
	}
	if err = errors.Join(err, page.Write(func(w io.Writer) error { return htmlreport.Write(w, report) })); err != nil {
		return err
	}
	if checkErr != nil {
		return noVerdict(ctx, checkErr)
	}
	return cli.Code(report.ExitCode())
}

func runCheck(ctx context.Context, s settings, stderr io.Writer) (*merge.Report, error) {
	p := newProgress(stderr, cli.IsTerminal(stderr), databases.Names(s.places))
	defer p.stop()
	sources, closeAll, err := open(ctx, s, p.rests)
	defer closeAll()
	if err != nil {
		return nil, err
	}
	s.options.Quick, s.options.Progress = p.quick, p.report
	return merge.Check(ctx, sources, s.options)
}

// noVerdict says of an error, or of an interrupt, what it leaves unknown.
func noVerdict(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("no verdict")
	case errors.Is(err, merge.ErrOptions):
		return cli.WithHint(err, "What is declared, included and excluded comes from [check] in the configuration, or from the flags.")
	default:
		return cli.WithHint(err, "There is no verdict.")
	}
}
