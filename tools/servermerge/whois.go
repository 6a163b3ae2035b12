package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/keys"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

// whois says what became of all rows of a merge (PLAN or NEW alone), of a key (NEW TABLE KEY), or the other way round
// (NEW WORLD TABLE KEY), by the plan or by what the merged database remembers.
func (s surroundings) whois(ctx context.Context, cmd *cliv3.Command) error {
	args := cmd.Args().Slice()
	switch {
	case len(args) < 2 || cmd.IsSet("names"):
		return s.fates(ctx, cmd)
	case slices.Contains(args[:len(args)-1], ""): // a KEY may be
		return cli.Usage("an argument is empty: want NEW TABLE KEY, or NEW WORLD TABLE KEY")
	case cmd.IsSet("csv"):
		return s.keysCSV(ctx, cmd, args)
	case len(args) != 3 && len(args) != 4:
		return cli.Usage("got %s, want PLAN or NEW alone, NEW TABLE KEY, or NEW WORLD TABLE KEY", printable.Count(int64(len(args)), "argument", "arguments"))
	}
	made, err := s.remembering(ctx, cmd)
	if err != nil {
		return err
	}
	table, text := args[len(args)-2], args[len(args)-1]
	key, isInteger := keys.ParseInteger([]byte(text))
	if !isInteger && len(args) == 3 {
		return cli.Usage("the KEY is not an integer: for other keys only the plan of a merge is on record: give the WORLD that had it, before the TABLE")
	}
	defer cli.LogOf(cmd).Waiting(ctx, "asking "+made.Name)()
	var way []merge.Origin
	var planned []merge.Planned
	switch {
	case len(args) == 3:
		way, err = merge.Whois(ctx, made, table, key)
	case isInteger:
		way, err = merge.Whereis(ctx, made, args[1], table, key)
	}
	world := ""
	if len(args) == 4 && (err == nil || errors.Is(err, merge.ErrNoMerge)) {
		world = args[1]
		byPlan, unknown := merge.ByPlan(ctx, made, world, table, text, way)
		if planned = byPlan; len(planned) > 0 || unknown != nil {
			err = unknown
		}
		if err == nil && len(way)+len(planned) == 0 && !isInteger {
			err = fmt.Errorf("no merge on record brought rows of a table %q with such keys from %q", table, world)
		}
	}
	if err != nil {
		return report.Plainly(err)
	}
	out := cmd.Root().Writer
	switch {
	case cmd.Bool("json"):
		steps := []any{}
		for _, s := range way {
			steps = append(steps, s)
		}
		for _, s := range planned {
			steps = append(steps, s)
		}
		err = cli.WriteJSON(out, steps)
	default:
		if len(way) > 0 || len(planned) == 0 {
			err = report.WriteWhois(out, s.text(cmd), made.Name, world, table, key, way)
		}
		if err == nil {
			err = report.WritePlanned(out, s.text(cmd), planned)
		}
	}
	came := len(way)+len(planned) > 0
	if n := len(planned); n > 0 {
		came = planned[n-1].Stays == ""
	}
	if err == nil && !came {
		return cli.Conflicts
	}
	return err
}

// remembering is the merged database, the first argument, or that of the plan which it names.
func (s surroundings) remembering(ctx context.Context, cmd *cliv3.Command) (merge.Database, error) {
	name, file := cmd.Args().First(), ""
	if s.isPlan(cmd) {
		j, err := readTaken(cmd)
		if err != nil {
			return merge.Database{}, err
		}
		if name, file = j.plan.New.Name, j.file; !findable(name) {
			return merge.Database{}, cli.Usage("the plan was made for %q, which was given as a DSN: give that database instead of the plan", name)
		}
	}
	places, err := databases.NewConfig(cmd.String("config"), s.env).Places([]string{name})
	if err != nil {
		return merge.Database{}, err
	}
	made := databaseAt(places[0])
	if file == "" {
		return made, nil
	}
	there, err := merge.Exists(ctx, made)
	if err == nil && !there {
		err = cli.WithHint(fmt.Errorf("the merge of %s is not made: there is no database %q", file, name),
			"To see what the plan does with rows: servermerge whois "+printable.Quoted(file))
	}
	return made, err
}

// readTaken is [readJob] of a plan that can be carried out.
func readTaken(cmd *cliv3.Command) (*job, error) {
	j, err := readJob(cmd)
	if err == nil && len(j.plan.Refusals) > 0 {
		err = cli.WithHint(fmt.Errorf("%s is a plan that was refused (%s): it copies no rows", j.file,
			printable.Count(int64(len(j.plan.Refusals)), "reason blocks it", "reasons block it")), "A new plan: "+j.call.plan)
	}
	return j, err
}

// keysCSV writes what became of all keys of a table of a world.
func (s surroundings) keysCSV(ctx context.Context, cmd *cliv3.Command, args []string) error {
	if len(args) != 3 {
		return cli.Usage("got %d arguments, want -csv FILE and PLAN or NEW alone, or NEW WORLD TABLE", len(args))
	}
	made, err := s.remembering(ctx, cmd)
	if err != nil {
		return err
	}
	plan, err := recordedPlan(ctx, made)
	if err != nil {
		return err
	}
	list := report.ListFates(func(each func(merge.Fate) error) error {
		err := merge.EachKey(ctx, made, args[1], args[2], func(o merge.Origin) error {
			return each(merge.Fate{OldWorld: o.Source, NewWorld: plan.Worlds[0].Name, Table: o.Table, OldKey: o.Old.String(), NewKey: o.New.String()})
		})
		if err != nil {
			return report.Plainly(err)
		}
		return nil
	})
	return cli.WriteTo(cmd.Root().Writer, "csv", cmd.String("csv"), list.CSV, inputs(cmd, "", made)...)
}
