package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/slice"
	"mergesafe/merge"
	"mergesafe/merge/inventory"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func inventoryCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{
		Name: "inventory",
		Flags: append(databases.WorldFlags(),
			&cliv3.StringFlag{Name: "since"},
			&cliv3.StringFlag{Name: "csv"},
			cli.JSONFlag(),
			&cliv3.IntFlag{Name: "parallel", Value: 16, Validator: atLeast(1, "want 1 or more")},
			&cliv3.IntFlag{Name: "per-server", Value: 4, Validator: atLeast(1, "want 1 or more")},
		),
		Action: s.inventory,
	}
}

// atLeast judges the value of a flag.
func atLeast[T cmp.Ordered](least T, want string) func(T) error {
	return func(value T) error {
		if value < least {
			return errors.New(want)
		}
		return nil
	}
}

func (s surroundings) inventory(ctx context.Context, cmd *cliv3.Command) error {
	config := databases.NewConfig(cmd.String("config"), s.env)
	places, err := config.Worlds(ctx, cmd, cmd.Args().Slice())
	if err != nil {
		return err
	}
	options := inventory.Options{Parallel: cmd.Int("parallel"), PerServer: cmd.Int("per-server")}
	if file := cmd.String("since"); file != "" {
		if options.Since, err = readInventory("since", file); err != nil {
			return err
		}
	}
	who, err := config.Fleet(cmd)
	if err != nil {
		return err
	}
	options.Players, options.Active = who.Players, who.Active
	worlds := worldsAt(places)
	dsns := slice.Map(worlds, func(w inventory.Database) string { return w.DSN })
	file, err := cli.NewFile("csv", cmd.String("csv"), databases.Inputs(cmd, dsns...)...)
	if err != nil {
		return err
	}
	inv := read(ctx, cmd, worlds, options)
	if ctx.Err() != nil { // what was not read for that reason says nothing of a world
		return fmt.Errorf("no inventory: %w", ctx.Err())
	}
	inv.Program = cmd.Root().Version
	view := report.NewInventory(inv)
	if err := file.Write(view.WriteCSV); err != nil {
		return err
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		err = view.WriteJSON(out)
	} else {
		screen := cli.ScreenOf(cmd, s.stdout, s.env)
		err = view.WriteText(out, report.TextOptions{Width: screen.Width, Color: screen.Color})
	}
	if err == nil && !view.Complete() {
		return cli.NotVerified
	}
	return err
}

// worldsAt are worlds that the configuration names.
func worldsAt(places []databases.World) (worlds []inventory.Database) {
	for _, p := range places {
		d := merge.Database{Name: p.Name, DSN: p.DSN.Reveal()}
		worlds = append(worlds, inventory.Database{Database: d, Labels: p.Labels, Lost: p.Err})
	}
	return worlds
}

// counter shows on stderr how many things are done of all, as the format says with two numbers.
func counter(cmd *cliv3.Command, format string, all int) (show func(n int), stop func()) {
	log := cli.LogOf(cmd)
	var done atomic.Int64
	text := func() string { return fmt.Sprintf(format, done.Load(), all) }
	say := func() { log.Say(text()) }
	display := cli.NewDisplay(log, log.ShowsBars(), []string{""}, func(int) string { return text() }, say)
	return func(n int) {
		done.Store(int64(n))
		display.Show(0, int64(n), int64(all))
	}, display.Stop
}

// read reads the worlds, and shows how many were.
func read(ctx context.Context, cmd *cliv3.Command, worlds []inventory.Database, options inventory.Options) *inventory.Inventory {
	show, stop := counter(cmd, "%d of %d worlds read", len(worlds))
	defer stop()
	options.Progress = show
	return inventory.Read(ctx, worlds, options)
}

// readInventory reads the inventory that a flag names, which -json wrote.
func readInventory(flag, file string) (*inventory.Inventory, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", flag, err)
	}
	inv := new(inventory.Inventory)
	if err := json.Unmarshal(text, inv); err != nil || inv.Version == 0 || inv.Worlds == nil {
		return nil, fmt.Errorf("-%s: %s is not an inventory: want a file that fleet inventory wrote with -json", flag, file)
	}
	if inv.Version != inventory.Version {
		return nil, fmt.Errorf("-%s: %s is an inventory of version %d, but this program reads version %d", flag, file, inv.Version, inventory.Version)
	}
	return inv, nil
}
