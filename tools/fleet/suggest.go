package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/inventory"
	"mergesafe/merge/suggest"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func suggestCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{
		Name:                      "suggest",
		DisableSliceFlagSeparator: true,
		Flags: append(databases.WorldFlags(),
			&cliv3.Int64Flag{Name: "players", Validator: atLeast[int64](0, "want 0 or more")},
			&cliv3.Int64Flag{Name: "players-most", Validator: atLeast[int64](0, "want 0 or more")},
			&cliv3.IntFlag{Name: "most", Validator: atLeast(1, "want 1 or more")},
			&cliv3.StringSliceFlag{Name: "apart"},
			&cliv3.StringSliceFlag{Name: "same"},
			&cliv3.StringFlag{Name: "disk"},
			&cliv3.StringSliceFlag{Name: "room"},
			&cliv3.DurationFlag{Name: "time", Validator: atLeast[time.Duration](1, "want a time such as 30s")},
			&cliv3.IntFlag{Name: "parallel", Value: 1, Validator: atLeast(1, "want 1 or more")},
			&cliv3.StringFlag{Name: "inventory"},
			&cliv3.StringFlag{Name: "rate"},
			&cliv3.BoolFlag{Name: "no-names"},
			&cliv3.StringFlag{Name: "o"},
			cli.JSONFlag(),
		),
		Action: s.suggest,
	}
}

func (s surroundings) suggest(ctx context.Context, cmd *cliv3.Command) error {
	wishes, err := wishesOf(cmd)
	if err != nil {
		return err
	}
	if wishes.Players == 0 && wishes.Most == 0 {
		return cli.Usage("neither -players nor -most is given: want how many players a merged world should have, or how many worlds may become one")
	}
	config := databases.NewConfig(cmd.String("config"), s.env)
	who, err := config.Fleet(cmd)
	if err != nil {
		return err
	}
	counted, err := columnsOf(who)
	if err != nil {
		return err
	}
	file, err := cli.NewFirstFile("o", cmd.String("o"), func() bool { return false })
	if err != nil {
		return err
	}
	find := func(name string) (merge.Database, error) { return databaseOf(ctx, cmd, config, name) }
	var inv *inventory.Inventory
	if name := cmd.String("inventory"); name != "" {
		if cmd.Args().Present() || cmd.Bool("all") {
			return cli.Usage("-inventory and worlds are both given: -inventory already gives the worlds")
		}
		if inv, err = readInventory("inventory", name); err != nil {
			return err
		}
	} else {
		places, err := config.Worlds(ctx, cmd, cmd.Args().Slice())
		if err != nil {
			return err
		}
		worlds := worldsAt(places)
		known := make(map[string]merge.Database)
		for _, w := range worlds {
			known[w.Name] = w.Database
		}
		find = func(name string) (merge.Database, error) { return known[name], nil }
		inv = read(ctx, cmd, worlds, inventory.Options{Players: who.Players, Active: who.Active})
		if ctx.Err() != nil {
			return fmt.Errorf("no inventory: %w", ctx.Err())
		}
	}
	suggestion, err := suggest.Make(inv, wishes)
	if err != nil {
		return cli.Usage("%v", err)
	}
	if !cmd.Bool("no-names") {
		if err := counted.count(ctx, cmd, suggestion, find); err != nil {
			return err
		}
	}
	if len(suggestion.Merges) > 0 {
		err = file.Write(func(w io.Writer) error {
			name := filepath.Base(cmd.String("o"))
			_, err := suggestion.Campaign(strings.TrimSuffix(name, filepath.Ext(name))).WriteTo(w)
			return err
		})
		if err != nil {
			return err
		}
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		err = cli.WriteJSON(out, suggestion)
	} else {
		err = suggestion.WriteText(out, cli.ScreenOf(cmd, s.stdout, s.env).Width)
		if file := cmd.String("o"); err == nil && file != "" && len(suggestion.Merges) > 0 {
			_, err = fmt.Fprintf(out, "\nRead %s and uncomment the lines that you want. Then: %s\n", printable.Text(file), commandOf(cmd, "plan", file))
		}
	}
	if err == nil && len(suggestion.Merges) == 0 {
		return cli.Conflicts
	}
	return err
}

// wishesOf are the wishes that the flags say.
func wishesOf(cmd *cliv3.Command) (w suggest.Wishes, err error) {
	w = suggest.Wishes{
		Players: cmd.Int64("players"), PlayersMost: cmd.Int64("players-most"), Most: cmd.Int("most"), Same: cmd.StringSlice("same"),
		Seconds: int64((cmd.Duration("time") + time.Second - 1) / time.Second), Parallel: cmd.Int("parallel"),
	}
	for _, names := range cmd.StringSlice("apart") {
		w.Apart = append(w.Apart, strings.Split(names, ","))
	}
	if text := cmd.String("disk"); text != "" {
		if w.Disk, err = parseSize(text); err != nil {
			return w, cli.Usage("-disk %q: %v", text, err)
		}
	}
	for _, text := range cmd.StringSlice("room") {
		server, size, named := strings.Cut(text, "=")
		if !named {
			server, size = "", text
		}
		n, err := parseSize(size)
		if err != nil {
			return w, cli.Usage("-room %q: %v", text, err)
		}
		if !named {
			w.Room = n
			continue
		}
		if w.RoomOf == nil {
			w.RoomOf = make(map[string]int64)
		}
		w.RoomOf[server] = n
	}
	if text := cmd.String("rate"); text != "" {
		slowest, fastest, isRange := strings.Cut(text, "-")
		if !isRange {
			fastest = slowest
		}
		var err1, err2 error
		w.Rate.Slowest, err1 = strconv.ParseInt(slowest, 10, 64)
		w.Rate.Fastest, err2 = strconv.ParseInt(fastest, 10, 64)
		if err1 != nil || err2 != nil || w.Rate.Slowest < 1 || w.Rate.Fastest < w.Rate.Slowest {
			return w, cli.Usage("-rate %q: want rows a second, such as 40000, or the slowest and the fastest: 20000-60000", text)
		}
	}
	return w, nil
}

// parseSize reads a number of bytes such as 20GB.
func parseSize(text string) (int64, error) {
	number, unit := strings.TrimSuffix(strings.ToUpper(text), "B"), 1.0
	if i := strings.IndexAny(number, "KMGT"); i >= 0 && i == len(number)-1 {
		unit = math.Pow(1000, float64(strings.IndexByte("KMGT", number[i])+1))
		number = number[:i]
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n*unit >= 1 && n*unit < math.MaxInt64) {
		return 0, fmt.Errorf("want a number of bytes such as 500MB or 20GB")
	}
	return int64(n * unit), nil
}
