package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/merge/transfer"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
)

func playersCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{Name: "players",
		Flags: []cliv3.Flag{databases.ConfigFlag(), cli.JSONFlag(), &cliv3.StringFlag{Name: "worlds"}, &cliv3.StringFlag{Name: "fleet"},
			tableFlag(), namesFlag(), &cliv3.StringFlag{Name: "csv"}, &cliv3.BoolFlag{Name: "renamed"}},
		Action: s.onWhole((*night).players)}
}

// tableFlag and namesFlag say which table has the players: see [night.who].
func tableFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "table"} }
func namesFlag() cliv3.Flag { return &cliv3.StringFlag{Name: "names"} }

func (n *night) players(ctx context.Context) error {
	cmd := n.cmd
	name := cmd.String("csv")
	if name == "" && !cmd.Bool("json") {
		return cli.Usage("no file given: want -csv FILE, -csv - for the output, or -json")
	}
	if name != "" && cmd.Bool("json") {
		return cli.Usage("-csv and -json are both given: want one of them")
	}
	who, err := n.who()
	if err != nil {
		return err
	}
	if who == (campaign.Who{}) {
		if who, err = n.book.Who(); err != nil {
			return cli.WithHint(err, "For example: -table characters -names name")
		}
	}
	o, err := n.readingOptions(ctx)
	if err != nil {
		return err
	}
	var left []string
	write := func(format func(io.Writer) (func(campaign.Player) error, func() error)) func(io.Writer) error {
		return func(w io.Writer) (err error) {
			each, end := format(w)
			left, err = n.book.EachPlayer(ctx, o, who, cmd.Bool("renamed"), each)
			return errors.Join(err, end())
		}
	}
	switch {
	case cmd.Bool("json"):
		err = write(campaign.PlayersJSON)(cmd.Root().Writer)
	case name == "-":
		err = write(campaign.PlayersCSV)(cmd.Root().Writer)
	default:
		var file *cli.File
		file, err = cli.NewFile("csv", name, databases.Inputs(cmd)...)
		if err != nil {
			return err
		}
		defer file.Close()
		err = file.Write(write(campaign.PlayersCSV))
	}
	if err == nil && len(left) > 0 {
		cli.LogOf(cmd).Say(fmt.Sprintf("left out, because they have no plan, or were skipped, refused or undone: %s", printable.Names(left)))
		return cli.NotVerified
	}
	return err
}

// readingOptions are the options of a command that only reads worlds.
func (n *night) readingOptions(ctx context.Context) (o campaign.Options, err error) {
	config := databases.NewConfig(n.cmd.String("config"), n.env)
	r, _, err := n.rules(config)
	if err != nil || n.cmd.Bool("renamed") {
		return o, err
	}
	worlds, err := n.worlds(ctx, config)
	o.Databases = func(world string) (transfer.Database, error) { return worlds[world], nil }
	o.Codecs = codecsOf(r)
	return o, err
}

// who says which table has the players, as the flags or the configuration name it; the zero
// value if neither does.
func (n *night) who() (campaign.Who, error) {
	who := campaign.Who{Table: n.cmd.String("table"), Column: n.cmd.String("names")}
	switch {
	case who.Table != "" && who.Column != "":
		return who, nil
	case who != (campaign.Who{}):
		return who, cli.Usage("-table and -names belong together: want the table of the players, and its column with their names")
	}
	f, err := databases.NewConfig(n.cmd.String("config"), n.env).Fleet(n.cmd)
	if err != nil || f.Players == "" {
		return who, err
	}
	for _, name := range f.Names {
		if column, ok := strings.CutPrefix(name, f.Players+"."); ok {
			return campaign.Who{Table: f.Players, Column: column}, nil
		}
	}
	return who, nil
}
