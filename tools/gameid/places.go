package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/fleet"
	"mergesafe/tools/internal/cli"
)

// placesCommand is about where the databases of worlds are.
func placesCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "places", Description: helpPlaces, Flags: fleetFlags(cli.JSONFlag()), Action: onFleet(env, noArguments, listPlaces),
		Commands: []*ucli.Command{
			{
				Name: "set", Description: helpSetPlace, Action: onFleet(env, placeArguments, setPlace),
				Flags: fleetFlags(&ucli.StringSliceFlag{Name: "label"}, &ucli.StringFlag{Name: "reason"}),
			},
			{Name: "forget", Description: helpForgetPlace, Flags: fleetFlags(), Action: onFleet(env, oneWorld, forgetPlace)},
		},
	}
}

const helpPlaces = `
Usage: gameid servers places [-fleet DSN] [-config FILE] [-json]
       gameid servers places COMMAND [flags] [arguments]

Lists where the databases of worlds are, so that "fleet" finds worlds that are
no [[source]] in its configuration. A place has no user and no password: "fleet"
takes them from worlds_account or worlds_account_env of [registry]. If another
program wrote a place that cannot be used, the others are listed, the exit code
is 2, and the message says how to remove it.

Commands:
  set     record where the database of a world is
  forget  remove a world from this list

Flags:` + fleetJSONHelp + `
Examples:
  gameid servers places
  gameid servers places set w1 sqlite:worlds/w1.db`

const helpSetPlace = `
Usage: gameid servers places set [-label NAME=VALUE] ... [-reason TEXT]
                                 [-fleet DSN] [-config FILE] WORLD DSN

Records where the database of a world is, and replaces the former record. WORLD
is the name that people use. The DSN has no user and no password, as in
mysql:tcp(HOST:PORT)/DATABASE: one with an account is refused.

Flags:
  -label NAME=VALUE
                 such as language=de or zone=Europe/Berlin; may be given several
                 times
  -reason TEXT   kept with the place` + fleetHelp + `
Examples:
  gameid servers places set -label language=de w1 "$W1_PLACE"
  gameid servers places set w2 sqlite:worlds/w2.db`

func placeArguments(cmd *ucli.Command) (gameid.ServerID, error) {
	if n := cmd.Args().Len(); n != 2 {
		return 0, cli.Usage("%d arguments given: want a world and the DSN of its database, without an account", n)
	}
	_, err := labelsOf(cmd)
	return 0, err
}

// labelsOf are those of -label.
func labelsOf(cmd *ucli.Command) (map[string]string, error) {
	all := make(map[string]string)
	for _, label := range cmd.StringSlice("label") {
		name, value, ok := strings.Cut(label, "=")
		if _, twice := all[name]; !ok || twice {
			return nil, cli.Usage("-label %q: want NAME=VALUE, such as language=de, and each name once", label)
		}
		all[name] = value
	}
	return all, nil
}

func setPlace(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	labels, err := labelsOf(cmd)
	if err != nil {
		return err
	}
	place := fleet.Place{World: cmd.Args().Get(0), DSN: cmd.Args().Get(1), Labels: labels}
	if err := w.fleet.SetPlace(ctx, place, w.note); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.Root().Writer, "The place of %s is %s.\n", shown(place.World), shown(place.DSN))
	return err
}

const helpForgetPlace = `
Usage: gameid servers places forget [-fleet DSN] [-config FILE] WORLD

Removes a world from the list of places, such as after it was merged into
another, or a place that cannot be used. Nothing else that the fleet registry
knows of it changes.

Flags:` + fleetHelp + `
Examples:
  gameid servers places forget w2`

func oneWorld(cmd *ucli.Command) (gameid.ServerID, error) {
	if n := cmd.Args().Len(); n != 1 {
		return 0, cli.Usage("%d worlds given: want one, by its name on the list of: gameid servers places", n)
	}
	return 0, nil
}

func forgetPlace(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	world := cmd.Args().First()
	if err := w.fleet.ForgetPlace(ctx, world); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.Root().Writer, "The place of %s was deleted.\n", shown(world))
	return err
}

func listPlaces(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	all, err := w.fleet.Places(ctx)
	if err != nil {
		return err
	}
	var lost error // the others are listed nevertheless
	for _, p := range all {
		lost = errors.Join(lost, p.Err)
	}
	heads := []string{"WORLD", "PLACE", "LABELS", "SINCE", "BY", "WHY"}
	const none = "No place is known yet."
	out, asJSON := cmd.Root().Writer, cmd.Bool("json")
	err = printList(out, cli.Width(cmd), asJSON, all, none, placeOf, heads, func(p fleet.Place) []string {
		var labels []string
		for _, name := range slices.Sorted(maps.Keys(p.Labels)) {
			labels = append(labels, name+"="+p.Labels[name])
		}
		place := shown(p.DSN)
		if p.Err != nil {
			place = "(unusable)"
		}
		return []string{shown(p.World), place, shown(strings.Join(labels, " ")), moment(p.SetAt), shown(p.By), shown(p.Why)}
	})
	return cmp.Or(err, lost)
}

// placeObject is one place in JSON.
type placeObject struct {
	World  string            `json:"world"`
	Place  string            `json:"place"` // a DSN without an account
	Labels map[string]string `json:"labels"`
	Set    time.Time         `json:"set_at"`
	By     string            `json:"by"`
	Why    string            `json:"why"`

	Problem string `json:"problem,omitempty"` // why the place cannot be used: place and labels are empty then
}

func placeOf(p fleet.Place) placeObject {
	o := placeObject{World: p.World, Place: p.DSN, Labels: p.Labels, Set: p.SetAt, By: p.By, Why: p.Why}
	if p.Err != nil {
		o.Problem = p.Err.Error()
	}
	return o
}
