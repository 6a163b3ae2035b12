package main

const helpPlayers = `Usage: fleet players [flags] CAMPAIGN

Writes what the players of a campaign are to be told: for each player of a world
that goes to another one, and for each player of a target whose name changes,
the old and the new world, name and key. It reads the plans, and the players
from the worlds that go, which have to be as they were when they were planned.

  -csv FILE         write them as CSV; - is the output. A name that a program
                    for tables would take for a formula begins with '
  -json             print them as JSON
  -renamed          only those whose names change: no database is read
  -table NAME       the table with a row for each player
  -names COLUMN     its column with the names; by default both are of [fleet] in
                    config.toml (players, names), or else of the one column in
                    which the plans change values
  -config FILE      with [[source]], [check] and [merge] (default "config.toml")
  -worlds FILE      the worlds are those of this file: see fleet inventory -h
  -fleet DSN        the fleet registry (default: [registry] in config.toml)

Merges that have no plan, or were skipped, refused or undone, are left out; then
the exit code is 3.

Examples:

  fleet players -csv players.csv night.toml
  fleet players -csv - -table characters -names name night.toml
  fleet players -csv - -renamed night.toml
`
