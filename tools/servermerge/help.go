package main

import _ "embed"

// help is what -h prints.
const help = `Usage: servermerge COMMAND [flags] [arguments]

Merges game databases (server merge): makes a new database of the rows of all
worlds, beside them (plan -into), or copies the rows of one or more SOURCEs into
a TARGET. Keys that collide get new values, together with everything that refers
to them (plan -rekey). Only apply, open and undo write.

Commands:
  plan TARGET SOURCE...  check all databases and write down what a merge would
                         do, for people to review
  apply PLAN             carry out that plan and no other; if interrupted, run
                         the same command again to resume
  pause PLAN             let it rest, from another terminal
  resume PLAN            end the pause
  limit PLAN             slow it, or let it go faster
  stop PLAN              end it; run the same command again to resume
  status PLAN            where the merge is
  verify PLAN            prove that every row arrived as planned
  open PLAN              let the game into the new database (plan -into)
  undo PLAN              take the merge back
  renames PLAN           the players that get another name, also as CSV
  left PLAN              the rows that stay behind, and why, also as CSV
  rebase SOURCE TARGET   plan one world into an empty database, with new keys
  whois TARGET TABLE KEY
                         which world a key came from, and its key there

A merge, once the game servers are stopped. Until open nothing that exists is
written, but that the worlds cannot be started; undo drops what was made:

  servermerge plan -into new -o plan.json s1 s2    # and read what it says
  servermerge apply plan.json
  servermerge verify plan.json                     # PASS?
  servermerge open plan.json          # point the game to new, and start it

The same in the database of s1, which is backed up first:

  servermerge plan -o plan.json s1 s2
  servermerge apply plan.json
  servermerge verify plan.json            # PASS? start the game server of s1

A TARGET or SOURCE is a DSN or the name of a [[source]] in config.toml:

  s1                                             name = "s1" in config.toml
  sqlite:PATH                                    an SQLite file
  mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE    MariaDB, MySQL
  mysql:USER:PASSWORD@tcp(HOST1,HOST2)/DATABASE  the same, on several hosts

A plan holds no DSN. The other commands look the names in it up again; a
database given by a mysql: DSN has to be given again, after PLAN and in its
order. In that way apply can get an account with more rights than that of plan.

Exit codes:

  0   done; of plan: the merge can be done; of verify: PASS; of status: not
      begun, or complete
  1   refused, and the reasons are printed; of verify: FAIL
  2   could not: wrong usage or configuration, a database error, or an interrupt
  3   the same as 1, but only because something could not be verified
  4   interrupted; nothing is lost: run the same command again to resume

"servermerge COMMAND -h" explains each. More: servermerge -h safety (what is
written where, rights, what can go wrong) and servermerge -h json (documents).

Examples:

  servermerge plan -html check.html -o plan.json s1 s2 s3
  servermerge apply -max-load 40 plan.json
  servermerge verify -html proof.html plan.json
  servermerge undo plan.json
`

const helpThrottle = `  -max-load N       rest while a database server runs more than N threads
  -pause DURATION   rest before every batch of rows, such as 20ms
`

const helpReplicas = `  -replica DSN      rest while this replica lags, or does not replicate: its
                    DSN, or its name in the configuration; once for each
  -max-lag TIME     how far it may lag (default 5s), besides a delay that it is
                    told to keep (MASTER_DELAY)
`

const helpConfigTaken = `  -config FILE      taken as by the other commands; nothing in it is needed
`

const helpPause = `Usage: servermerge pause PLAN

Lets the apply, verify, open or undo that works on PLAN rest before its next
batch, from another terminal. A statement that runs, such as one that makes an
index, ends first. The process keeps its connections and its fences. It goes on
with "servermerge resume PLAN". While it works, the file PLAN.control is beside
PLAN: other terminals write there.

` + helpConfigTaken + `
Example:
  servermerge pause plan.json
`

const helpResume = `Usage: servermerge resume PLAN

Ends a pause.

` + helpConfigTaken + `
Example:
  servermerge resume plan.json
`

const helpStop = `Usage: servermerge stop PLAN

Ends the apply, verify, open or undo that works on PLAN before its next batch,
as Ctrl-C in its terminal does: nothing is lost, and the same command resumes
it.

` + helpConfigTaken + `
Example:
  servermerge stop plan.json
`

const helpLimit = `Usage: servermerge limit [flags] PLAN

Changes the limits of the apply, verify, open or undo that works on PLAN, until
it ends. Limits that are not named stay.

  -max-load N       rest while a database server runs more than N threads
  -pause DURATION   rest before every batch of rows, such as 20ms; 0s for none
  -max-lag TIME     rest while a replica of -replica lags more than that
` + helpConfigTaken + `
Example:
  servermerge limit -pause 20ms -max-load 20 plan.json
`

const helpPlaces = `  -config FILE      with [[source]] (default "config.toml")
`

const helpFleet = `  -fleet DSN        the fleet registry (default: [registry] in config.toml);
                    needed if the world is bound in one
`

const helpCodec = `  -codec COMMAND    run this command, which finds keys in cells, as the plan
                    prints it: 'exec ./codec items'; once for each of the plan
`

const helpPlan = `Usage: servermerge plan [flags] TARGET SOURCE...

Checks all databases as mergecheck does, decides about names that two worlds
have, counts and sums up every row that will be copied, and prints what a merge
would do and what blocks it, such as a game server that still runs on one
of the databases. It only reads, and needs SELECT.

  -o FILE           write the plan, as JSON, for apply; never over another file
  -into NEW         make the merge in a new database beside all, which does not
                    exist or is empty: a DSN or a name in config.toml. TARGET is
                    then the world whose names and keys stay
  -html FILE        write the plan's ID, what blocks it, its renames and the
                    report of the check as one HTML file as well
  -json             print the plan as it is written with -o
  -include PATTERN  only the tables that match, such as 'char_*'
  -exclude PATTERN  not these: they are not copied, which has to be allowed:
                    -allow table-excluded
  -allow CODE       findings of CODE do not block the merge (mergecheck -codes);
                    row conflicts always do; CODE:TABLE and CODE:TABLE.COLUMN
                    allow it only there, also by patterns:
                    'column-opaque:log_*'
  -rules FILE       what columns are, as mergecheck -propose writes it; of
                    several files a later one has precedence
  -rekey            give the keys that every world counts from 1 new values:
                    those of one AUTO_INCREMENT column; [[merge.space]] and
                    [[merge.counter]] of the rules name other keys and their
                    counters, without -rekey too
  -fleet DSN        the fleet registry (default: [registry] in config.toml): new
                    keys leave out the ranges that it gave to worlds ("gameid
                    servers ranges"); apply records the new ones there
  -no-fence         do not keep the servers of the SOURCEs from being started
  -max-keyless N    most rows of one source in a table without a key, which are
                    copied in one transaction (default 100000; -1: none)
  -recorded         make no plan: get back that of the last merge into TARGET,
                    which alone is given, if its file is lost; with -o
  -config FILE      with [[source]], [check] and [merge] (default "config.toml")
` + helpThrottle + `
[[merge.table]] in the rules or config.toml says of tables that they are the
same in every world, stay behind (skip; with when, only these rows), are empty
afterwards (reset), or have one row for a key (combine). Its renumber gives rows
whose place within an account is taken the next free one.

[[merge.name]] in config.toml says how to change a name that two worlds have;
without one for its column such a name blocks the merge. Rows that name it
by a [[check.reference]] get the new name, too. Its set
changes other columns of a renamed row, such as the flag by which the game asks
for a new name.

With new keys, one number is added to all keys of a source and to all references
to them, by a foreign key or a [[check.reference]]: 20,004,711 is the second
world's 4,711. A column that could be a reference and is not declared blocks the
merge (mergecheck -propose -o rules.toml). So does a value that may name no row,
until the rules say what it is (none, dangling). Keys inside cells have a format
there; format = "exec ./codec items" runs that command, which finds them. Apply,
verify and undo need the command too.

Exit codes: 0 the merge can be done; 1 something blocks it, and apply will
refuse the plan; 2 there is no plan; 3 as 1, but only because something could
not be verified.

With -into the first world keeps its keys and names, and the new database
becomes that world: its tables with all that hangs on them, its records of
earlier merges, its servers. All databases are of one kind and version. What
cannot be made there as it is blocks the merge, with the statement to run.
Tables that are kept for an undo (mergesafe_was_...) stay behind.

Examples:
  servermerge plan s1 s2
  servermerge plan -into s1_2026 -rekey -rules rules.toml -o plan.json s1 s2 s3
  servermerge plan -html check.html -o plan.json sqlite:s1.db sqlite:s2.db
  servermerge plan -recorded -o plan.json s1
`

const helpOpen = `Usage: servermerge open [flags] PLAN [NEW WORLD...]

Lets the game into the new database that plan -into named, after verify has said
PASS: looks once more whether anybody wrote there or ran a server of a world,
enables its events, and lifts its fence last. Before that no game server can
start there. The servers of the worlds cannot be started on the old databases
any more. Where no registry prevents a start, it verifies once more.

With a fleet registry, it records there that the world goes on in the new
database: copies of the old one are refused from then on, wherever they are
started, and the place of the world follows.

Then point the game to the new database. Keep the old ones for as long as an
undo may be wanted. If it is interrupted, run it again.

  -yes              do not ask; without a terminal it never asks
  -parallel N       how many tables are read at a time, where it verifies again
                    (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -html FILE        write the result as one HTML file as well
  -json             print the result as JSON
` + helpFleet + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 it is open; 1 refused: it was not proved, or is not as it was
then; 2 could not; 4 interrupted: run the same command again.

Example:
  servermerge open plan.json
`

const helpApply = `Usage: servermerge apply [flags] PLAN [TARGET SOURCE...]

Carries out the plan. Before the first write it checks that schema and numbers
of rows are still as planned, that no game server runs on the databases, and
that the accounts have the rights that it needs; otherwise it refuses. Then it
records the merge in the target, prevents the servers of the sources from being
started, and copies, batch by batch. The servers of the target cannot be started
until the merge is completed or undone. On a terminal it first says what it will
do, where and to how many rows, and asks. The plan is the dry run: there is no
-dry-run.

If it is interrupted by Ctrl-C, kill -9 or a power failure, run the same command
again to resume; the result is the same. If a database cannot be reached or a
disk is full, it waits, then stops with exit code 4. If another process wrote to
the target meanwhile, it refuses: undo the merge, then plan again.

  -parallel N       how many tables, sources of one, or parts of a large one are
                    worked on at a time; an SQLite file is written by one
                    (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -html FILE        write the result as one HTML file as well, also if
                    it is refused or interrupted
  -json             print the result as JSON
  -fleet DSN        the fleet registry that the plan was made with, if there was
                    one (default: [registry] in config.toml)
  -yes              do not ask; without a terminal it never asks
` + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 done; 1 refused before the first write, or a source is not
as planned; 2 could not; 4 interrupted: run the same command again.

Examples:
  servermerge apply plan.json
  servermerge apply -pause 20ms plan.json "$S1_WRITER_DSN" s2
`

const helpStatus = `Usage: servermerge status [flags] PLAN [TARGET SOURCE...]

Prints the state of the merge, as apply recorded it in the target. It only
reads, and may be called while apply or undo runs.

  -json             print it as JSON
` + helpPlaces + `
Exit codes: 0 not begun, or complete; 2 could not read it; 4 begun and not
complete.

Example:
  servermerge status plan.json
`

const helpVerify = `Usage: servermerge verify [flags] PLAN [TARGET SOURCE...]
       servermerge verify [flags] PLAN [NEW WORLD...]

Proves that the merge is as planned: reads every row of the tables that
were copied, in the target and in the sources, compares numbers of rows and sums
over their contents, names the rows that differ, and runs the check of
mergecheck on the result. It only reads. Run it before a game server is started
on the target: changes of the game are found too.

A new database (plan -into) is also compared with the first world object by
object, how it is made. Rows of worlds that are fenced and have not run since
are not read again: what is in the new database is compared with what the plan
read; -reread reads them too. PASS is noted there: then it can be opened.

  -parallel N       how many tables, or sources of one, are worked on at a time;
                    an SQLite file is written by one (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -reread           of a new database: read the rows of all worlds again, for
                    changes by others than the game since the plan
  -html FILE        write the proof as one HTML file as well, also if it is FAIL
  -json             print the proof as JSON
` + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 PASS; 1 FAIL; 2 no verdict; 3 the rows are as planned, but the
check could not check everything in the result.

Example:
  servermerge verify plan.json
`

const helpUndo = `Usage: servermerge undo [flags] PLAN [TARGET SOURCE...]
       servermerge undo [flags] PLAN [NEW WORLD...]

Of a merge into a new database (plan -into): drops what the merge made there,
and lets the worlds start again. If the game has written to it since it was
opened, that is refused, with the tables, unless forced; and the first world
learns which IDs, numbers and counters were given there, so that none is given
again. The rest is about a merge into a TARGET.

Takes the merge out of the target again, complete or not: removes the rows that
came with it, the new names of the target's own rows, and the worlds in its
registry, puts back the rows of tables that were emptied, and lets the servers
of the sources start again. It compares with the sources, which must be as they
were when they were copied.

Before it writes anything it refuses if rows were changed or removed since they
were copied, if others refer to them, if a game server runs on the target, if
another merge came later, or if the rows of a table that was emptied cannot be
put back beside those that were made there since. It names rows that refer
to them: let them refer to other rows or remove them, then run undo again.
Other new rows stay. If it is interrupted, run it again to resume; until its end
the servers of the target cannot be started.

At its end it reads all tables of the merge. It is done only if no row that came
is left, and own rows that the merge changed are as they were; otherwise it
names what is left, and run again it does what it can. It lists by table other
own rows that differ. If all was undone before, it says so.

If the target was restored from a copy that is older than the merge, it has no
record of it. Then undo lifts only fences that say themselves that no row of the
merge is there, and prints the command that lifts the others. On a terminal it
asks first.

  -force            remove rows too that were changed since, and those that
                    conflict with rows that are put back; the players'
                    changes to them are lost.
  -yes              do not ask; without a terminal it never asks
  -parallel N       how many tables, or parts of a large one, are worked on at a
                    time; an SQLite file is written by one (default 4)
  -patience TIME    how long to wait for an unreachable database (default 2m)
  -html FILE        write the result as one HTML file as well, also if
                    it is refused or interrupted
  -json             print the result as JSON
` + helpFleet + helpPlaces + helpCodec + helpThrottle + helpReplicas + `
Exit codes: 0 done; 1 refused, nothing was changed, or something of the merge is
left; 2 could not; 4 interrupted: run the same command again.

Examples:
  servermerge undo plan.json
  servermerge undo -force plan.json
`

const helpRebase = `Usage: servermerge rebase -offset N [flags] SOURCE TARGET

Plans how one world comes into an empty database with N added to all its keys,
and makes its tables there if there are none. It is the rehearsal of a merge:
boot the game on the TARGET, and a reference that no rule declares breaks
visibly, without any merge. TARGET is of the same kind as SOURCE: SQLite, or an
empty database of MariaDB or MySQL. If the plan is REFUSED, the tables are
dropped again. It also prepares a world: one whose keys have a range of their
own needs no new ones at the next merge. Then apply, verify and undo as for a
merge.

No table stays behind, whatever [[merge.table]] says. Views, triggers and
routines are listed, and not made: make them, or -allow schema-view and the
like.

  -offset N         the number to add to every key, such as 20000000, the
                    first of a range from "gameid servers ranges lease"
  -fleet DSN        the fleet registry (default: [registry] in config.toml):
                    refused if a key would be in the range of another world than
                    SOURCE
  -o FILE           write the plan, as JSON, for apply; never over another file
  -rules FILE       what columns are: see servermerge plan -h; -include,
                    -exclude, -allow and -config too; -rekey is understood
` + helpThrottle + `
Exit codes: 0 it can be done; 1 something blocks it, and apply will refuse the
plan; 2 there is no plan; 3 as 1, but only because something could not be
verified.

Example:
  servermerge rebase -offset 20000000 -rules rules.toml s2 sqlite:try.db
`

const helpWhois = `Usage: servermerge whois [flags] TARGET TABLE KEY
       servermerge whois [flags] TARGET SOURCE TABLE KEY
       servermerge whois -csv FILE TARGET SOURCE TABLE
       servermerge whois -view TARGET

Prints which world a key of a TABLE came from, by a merge that gave keys new
values, and the key that it had there, merge by merge; or, if a SOURCE is named,
the new value of a key that it had. It reads only the target, also years and
further merges later. A key that the game made afterwards came by no merge; of
one whose row stayed behind ([[merge.leave]]) it says why. It needs SELECT.

The first world of a merge keeps its keys. If w1 and w2 became n1, and n1 came
into n3, then keys of w1 are in n3 as those of n1: name n1 as the SOURCE.

A KEY of several columns is written with a slash between them, bytes as digits
from 00 to ff. Of these keys, and of texts, only the plan of a merge is on
record: name the SOURCE. Whether it had the key is not known.

It reads the table mergesafe_keys, which has the old keys as bitmaps. In SQL
the view mergesafe_moved has, for each source and key column, first_old and
last_old, the range of its keys, key_count, their number, and added, the number
to add to one for its key here, by all merges together; and space, undone (0 or
1), came (when, in UTC) and merge_id. So a log that names characters of s2 finds
them in s1 by

  SELECT l.*, l.guid + m.added AS new_guid FROM old_log AS l
  JOIN mergesafe_moved AS m ON m.source = 's2' AND m.table_name = 'characters'
    AND m.undone = 0 AND l.guid BETWEEN m.first_old AND m.last_old;

The view does not know whether a number between first_old and last_old was a key
then, nor whether the game made a key here later in such a gap: whois does.

  -json             print the steps as JSON
  -csv FILE         write old and new keys of a table of a SOURCE, for logs,
                    caches and web sites; "-" prints it
  -view             print the statements that make the view mergesafe_moved, for
                    a TARGET whose account could not
` + helpPlaces + `
Exit codes: 0 it came by a merge; 1 it did not; 2 could not read.

Examples:
  servermerge whois s1 characters 20004711
  servermerge whois s1 s2 characters 4711
`

const helpLeft = `Usage: servermerge left [flags] PLAN [DATABASE...]

Prints how many rows of which world and table stay behind by the [[merge.leave]]
of the plan, why, and how many come, with the first keys, the rows that nearly
stayed, and those that most others follow. It reads no database but for -names.

  -csv FILE         write each row that stays behind as CSV as well: its world,
                    table, key and the reason, for a page where players look it
                    up; "-" prints it instead. Rows of tables whose key is not
                    one column of integers are only counted
  -names T.COLUMN   with -csv, one column more, with the names of the rows of
                    the table T, such as characters.name, read from the worlds
                    as they are now. It needs SELECT
  -json             print these rows as JSON
  -config FILE      taken as by the other commands; nothing in it is needed

Example:
  servermerge left -csv left.csv plan.json
  servermerge left -csv left.csv -names characters.name plan.json
`

const helpRenames = `Usage: servermerge renames [flags] PLAN

Lists the players and other rows that get another name by the plan. It reads no
database.

  -csv FILE         write them as CSV as well, for the game to offer these
                    players another name; "-" prints it instead
  -json             print them as JSON
  -config FILE      taken as by the other commands; nothing in it is needed

Names come from players. Some spreadsheet programs run one that begins with "="
as a formula: import that column as text.

Example:
  servermerge renames -csv renames.csv plan.json
`

// helpSafety is what "-h safety" prints.
//
//go:embed safety.txt
var helpSafety string

// helpJSON is what "-h json" prints.
//
//go:embed json.txt
var helpJSON string
