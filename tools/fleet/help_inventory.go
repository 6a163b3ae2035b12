package main

import (
	_ "embed"

	"mergesafe/tools/internal/databases"
)

//go:embed inventory_json.txt
var helpInventoryJSON string

const helpInventory = `Usage: fleet inventory [flags] WORLD...

Reads what there is, many worlds at a time, and writes nothing to them: for each
world whether it runs, how its schema differs from that of most, its rows and
bytes, its servers and ranges, its last merge, and how many play there. It needs
SELECT.

` + databases.WorldHelp + `
  -since FILE       also what changed since that inventory, which -json or -html
                    wrote
  -quick            take the estimates of MariaDB and MySQL for numbers of rows,
                    which may be far off and are marked with ~; without it rows
                    are counted, and estimated only if that takes too long
  -csv FILE         write a line of CSV for each world as well
  -html FILE        write the inventory as one HTML file as well
  -json             print the inventory as JSON
  -parallel N       read so many worlds at a time, in all (default 16)
  -per-server N     of these, on one database server (default 4)
  -timeout TIME     how long one world may take (default 2m0s); a database that
                    does not answer at all is given up after 10s

A world that does not answer, or cannot be read, is listed with the reason, and
the others do not wait for it. A database server that did not answer for two
worlds is not asked for its others. Rows in SQLite are always counted.

A world is running if a live process holds the lease of one of its servers, and
fenced if it went to another world or a merge is under way in it. The state of a
world without a registry is unknown: only the operator can tell.

Who plays is known if [fleet] in config.toml says where it stands:

  [fleet]
  players = "characters"      # a row for each player
  active  = "logout_time"     # when the player was there last

The times may be numbers of seconds, milliseconds or microseconds since 1970, or
dates with a time of day, in UTC; in SQLite also texts of such. "1 day" are the
players who were there last within a day before the inventory, the same for "7
days" and "30 days"; peak is the most of them within one of the last 30 days.

Exit codes: 0 all worlds were read; 2 there is no inventory; 3 some world, or
the fleet registry, could not be read, or not completely.

"fleet inventory -h json" describes the document of -json.

Examples:
  fleet inventory -all
  fleet inventory -html fleet.html -json 'w*' > fleet.json
  fleet inventory -since fleet.json -csv worlds.csv -all
`
