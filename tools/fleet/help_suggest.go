package main

import (
	_ "embed"

	"mergesafe/tools/internal/databases"
)

//go:embed suggest_json.txt
var helpSuggestJSON string

const helpSuggest = `Usage: fleet suggest [flags] WORLD...

Suggests which worlds to merge, and into which of them, from the inventory and
your wishes. It only reads. Each merge comes with reasons and numbers. With
-o it writes the campaign file: edit it, then carry it out.

Wishes; -players or -most must be there:
  -players N        so many active players in a world; active are those of the
                    last 7 days
  -players-most N   never more in a merged world (default: a tenth more)
  -most N           at most N worlds become one, the target among them
  -apart W1,W2      keep these worlds apart, each from all others; may be
                    repeated
  -same LABEL       merge only worlds with the same value of this label, such as
                    language; may be repeated
  -disk SIZE        at most so many bytes in a merged world: 500MB, 20GB
  -room SIZE        at most so many bytes come to each database server, or with
                    -room SERVER=SIZE to this one; may be repeated
  -time TIME        all merges together take no longer, such as 4h, even at the
                    slowest rate
  -parallel N       so many merges run at a time (default 1)

Places to search:
` + databases.WorldHelp + `  -inventory FILE   take this inventory, which "fleet inventory -json" or -html
                    wrote, instead of reading all worlds again; without WORLD
  -rate ROWS        merges copy so many rows a second, or from the slowest to
                    the fastest: 20000-60000 (default 7500-120000)
  -rates CAMPAIGN   the rate of the merges that this campaign carried out
  -no-names         do not count names and accounts that worlds share

What it prints:
  -o FILE           write the campaign file; never over another file
  -json             print the suggestion as JSON

A suggestion is better than another one if fewer worlds are left; if as many are
left, if their players are closer to -players (the sum of the squares of the
distances); and then, if fewer rows are copied. The method is a greedy packing,
then moves and swaps while they improve it. There may be a better suggestion.
The same inventory and wishes give the same one.

The target is the world with the most rows, so that the fewest are copied. How
long a merge takes is predicted by its rows, as "fleet plan" does. Worlds that
could not be read, are fenced, have a merge that is not completed, no label, or
a schema of their own are left out, with the reason. Worlds that run are
suggested, and named: they have to stop before the merge.

With names and accounts in [fleet] of config.toml, it counts exactly which of
them the worlds of each merge share, as the database compares them:

  [fleet]
  players  = "characters"
  active   = "logout_time"
  names    = ["characters.name", "guilds.name"]
  accounts = "accounts.login"

Exit codes: 0 there is a suggestion; 1 no two worlds can become one within the
wishes; 2 could not. The JSON is explained by "fleet suggest -h json".

Examples:
  fleet suggest -players 3000 -most 5 -o summer.toml -all
  fleet inventory -json -all > fleet.json
  fleet suggest -inventory fleet.json -players 3000 -same language -time 4h
`
