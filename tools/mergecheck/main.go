// Mergecheck checks whether game databases can be merged into one. It reads
// them and never writes. See mergecheck -h.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/propose"
	"mergesafe/merge/report"
	"mergesafe/merge/rules"

	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rulefile"

	_ "mergesafe/store/mysql"
	_ "mergesafe/store/sqlite"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout), args, stdout, stderr)
}

// command is the command line. stdout is looked at only to see whether it is a
// terminal.
func command(env cli.Env, stdout io.Writer) *cliv3.Command {
	cmd := &cliv3.Command{
		Name:        "mergecheck",
		Description: help,
		Flags:       flags(),
		Action: func(ctx context.Context, cmd *cliv3.Command) error {
			out := cmd.Root().Writer
			if cmd.Bool("codes") {
				return writeCodes(out, cli.Width(cmd))
			}
			if onlyForm(cmd) {
				return checkForm(cmd, env, out)
			}
			s, err := newSettings(cmd, env)
			switch {
			case err != nil:
				return err
			case s.explain[0] != "":
				return explain(ctx, s, out, cli.LogOf(cmd))
			default:
				return checkAndPrint(ctx, s, out, cli.LogOf(cmd), cli.ScreenOf(cmd, stdout, env))
			}
		},
	}
	cli.Topics(cmd, map[string]string{"json": helpJSON, "databases": helpDatabases, "formats": helpFormats})
	cli.Arguments(cmd, func() []string { return databases.NewConfig(databases.DefaultConfig, env).SourceNames() })
	return cmd
}

// check runs the check and prints its report. An error may come with a report of
// what was established before it.
func checkAndPrint(ctx context.Context, s settings, out io.Writer, log *cli.Log, screen cli.Screen) error {
	written, err := cli.NewFirstFile("o", s.rules, func() bool { return false })
	switch {
	case errors.Is(err, fs.ErrExist):
		return cli.Usage("-o: %s already exists and may have been edited: want another name", s.rules)
	case err != nil:
		return err
	}
	page, err := cli.NewFile("html", s.html, s.inputs...)
	if err != nil {
		return err
	}
	c, checkErr := find(ctx, s, log)
	if c == nil {
		return noVerdict(ctx, checkErr)
	}
	if s.json {
		err = c.WriteJSON(out)
	} else {
		err = c.WriteText(out, report.TextOptions{Width: screen.Width, Color: screen.Color})
	}
	if err = errors.Join(err, page.Write(c.WriteHTML)); err != nil {
		return err
	}
	if checkErr != nil {
		return noVerdict(ctx, checkErr)
	}
	if s.rules != "" {
		if err := written.Write(func(w io.Writer) error { return propose.WriteRules(c.Report, w) }); err != nil {
			return err
		}
		if !s.json {
			fmt.Fprintf(out, "\nWrote %s. Read it from the top, then run mergecheck again with -rules %[1]s\n", s.rules)
		}
	}
	return cli.Code(c.Report.ExitCode())
}

// find makes the report.
func find(ctx context.Context, s settings, log *cli.Log) (*report.Check, error) {
	p := newProgress(log, log.ShowsBars(), databases.Names(s.places))
	defer p.display.Stop()
	sources, closeAll, err := open(ctx, s, p.rests)
	defer closeAll()
	if err != nil {
		return nil, err
	}
	p.begin(phaseSchemas)
	codecs, stop := keys.Commands(ctx, merge.CodecsOf(s.options.Rules))
	defer stop()
	s.options.Codecs = codecs
	s.options.Progress, s.options.Judging = p.report, p.judges
	r, err := merge.Check(ctx, sources, s.options, p.quick)
	if r == nil {
		return nil, err
	}
	r.Program, r.Phases = s.program, p.ended()
	return report.NewCheck(r), err
}

// noVerdict says of an error, or of an interrupt, what it leaves unknown.
func noVerdict(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("no verdict")
	case errors.Is(err, rules.ErrOptions):
		return cli.WithHint(err, rulefile.Hint(err))
	default:
		return cli.WithHint(err, "There is no verdict.")
	}
}
