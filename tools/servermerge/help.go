package main

import _ "embed"

// help is what -h prints.
const help = `Usage: servermerge COMMAND [flags] [arguments]

Merges game databases (server merge): makes a new database of the rows of all
worlds, beside them. Keys that collide get new values, together with everything
that refers to them. Only apply, open and undo write.

Commands:
  plan -into NEW WORLD...
                         check all worlds and write down what a merge would do,
                         for people to review
  apply PLAN             carry out that plan and no other; if interrupted, run
                         the same command again to resume
  status PLAN            where the merge is
  verify PLAN            prove that every row arrived as planned
  open PLAN              prove it, and open the new database to the game
  undo PLAN              undo the merge: drop what it made
  whois PLAN             which rows get another name or stay behind, also as CSV
  whois NEW TABLE KEY    which world a key came from, and its key there

A merge, once the game servers are stopped. Until open, existing data is
untouched; the worlds just cannot start. undo drops what was made:

  servermerge plan -into new -o plan.json s1 s2    # and read what it says
  servermerge apply plan.json
  servermerge verify plan.json                     # PASS?
  servermerge open plan.json          # point the game to new, and start it

A rehearsal of it, days before, while the game servers run:

  servermerge plan -into new -o plan.json s1 s2
  servermerge apply -try plan.json    # what does the server refuse?
  servermerge undo plan.json

NEW and each WORLD are a DSN or the name of a [[source]] in config.toml. The
first world keeps its keys and names, and gives the schema:

  s1                                             name = "s1" in config.toml
  sqlite:PATH                                    an SQLite file
  mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE    MariaDB, MySQL
  mysql:USER:PASSWORD@tcp(HOST1,HOST2)/DATABASE  the same, on several hosts

A plan holds no DSN. The other commands look up the names in it again; if one
was given as a mysql: DSN, give all databases again after PLAN: NEW WORLD... So
apply can use an account with more rights than that of plan.

Exit codes:

  0   done; of plan: the merge can be done; of verify: PASS; of status: not
      begun, or open
  1   refused, and the reasons are printed; of verify: FAIL
  2   could not: wrong usage or configuration, a database error, or an interrupt
  3   the same as 1, but only because something could not be verified
  4   interrupted; nothing is lost: run the same command again to resume

"servermerge COMMAND -h" explains each. More: servermerge -h safety (what is
written where, rights, what can go wrong) and servermerge -h json (documents).

Examples:

  servermerge plan -into new -html check.html -o plan.json s1 s2 s3
  servermerge apply -max-load 40 plan.json
  servermerge verify plan.json
  servermerge undo plan.json
`

const helpThrottle = `  -max-load N       rest while a database server runs more than N threads
  -pause DURATION   rest before every batch of rows, such as 20ms
`

const helpReplicas = `  -replica DSN      rest while this replica lags, or does not replicate: its
                    DSN, or its name in the configuration; once for each
  -max-lag TIME     how far it may lag (default 5s), not counting a delay
                    configured for it (MASTER_DELAY)
`

const helpPlaces = `  -config FILE      with [[source]] (default "config.toml")
`

const helpFleet = `  -fleet DSN        the fleet registry (default: [registry] in config.toml);
                    needed if the world is bound in one
`

const helpCodec = `  -codec COMMAND    run this command, which finds keys in cells, as the plan
                    prints it: 'exec ./codec items'; once for each of the plan
`

const helpPlan = `Usage: servermerge plan -into NEW [flags] WORLD WORLD...

Checks all worlds as mergecheck does, decides about names that worlds share,
counts and sums up every row that will be copied, and prints what a merge would
do and what blocks it, such as a game server that still runs on one of them. It
only reads, and needs SELECT.

The first world keeps its keys and names, and the new database becomes that
world: its tables with their triggers and so on, its records of earlier merges,
its servers. All databases are of one kind and version. An object that cannot be
made there blocks the merge, with the statement to run.

  -into NEW         required: the database to make, which does not exist or is
                    empty: a DSN or a name in config.toml
  -o FILE           write the plan, as JSON, for apply; never over another file
  -html FILE        write the plan's ID, what blocks it, its renames and the
                    report of the check as one HTML file as well
  -json             print the plan in the form that -o writes
  -allow CODE       findings of CODE do not block the merge (mergecheck -codes);
                    row conflicts always do; CODE:TABLE and CODE:TABLE.COLUMN
                    allow it only there, also by patterns:
                    'column-opaque:log_*'
  -rules FILE       what columns are, as mergecheck -propose writes it; of
                    several files a later one has precedence. [merge] rules =
                    ["FILE"] in config.toml sets it once for all commands
  -recorded         make no plan: get back the plan of the merge that made NEW,
                    if its file is lost; give NEW alone, and -o
  -config FILE      with [[source]], [check] and [merge] (default "config.toml")
` + helpThrottle + `
The rules say which columns are references and which keys get new values: one
number is added to all keys of a world and to all references to them, so that
20,004,711 is the second world's 4,711. They also say what happens to tables,
rows and names that worlds share, and where keys are inside cells. A column that
could be a reference and is not declared blocks the merge. mergecheck -propose
-o rules.toml writes most of them; docs/rules.md explains the rest.

Exit codes: 0 the merge can be done; 1 something blocks it, and apply will
refuse the plan; 2 there is no plan; 3 as 1, but only because something could
not be verified.

Examples:
  servermerge plan -into new s1 s2
  servermerge plan -into s1_2026 -rules rules.toml -o plan.json s1 s2 s3
  servermerge plan -into sqlite:new.db -o plan.json sqlite:s1.db sqlite:s2.db
  servermerge plan -recorded -o plan.json new
`

const helpOpen = `Usage: servermerge open [flags] PLAN [NEW WORLD...]

Proves that the new database is as planned, as verify does. If it is, open marks
the fences of the worlds, lifts the fence of the new database, and enables its
events. Before that no game server can start there. The game servers of the
worlds can no longer be started on the old databases. If the
proof is not PASS, it stays closed and nothing is changed. A world that has a
registry needs its fence: without it, it may have run. If the fleet registry
refuses, for example because a copy of a world runs, stop that copy and run open
again.

With a fleet registry, it records there that the first world continues in the
new database, and that the others were merged into it: copies of the old ones
are refused from then on, wherever they are started. The place of the first
world changes too.

Then point the game to the new database. Keep the old ones as long as you
may want an undo. If it is interrupted, run it again.

  -yes              do not ask; without a terminal it never asks
  -parallel N       how many tables, or worlds of one, are read at a time
                    (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -html FILE        write the result as one HTML file as well
  -json             print the result as JSON
` + helpFleet + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 it is open; 1 refused, or FAIL; 2 could not; 3 the rows are as
planned, but the check could not check everything in the result: it stays
closed; 4 interrupted, or the fleet registry is unreachable: run it again.

Example:
  servermerge open plan.json
`

const helpApply = `Usage: servermerge apply [flags] PLAN [NEW WORLD...]

Carries out the plan. Before the first write it checks that schema, registry and
counters are still as planned, that no game server runs on the worlds, and that
the accounts have the rights that it needs; otherwise it refuses. Then it makes
the new database, records the merge there, prevents the servers of the worlds
from being started, and copies, batch by batch. No server can be started on the
new database until open. On a terminal it first says what it will do, where and
to how many rows, and asks.

If it is interrupted by Ctrl-C, kill -9 or a power failure, run the same command
again to resume; the result is the same. If a database cannot be reached or a
disk is full, it waits, then stops with exit code 4. If rows of a world have
changed since the plan, it stops as well: undo the merge, then plan again. open
finds what other processes write to the new database.

  -try              a rehearsal: make the new database from worlds that may
                    still be running, without fences. Rows changed since the
                    plan are counted, not refused. The result can never be
                    opened or verified, and apply without -try refuses it; undo
                    drops it
  -parallel N       how many tables, worlds of one, or parts of a large one are
                    processed at a time; an SQLite file is written by one
                    (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -html FILE        write the result as one HTML file as well, also if
                    it is refused or interrupted
  -json             print the result as JSON
  -yes              do not ask; without a terminal it never asks
` + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 done; 1 refused before the first write, or a world is not as
planned; 2 could not; 4 interrupted: run the same command again.

Examples:
  servermerge apply plan.json
  servermerge apply -try -pause 20ms plan.json
  servermerge apply plan.json "$NEW_WRITER_DSN" s1 s2
`

const helpStatus = `Usage: servermerge status [flags] PLAN [NEW WORLD...]

Prints the state of the merge, according to its record in the new database and
the fences of the worlds: NOT BEGUN, COPYING, MADE, OPENING, OPEN, UNDOING, or
TRIED after a rehearsal. PLAN AGAIN is not begun, but the worlds have changed
since the plan. It reads no rows, says nothing about earlier proofs, and can be
used while another command runs.

  -json             print it as JSON
` + helpPlaces + `
Exit codes: 0 not begun, or open; 2 could not read it; 4 begun and not open,
closed by an undo, or a fence is left.

Example:
  servermerge status plan.json
`

const helpVerify = `Usage: servermerge verify [flags] PLAN [NEW WORLD...]

Proves that the merge is as planned: reads every row of the new database and of
all worlds, compares numbers of rows and checksums of their contents with the
plan, lists rows that differ, compares objects with the first world, and runs
the check of mergecheck on the result. It only reads. open makes the same proof
first. It also finds what a game changed in the new database, except that
counters may rise there once it is open. It refuses a copy of the new database
from before its opening, and a world that has lost its fence.

  -parallel N       how many tables, or worlds of one, are worked on at a time;
                    an SQLite file is written by one (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -json             print the proof as JSON
` + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 PASS; 1 FAIL, or refused; 2 no verdict; 3 the rows are as
planned, but the check could not check everything in the result.

Example:
  servermerge verify plan.json
`

const helpUndo = `Usage: servermerge undo [flags] PLAN [NEW WORLD...]

Undoes the merge, complete or not: drops what it made, and lets the game servers
of the worlds start again. If other processes wrote to the new database
since it was made, undo refuses and lists changes, unless forced; on MariaDB and
MySQL it locks the tables before it compares them, until they are dropped (in a
cluster with several writers it cannot, and says so). If the game may have used
it, undo first raises the reserved times, numbers and counters of the worlds
above those used there. While a world is missing it refuses, forced or not: only
the new database still has its rows. If it is interrupted, run it again to
resume. On a terminal it asks first.

What was in the new database before, or others made there, is kept and
listed. What a rehearsal made (apply -try) is dropped without a comparison.

Without a record of the merge, nothing is dropped, and the fences decide. If no
database was opened, they are lifted. Otherwise the new one is missing or has
another name: give the one that has the record.

  -force            drop the new database even if it was written to; the
                    players' changes there are lost. Also lift the fences of a
                    merge that was opened and whose new database is missing or
                    a copy from before that
  -yes              do not ask; without a terminal it never asks
  -parallel N       how many tables are compared at a time (default 4; one on
                    MariaDB and MySQL, since only one connection can read them)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -json             print the result as JSON
` + helpFleet + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 done; 1 refused; 2 could not, or there is nothing to undo; 4
interrupted: run the same command again.

Examples:
  servermerge undo plan.json
  servermerge undo -force plan.json
`

const helpWhois = `Usage: servermerge whois [flags] PLAN
       servermerge whois [flags] NEW TABLE KEY
       servermerge whois [flags] NEW WORLD TABLE KEY
       servermerge whois -csv FILE NEW WORLD TABLE

Says what happens to rows in a merge, or happened to them. NEW is the merged
database, or the plan of its merge.

For a PLAN, or NEW alone, it lists the rows that get another name, and for
each world and table how many rows stay behind, why, and how many are copied.
-csv has one line for each of these rows. Rows that stay behind in tables whose
key is not one column of integers are only counted.

For a KEY of a TABLE of NEW it prints which world the row came from, and its key
there, merge by merge. If a WORLD is given, it prints the new value of a key of
that world, or why its row stayed behind. It reads only NEW, even years and
further merges later. A key that the game created later was not copied. It
needs SELECT. Write a KEY of several columns with a slash between them: in
a text, a slash is %2F, and % is %25. Bytes are digits from 00 to ff. For these
keys, for texts, and for those of a first world, which keeps them, only the plan
of a merge is on record: give the WORLD. Whether it had the key is unknown.

It reads the table mergesafe_keys. In SQL use the view mergesafe_moved:
docs/merging.md has a query. Only whois knows whether a number between the first
and the last key of a world was a key.

  -csv FILE         write these rows, or all keys of a TABLE of a WORLD, as CSV:
                    old world, new world (the first one of the merge), table,
                    keys and names, and why a row stays behind; "-" prints it. A
                    name that a spreadsheet would treat as a formula begins with
                    '. Without -names, the new key of a row of the first world
                    alone is known
  -names T.COLUMN   with -csv or -json: every row of the table T of all worlds
                    but the first, and those of the first that stay behind or
                    whose names change, with the names in the column, read from
                    the worlds. Nothing is written if their rows are not those
                    of the plan. It needs SELECT. After PLAN the databases may
                    be given again: NEW WORLD... Put a name with a dot into
                    backquotes, as in rules
  -json             print as JSON
` + helpPlaces + helpCodec + `
Exit codes: 0 it came by a merge, or the list is written; 1 it came by none, or
stayed behind; 2 could not read.

Examples:
  servermerge whois -csv renames.csv plan.json
  servermerge whois -csv players.csv -names characters.name plan.json
  servermerge whois new characters 20004711
  servermerge whois new s2 characters 4711
`

// helpSafety is what "-h safety" prints.
//
//go:embed safety.txt
var helpSafety string

// helpJSON is what "-h json" prints.
//
//go:embed json.txt
var helpJSON string
