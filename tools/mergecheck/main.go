// Mergecheck tells whether game databases can be merged into one. It reads
// them and never writes. See mergecheck -h.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
)

func main() { cli.Main(run) }

func run(ctx context.Context, args []string, env cli.Env, stdout, stderr io.Writer) cli.Code {
	return cli.Run(ctx, command(env, stdout, stderr), args, stdout, stderr)
}

// command is the command line. stdout and stderr are looked at only to see
// whether they are terminals.
func command(env cli.Env, stdout, stderr io.Writer) *cliv3.Command {
	return &cliv3.Command{
		Name:        "mergecheck",
		Description: help,
		Flags: []cliv3.Flag{
			&cliv3.StringFlag{Name: "config", Value: defaultConfig},
			&cliv3.StringFlag{Name: "target"},
			&cliv3.IntFlag{Name: "samples", Value: merge.DefaultSamples},
			&cliv3.BoolFlag{Name: "json"},
		},
		Action: func(ctx context.Context, cmd *cliv3.Command) error {
			report, err := check(ctx, cmd, env, stderr)
			if err != nil {
				return err
			}
			if err := write(cmd.Root().Writer, report, cmd.Bool("json"), screenOf(stdout, env)); err != nil {
				return fmt.Errorf("write the report: %w", err)
			}
			return cli.Code(report.ExitCode())
		},
	}
}

// check carries the check out that the command line asks for.
func check(ctx context.Context, cmd *cliv3.Command, env cli.Env, stderr io.Writer) (*merge.Report, error) {
	if n := cmd.Int("samples"); n < 0 {
		return nil, cli.Usage("-samples %d: want 0 or more", n)
	}
	places, err := locate(cmd.Args().Slice(), cmd.String("config"), cmd.IsSet("config"), env)
	if err != nil {
		return nil, err
	}
	target, err := findTarget(cmd.String("target"), places)
	if err != nil {
		return nil, err
	}
	sources, closeAll, err := open(ctx, places)
	defer closeAll()
	if err != nil {
		return nil, noVerdict(ctx, err)
	}
	options := merge.Options{Target: target, Samples: cmd.Int("samples")}
	if options.Samples == 0 {
		options.Samples = -1 // none, rather than the default
	}
	bars := newProgress(stderr, places)
	defer bars.stop()
	options.Progress = bars.report
	report, err := merge.Check(ctx, sources, options)
	if err != nil {
		return nil, noVerdict(ctx, err)
	}
	return report, nil
}

// noVerdict says of an error, or of an interrupt, what it leaves unknown.
func noVerdict(ctx context.Context, err error) error {
	const unknown = "nothing is known of this merge"
	if ctx.Err() != nil {
		return errors.New("no verdict: " + unknown)
	}
	return cli.WithHint(err, "There is no verdict: "+unknown+".")
}

func write(w io.Writer, report *merge.Report, asJSON bool, screen screen) error {
	if !asJSON {
		return report.WriteText(w, merge.TextOptions{Width: screen.width, Color: screen.color})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(report)
}
