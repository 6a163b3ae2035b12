package main

const helpRehearse = `Usage: fleet rehearse [flags] CAMPAIGN [TARGET...]

Copies all worlds of a campaign, and plans, applies and verifies the campaign on
the copies, as many merges at a time as it says. The worlds are only read, and
may run meanwhile. New databases (into) are made among the copies, too. How
long each merge took is its prediction from then on. Hooks are not asked about
worlds, and windows of time do not count.

Worlds in SQLite files are copied into a folder, those of MySQL and MariaDB into
databases rehearsal_1_w1, rehearsal_2_w2, ... on the server of -on, without
views and routines. Their triggers are there, so that the plan judges them, and
run nothing. The result counts all of these. That account needs the right to
CREATE and DROP databases of that name, and TRIGGER. The copies are removed at
the end. After a kill, the next rehearsal with the same -dir and -on removes
them.

  -dir FOLDER       for the copies, new or empty (default CAMPAIGN.rehearsal)
  -on DSN           the server for copies, without a database:
                    mysql:USER:PASSWORD@tcp(HOST:PORT)/
  -keep             keep the copies
  -json             print the result as JSON
` + helpWork + helpCodes + `
Examples:

  fleet rehearse night.toml
  fleet rehearse -dir /mnt/big/rehearsal night.toml w7
  fleet rehearse -on 'mysql:test:PASSWORD@tcp(db9:3306)/' night.toml
`
