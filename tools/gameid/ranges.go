package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	ucli "github.com/urfave/cli/v3"

	"mergesafe/gameid"
	"mergesafe/internal/printable"
	"mergesafe/store/fleet"
	"mergesafe/tools/internal/cli"
)

// rangesCommand is about the ranges of integers that worlds have for their keys.
func rangesCommand(env cli.Env) *ucli.Command {
	return &ucli.Command{
		Name: "ranges", Description: helpRanges, Flags: fleetFlags(cli.JSONFlag()), Action: onFleet(env, noArguments, listRanges),
		Commands: []*ucli.Command{
			{
				Name: "lease", Description: helpLease, Action: onFleet(env, leaseArguments, leaseRange),
				Flags: fleetFlags(&ucli.StringFlag{Name: "world"}, &ucli.StringFlag{Name: "space"}, &ucli.Int64Flag{Name: "size", Value: 10_000_000},
					&ucli.Int64Flag{Name: "step"}, &ucli.Int64Flag{Name: "at", Value: -1}, &ucli.Int64Flag{Name: "max", Value: fleet.DefaultRangeMax},
					&ucli.StringFlag{Name: "reason"}, cli.JSONFlag()),
			},
			{Name: "release", Description: helpReleaseRange, Flags: fleetFlags(&ucli.StringFlag{Name: "reason"}), Action: onFleet(env, oneRange, releaseRange)},
		},
	}
}

const helpRanges = `
Usage: gameid servers ranges [-fleet DSN] [-config FILE] [-json]
       gameid servers ranges COMMAND [flags] [arguments]

Lists the ranges of integers that worlds of the fleet have for their keys, in
the order in which they were given. It is for games that count their keys, such
as with AUTO_INCREMENT: worlds in ranges of their own can be merged as they are.
No number is given twice, also after its range was released.

  RANGE   counts them; "release" takes it
  WORLD   whose keys these are
  SPACE   what the keys name; -: everything. Only ranges of different spaces
          may have numbers in common
  MERGE   the merge that gave the world's keys these values ("servermerge plan
          -fleet"); -: the range was leased
  STATE   held or released

Commands:
  lease    give a world a range that no other world has, had or gets
  release  note that a world does not use its range any more

Flags:` + fleetJSONHelp + `
Examples:
  gameid servers ranges
  gameid servers ranges lease -world s2`

const helpLease = `
Usage: gameid servers ranges lease -world NAME [-size N] [-step N] [-at N]
                                   [-max N] [-space SPACE] [-reason TEXT]
                                   [-fleet DSN] [-config FILE] [-json]

Gives a world a range of integers for its keys that no other world has, had or
gets: the lowest that is free, and none that begins below -size, where worlds
count that have no range. It prints how to use it.

Flags:
  -world NAME    the world, by its name in config.toml. A world may have several
                 ranges
  -size N        how many numbers (default 10000000)
  -step N        the first is a multiple of it (default: the size; with -at: 1)
  -at N          begin with this number; refused if a number of the range was
                 given before. -at 0 records a world that counts from 1
  -max N         the largest number that the columns take (default 2147483647,
                 that of INT; 4294967295 is that of INT UNSIGNED)
  -space SPACE   only for keys of this kind, such as characters.guid, if its
                 columns are too narrow for the ranges of the others; the same
                 word for all worlds
  -reason TEXT   kept with the range` + fleetJSONHelp + `
Examples:
  gameid servers ranges lease -world s1 -at 0
  gameid servers ranges lease -world s2
  gameid servers ranges lease -world s2 -size 60_000 -space guild.guildid`

func leaseArguments(cmd *ucli.Command) (gameid.ServerID, error) {
	if cmd.String("world") == "" && !cmd.Args().Present() {
		return 0, cli.Usage("no world given: want -world and its name")
	}
	return noArguments(cmd)
}

func leaseRange(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	given, err := w.fleet.LeaseRange(ctx, fleet.RangeWish{
		World: cmd.String("world"), Space: cmd.String("space"), Size: cmd.Int64("size"), Step: cmd.Int64("step"), At: cmd.Int64("at"), Max: cmd.Int64("max"),
	}, w.note)
	if err != nil {
		return err
	}
	out := cmd.Root().Writer
	if cmd.Bool("json") {
		return cli.WriteJSON(out, keyRangeObject(given))
	}
	kind, tables := "keys of every kind", "for each TABLE that counts its keys"
	table := "TABLE"
	if given.Space != "" {
		kind, tables = shown(given.Space), "for the table that counts these keys"
		if name, column, ok := strings.Cut(given.Space, "."); ok && column != "" {
			table = "`" + strings.ReplaceAll(printable.Text(name), "`", "``") + "`"
		}
	}
	fmt.Fprintf(out, "Range %d is leased to %s, for %s: %s to %s.\n", given.Number, shown(given.World), kind, printable.Number(given.First), printable.Number(given.Last))
	if given.First == 0 {
		return nil
	}
	_, err = fmt.Fprintf(out, "A new world counts in it after this, run before its first row %s (MariaDB, MySQL):\n  ALTER TABLE %s AUTO_INCREMENT = %d;\n", tables, table, given.First+1)
	if err == nil && given.Space == "" {
		_, err = fmt.Fprintf(out, "A world that exists moves into it, with all its keys, by a merge of an empty copy of its schema and this world, with this rule for each space of keys:\n  offset = { %s = %d }\n", printable.TOML(given.World), given.First)
	}
	return err
}

func listRanges(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	all, err := w.fleet.Ranges(ctx)
	if err != nil {
		return err
	}
	out, asJSON := cmd.Root().Writer, cmd.Bool("json")
	heads := []string{"RANGE", "WORLD", "FIRST", "LAST", "SPACE", "STATE", "MERGE", "SINCE", "BY", "WHY"}
	const none = "No range has been given yet."
	return printList(out, cli.Width(cmd), asJSON, all, none, keyRangeObject, heads, func(r fleet.KeyRange) []string {
		state, since, by, why := "held", r.GivenAt, r.By, r.Why
		if !r.ReleasedAt.IsZero() {
			state, since, by, why = "released", r.ReleasedAt, r.ReleasedBy, r.ReleasedWhy
		}
		return []string{strconv.FormatInt(r.Number, 10), shown(r.World), printable.Number(r.First), printable.Number(r.Last),
			shown(r.Space), state, shown(short(r.Merge)), moment(since), shown(by), shown(why)}
	})
}

const helpReleaseRange = `
Usage: gameid servers ranges release [-reason TEXT] [-fleet DSN] [-config FILE]
                                     RANGE

Notes that a world does not use its range any more. The range stays on the list,
and its numbers are given to no other world: rows that have them may be
anywhere.

Flags:
  -reason TEXT   kept with the range` + fleetHelp + `
Examples:
  gameid servers ranges release -reason "s2 is closed" 3`

func oneRange(cmd *ucli.Command) (gameid.ServerID, error) {
	if n := cmd.Args().Len(); n != 1 {
		return 0, cli.Usage("%d ranges given: want one, by its number on the list of: gameid servers ranges", n)
	}
	if n, err := strconv.ParseInt(cmd.Args().First(), 10, 64); err != nil || n < 1 {
		return 0, cli.Usage("the range %q: want its number on the list of: gameid servers ranges", cmd.Args().First())
	}
	return 0, nil
}

func releaseRange(ctx context.Context, cmd *ucli.Command, w fleetWork) error {
	number, err := strconv.ParseInt(cmd.Args().First(), 10, 64)
	if err == nil {
		err = w.fleet.ReleaseRange(ctx, number, w.note)
	}
	if err == nil {
		_, err = fmt.Fprintf(cmd.Root().Writer, "Range %d is released. Its numbers are not given again.\n", number)
	}
	return err
}

// keyRange is one range in JSON.
type keyRange struct {
	Range       int64      `json:"range"`
	World       string     `json:"world"`
	Space       string     `json:"space"` // empty: every kind of key
	First       int64      `json:"first"`
	Last        int64      `json:"last"`
	Merge       string     `json:"merge"` // empty: it was leased
	Given       time.Time  `json:"given_at"`
	By          string     `json:"by"`
	Why         string     `json:"why"`
	Released    *time.Time `json:"released_at"` // null if it was not
	ReleasedBy  string     `json:"released_by,omitempty"`
	ReleasedWhy string     `json:"released_why,omitempty"`
}

func keyRangeObject(r fleet.KeyRange) keyRange {
	return keyRange{r.Number, r.World, r.Space, r.First, r.Last, r.Merge, r.GivenAt, r.By, r.Why,
		known(r.ReleasedAt), r.ReleasedBy, r.ReleasedWhy}
}
