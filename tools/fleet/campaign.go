package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"

	"mergesafe/merge/campaign"
	"mergesafe/merge/keys"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"

	"mergesafe/tools/internal/rulefile"
)

// grace is how long a transaction that runs may go on after an interrupt.
const grace = 2 * time.Second

// maxWorkers keeps a slip of the finger from taking all connections of a server.
const maxWorkers = 64

// night is a campaign with what its commands need.
type night struct {
	surroundings
	cmd    *cliv3.Command
	book   *campaign.Book
	merges []string // that the command line names
}

// inputs are the files that a command about the campaign must not write.
func (n *night) inputs() []cli.Input {
	all := append(databases.Inputs(n.cmd), cli.Input{What: "the campaign file", Name: n.book.File()})
	files, _ := os.ReadDir(n.book.Plans()) // there are none before the first plan
	for _, f := range files {
		all = append(all, cli.Input{What: "a file of the campaign", Name: filepath.Join(n.book.Plans(), f.Name())})
	}
	return all
}

// open opens the campaign that the first argument names. It must be closed.
func (s surroundings) open(ctx context.Context, cmd *cliv3.Command) (*night, error) {
	file := cmd.Args().First()
	if file == "" {
		return nil, cli.Usage("no campaign given: want the campaign file, such as night.toml")
	}
	if strings.HasPrefix(file, "-") { // or a command to paste would have it as a flag
		file = "./" + file
	}
	c, err := campaign.Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, cli.WithHint(fmt.Errorf("there is no campaign file %s", file), "fleet suggest writes one; fleet -h plan says what is in it.")
	}
	if err != nil {
		return nil, err
	}
	n := &night{surroundings: s, cmd: cmd, merges: cmd.Args().Slice()[1:]}
	for i, t := range n.merges {
		if c.Place(t) < 0 {
			return nil, cli.Usage("no merge of %s has %q as its first world", file, t)
		}
		if slices.Contains(n.merges[:i], t) {
			return nil, cli.Usage("%q is given twice", t)
		}
	}
	n.book, err = campaign.Open(ctx, c, file)
	return n, err
}

// on is the action of a command about a campaign.
func (s surroundings) on(act func(*night, context.Context) error) cliv3.ActionFunc {
	return func(ctx context.Context, cmd *cliv3.Command) error {
		n, err := s.open(ctx, cmd)
		if err != nil {
			return err
		}
		defer n.book.Close()
		return act(n, ctx)
	}
}

// onWhole is on for a command that takes no merges.
func (s surroundings) onWhole(act func(*night, context.Context) error) cliv3.ActionFunc {
	return func(ctx context.Context, cmd *cliv3.Command) error {
		if cmd.NArg() > 1 {
			return cli.Usage("%s applies to the whole campaign: want no merge", cmd.Name)
		}
		return s.on(act)(ctx, cmd)
	}
}

// workFlags are those of the commands that work with the databases of a campaign.
func workFlags() []cliv3.Flag {
	return []cliv3.Flag{
		databases.ConfigFlag(), cli.JSONFlag(), &cliv3.StringFlag{Name: "worlds"}, &cliv3.StringFlag{Name: "fleet"},
		&cliv3.DurationFlag{Name: "patience", Value: merge.DefaultRetryFor},
		&cliv3.IntFlag{Name: "workers", Value: merge.DefaultParallel},
		&cliv3.DurationFlag{Name: "pause"},
	}
}

// options are the options of a command with workFlags.
func (n *night) options(ctx context.Context) (o campaign.Options, err error) {
	cmd, config := n.cmd, databases.NewConfig(n.cmd.String("config"), n.env)
	patience, workers := cmd.Duration("patience"), cmd.Int("workers")
	spare, err := databases.Of(cmd)
	switch {
	case err != nil:
		return o, err
	case patience < 0 || patience > 24*time.Hour:
		return o, cli.Usage("-patience %s: want 0s to 24h", patience)
	case workers < 1 || workers > maxWorkers:
		return o, cli.Usage("-workers %d: want 1 to %d", workers, maxWorkers)
	case patience == 0:
		patience = -1 // rather than the default
	}
	r, basis, err := n.rules(config)
	if err != nil {
		return o, err
	}
	worlds, err := n.worlds(ctx, config)
	if err != nil {
		return o, err
	}
	dsn, err := config.Registry(cmd.String("fleet"))
	if err != nil {
		return o, err
	}
	o = campaign.Options{
		Merges: n.merges,
		Databases: func(world string) (merge.Database, error) {
			if d, ok := worlds[world]; ok {
				return d, nil
			}
			return databaseOf(ctx, cmd, config, world)
		},
		Plan:    merge.PlanOptions{Check: r.Check, Names: r.Names, Copies: r.Copies},
		Basis:   basis,
		Work:    merge.Options{RetryFor: patience, Grace: grace, Parallel: workers, Pause: spare.Pauser(nil, nil)},
		Rest:    spare.Pause,
		Codecs:  codecsOf(r),
		Command: n.kept,
		Program: cmd.Root().Version,
		Warn:    func(text string) { cli.LogOf(cmd).Say(printable.Text(text)) },
	}
	registry := databases.Registry{DSN: dsn, By: "fleet"} // also without one: a world may be bound in it
	o.Places, o.Plan.Elsewhere, o.Work.Elsewhere = registry, registry.Elsewhere(o.Warn), registry.Elsewhere(o.Warn)
	return o, nil
}

// worlds finds the databases of all worlds of the campaign.
func (n *night) worlds(ctx context.Context, config *databases.Config) (map[string]merge.Database, error) {
	all := make(map[string]merge.Database)
	for _, m := range n.book.Campaign().Merges {
		for _, world := range m.Worlds {
			var err error
			if all[world], err = databaseOf(ctx, n.cmd, config, world); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func databaseOf(ctx context.Context, cmd *cliv3.Command, config *databases.Config, world string) (merge.Database, error) {
	w, err := config.World(ctx, cmd, world)
	return merge.Database{Name: world, DSN: w.DSN.Reveal()}, err
}

// rules are those of the configuration, with what the campaign file allows. basis identifies them.
func (n *night) rules(config *databases.Config) (r rulefile.Rules, basis string, err error) {
	if r, err = config.Rules(n.cmd); err != nil {
		return r, "", err
	}
	h := sha256.New()
	for _, file := range config.RuleFiles() {
		var all map[string]any
		text, err := os.ReadFile(file)
		if err == nil {
			err = toml.Unmarshal(text, &all)
		}
		if err != nil {
			return r, "", err
		}
		for _, key := range []string{"check", "merge", "schema"} {
			_ = json.NewEncoder(h).Encode(all[key])
		}
	}
	c := n.book.Campaign()
	_ = json.NewEncoder(h).Encode(c.Allow)
	r.Check.Allow = append(r.Check.Allow, c.Allow...)
	return r, hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// codecsOf makes the codecs of the game's own ready that the rules name. A plan is a file, and
// may be somebody else's: what it names beside these is not run.
func codecsOf(r rulefile.Rules) func(context.Context, *merge.Plan) (keys.Codecs, func(), error) {
	known := merge.CodecsOf(r.Check.Rules)
	return func(ctx context.Context, plan *merge.Plan) (keys.Codecs, func(), error) {
		wanted := known
		if plan != nil {
			wanted = slices.DeleteFunc(plan.Codecs(), func(f string) bool { return !keys.IsCommand(f) })
			for _, f := range wanted {
				if !slices.Contains(known, f) {
					return nil, nil, fmt.Errorf("the plan runs a command that no rule of the campaign names, %s: plan again", printable.Text(f))
				}
			}
		}
		codecs, stop := keys.Commands(ctx, wanted)
		return codecs, stop, nil
	}
}
