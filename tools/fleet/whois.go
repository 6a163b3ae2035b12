package main

import (
	"context"
	"fmt"
	"strings"

	cliv3 "github.com/urfave/cli/v3"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/campaign"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/databases"
	"mergesafe/tools/internal/rulefile"
)

func whoisCommand(s surroundings) *cliv3.Command {
	return &cliv3.Command{Name: "whois",
		Flags: []cliv3.Flag{databases.ConfigFlag(), cli.JSONFlag(), &cliv3.StringFlag{Name: "worlds"}, &cliv3.StringFlag{Name: "fleet"},
			&cliv3.StringFlag{Name: "names"}, &cliv3.StringFlag{Name: "csv"}},
		Action: s.onWhole((*night).whois)}
}

// whois writes what becomes of rows in all merges, as servermerge whois does for one.
func (n *night) whois(ctx context.Context) error {
	cmd := n.cmd
	name, names := cmd.String("csv"), cmd.String("names")
	var who campaign.Who
	switch {
	case name == "" && !cmd.Bool("json"):
		return cli.Usage("no file given: want -csv FILE, -csv - for standard output, or -json")
	case name != "" && cmd.Bool("json"):
		return cli.Usage("-csv and -json are both given: want one of them")
	case names != "":
		var err error
		if who.Table, who.Column, err = rulefile.ColumnOfNames(names); err != nil {
			return err
		}
	}
	o, err := n.readingOptions(ctx, names != "")
	if err != nil {
		return err
	}
	var left []string
	list := report.ListFates(func(each func(merge.Fate) error) (err error) {
		left, err = n.book.EachFate(ctx, o, who, each)
		return err
	})
	if out := cmd.Root().Writer; cmd.Bool("json") {
		err = cli.WriteTo(out, "json", "-", list.JSON)
	} else {
		err = cli.WriteTo(out, "csv", name, list.CSV, n.inputs()...)
	}
	if err == nil && len(left) > 0 {
		cli.LogOf(cmd).Say(fmt.Sprintf("left out, because they have no plan, or were skipped, refused or undone: %s", printable.Names(left)))
		return cli.NotVerified
	}
	return err
}

// readingOptions are the options of a command that only reads: the plans, and the worlds if it says so.
func (n *night) readingOptions(ctx context.Context, worlds bool) (o campaign.Options, err error) {
	if !worlds {
		return o, nil
	}
	config := databases.NewConfig(n.cmd.String("config"), n.env)
	r, _, err := n.rules(config)
	if err != nil {
		return o, err
	}
	all, err := n.worlds(ctx, config)
	o.Databases = func(world string) (merge.Database, error) { return all[world], nil }
	o.Codecs = codecsOf(r)
	return o, err
}

// who says which table has the players, as the configuration names it; the zero value if it does not.
func (n *night) who() (campaign.Who, error) {
	f, err := databases.NewConfig(n.cmd.String("config"), n.env).Fleet(n.cmd)
	for _, name := range f.Names {
		if column, ok := strings.CutPrefix(name, f.Players+"."); ok {
			return campaign.Who{Table: f.Players, Column: column}, err
		}
	}
	return campaign.Who{}, err
}
