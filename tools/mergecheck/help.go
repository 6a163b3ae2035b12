package main

// help is what -h prints.
const help = `Usage: mergecheck [flags] SOURCE SOURCE...

Tells whether game databases can be merged into one (server merge) without
losing or mixing up rows. It reads all of their keys and never writes: in
MariaDB and MySQL in one READ ONLY transaction, in SQLite with the file opened
read-only.

A SOURCE is a DSN or the name of a [[source]] in config.toml:

  sqlite:PATH                                       an SQLite file
  mysql:USER:PASSWORD@tcp(HOST:PORT)/DATABASE       MariaDB, MySQL
  s1                                                name = "s1" in config.toml

Passwords on a command line can be seen by others on the machine: better give
the database a name in config.toml and its DSN in an environment variable
(dsn_env). What is printed never contains them.

Flags:

  -config FILE   where the names of sources are looked up (default "config.toml")
  -target NAME   the source that the others would be merged into: its schema and
                 its collations count (default: the first)
  -samples N     how many conflicts of each kind are shown with their rows
                 (default 3); all of them are counted whatever N is
  -json          print the report as JSON
  -h             print this

Each check ends as PASS, FAIL or NOT VERIFIED; what was not looked at in full
never passes. Codes and counts are the same in text and in JSON.

Exit codes:

  0   PASS: everything was looked at, and nothing stands against the merge
  1   FAIL: a merge would lose or mix up rows
  2   no verdict: wrong usage or configuration, a database that could not be
      read to the end, or an interrupt
  3   NOT VERIFIED: nothing was found, but not everything could be looked at

On MariaDB and MySQL an account needs this and no more, for every database:

  CREATE USER 'checker'@'%' IDENTIFIED BY '...';
  GRANT SELECT ON ` + "`game_s1`" + `.* TO 'checker'@'%';

The databases may be in use. Each is read as it was at the moment when it was
opened; what is written later is not part of the check, so check again once
the game servers are stopped, before the merge. An SQLite file that somebody
has open gets its lock table (-shm) updated, as by every reader.

Examples:

  mergecheck s1 s2
  mergecheck sqlite:data/s1.db sqlite:data/s2.db sqlite:data/s3.db
  mergecheck -config ops.toml -target s2 -json s1 s2 s3 > report.json
`
