package main

import _ "embed"

// help is what -h prints.
const help = `Usage: mergecheck [flags] WORLD WORLD...

Checks whether game databases can be merged into one (server merge) without
losing or mixing up rows. It reads their keys and never writes.

A WORLD is the database of one game server: a DSN, or the name of a [[source]]
in config.toml. The first keeps its keys and names, and gives the schema:

  s1                                             name = "s1" in config.toml
  sqlite:PATH                                    an SQLite file
  mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE    MariaDB, MySQL
  mysql:USER:PASSWORD@tcp(HOST1,HOST2)/DATABASE  the same, on several hosts

What is checked:

  -rules FILE       what columns are, and which keys get new values. [merge]
                    rules = ["FILE"] in config.toml sets it once for all
                    commands. A later file has precedence over earlier ones. It
                    may have commands that find keys in cells: format =
                    "exec ..."; all formats: mergecheck -h formats. Without a
                    WORLD, only check the file for mistakes
  -propose          propose declarations: columns that seem to be
                    unique or to refer to others. It judges the merge with new
                    values for keys of AUTO_INCREMENT that several worlds have
  -explain TABLE.COLUMN
                    what the rules say about a column and why, what it seems
                    to be, and its values; without a verdict
  -propose -o FILE  write what every column seems to be as a rules file, for
                    -rules FILE: first what you must decide; never overwrites

Which results count:

  -allow CODE       findings of CODE do not change the verdict, and are shown as
                    allowed, with their number; several: -allow CODE,CODE.
                    Conflicts that lose or mix up rows always count
  -allow CODE:TABLE, -allow CODE:TABLE.COLUMN
                    only there: 'table-skipped:log_*', column-opaque:mail.body,
                    'schema-default:bags.slot{0..18}'
  -codes            only print all codes and what they mean

What is printed:

  -html FILE        write the report as one HTML file as well
  -json             print it as JSON, as mergecheck -h json describes it

How the databases are read (more: mergecheck -h databases):

  -config FILE      with [[source]], [check], [merge] (default "config.toml")
  -max-load N       rest while a database server runs more than N threads
  -pause DURATION   rest before every batch of rows, such as 20ms

Each check ends as PASS, FAIL or NOT VERIFIED; an incomplete check
never passes. Exit codes:

  0   PASS: everything was checked, and the databases can be merged
  1   FAIL: a merge would lose or mix up rows
  2   no verdict: wrong usage or configuration, a database that could not be
      read to the end, or an interrupt; the results until then are printed
  3   NOT VERIFIED: nothing was found, but not everything could be checked

Examples:

  mergecheck s1 s2
  mergecheck -html ticket.html -max-load 40 s1 s2 s3
  mergecheck -propose -o rules.toml s1 s2
`

// helpDatabases is what "-h databases" prints.
//
//go:embed databases.txt
var helpDatabases string

// helpFormats is what "-h formats" prints.
//
//go:embed formats.txt
var helpFormats string

// helpJSON is what "-h json" prints.
//
//go:embed json.txt
var helpJSON string
