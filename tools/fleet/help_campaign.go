package main

const helpNight = helpWork + `  -json             print the status of the campaign as JSON
`

const helpWork = `  -config FILE      with [[source]], [check] and [merge] (default "config.toml")
  -worlds FILE      the worlds are those of this file: see fleet inventory -h
  -fleet DSN        the fleet registry (default: [registry] in config.toml);
                    commands to paste have "$FLEET_DSN" for one with a password
  -patience D       how long a merge waits for a database that does not
                    answer, or whose disk is full (default 2m)
  -workers N        connections to the databases of one merge (default 4)
  -pause D          rest before every batch of rows, such as 20ms; per_server
                    and fleet pause spare servers too
`

const helpCodes = `
Exit codes:

  0   done; of apply: every merge is verified, except for those that were
      skipped before they began
  1   something failed or is refused, and the result says what to do
  2   could not: wrong usage or configuration, a database error, or an interrupt
  3   nothing failed, but not every merge is verified
  4   interrupted; nothing is lost: run the same command again to resume
`

const helpPlan = `Usage: fleet plan [flags] CAMPAIGN [TARGET...]

Makes the plan of every merge of a campaign, and says what blocks it. It only
reads. A plan that still fits the databases is kept; so is that of a merge that
has begun. The plans are plans of servermerge, in CAMPAIGN.plans/TARGET.json,
with a report of the check beside each: read them before you apply.

  -again            make plans anew that still fit, too
` + helpNight + `
The campaign file is TOML:

  [campaign]
  name       = "summer"
  parallel   = 4               # merges at a time
  per_server = 2               # of them with a database on one server
  window     = "02:00-06:00"   # no merge begins that is predicted to end later
  zone       = "Europe/Berlin" # of the window
  continue   = true            # after a failure continue with the other merges
  retries    = 1               # of a merge that stopped
  undo       = true            # undo a merge that failed permanently
  rules      = ["rules.toml"]  # for every merge
  rekey      = true            # new values for keys that collide; not needed
                               # if the rules have [[merge.space]]
  stopped    = "by hand"       # you stop the worlds, without registry or hook
  backup     = "by hand"       # you make the backups, without a hook
  into       = "{target}_m{n}" # each merge makes a new database beside the
                               # worlds; without it the rows come into the
                               # target's own

  [[merge]]
  target  = "w1"
  sources = ["w2", "w3"]
  into    = "w1_2026"          # of this merge; "" is in the target's own

into is a name, for a database beside the target's, or a DSN without user and
password. {target} is the world's name, which no merge changes, and {n} is 2, or
one more than the number at that place in the name that its database has now.

With a fleet registry and new keys, the plans are made one after another, so
that no two of them give the same keys.
` + helpCodes + `
Examples:

  fleet plan night.toml
  fleet plan -again night.toml w1 w7
`

const helpApply = `Usage: fleet apply [flags] CAMPAIGN [TARGET...]

Carries out the merges of a campaign by their plans, several at a time, and
proves each. Before the first write it looks at all of them: every world is
stopped and backed up, every plan still fits, there is room on the disks. Then
it fences all worlds, so that none can be started meanwhile. With a window it
does all this when the window opens; between windows nothing is fenced whose
merge has not begun.

A merge with into makes its new database, proves it, and opens it. Only then can
the world be started, and only there; its place in the fleet registry follows.

If it is interrupted or killed, run the same command again: it resumes. A merge
that fails is explained in the result and in CAMPAIGN.plans, and does not harm
the others. Merges that were skipped or undone are carried out only by name.

  -yes              do not ask
  -http ADDRESS     show what happens on a live page meanwhile, such as at
                    127.0.0.1:9200; -control, -token-file, -host, -table and
                    -names are those of serve
` + helpNight + `
One process at a time works on a campaign. fleet status, pause, resume and skip
work meanwhile, from any terminal.
` + helpCodes + `
Examples:

  fleet apply night.toml
  fleet apply -yes -pause 20ms night.toml w7
`

const helpVerify = `Usage: fleet verify [flags] CAMPAIGN [TARGET...]

Proves once more that every row of completed merges arrived as planned. It only
reads. Once a game runs on a target, the proof finds what the game changed.

` + helpNight + helpCodes + `
Examples:

  fleet verify night.toml
`

const helpUndo = `Usage: fleet undo [flags] CAMPAIGN TARGET...
       fleet undo [flags] -all CAMPAIGN

Takes merges out of their targets again, completed or not, and lifts their
fences. It needs the sources as they were copied. What a game added meanwhile
stays; rows that it changed block the undo of their merge. A new database (into)
is dropped; if it was open, anything that a game wrote there blocks that.

  -all              every merge of the campaign
  -force            remove rows too that were changed since the merge, and new
                    databases in which a game wrote
  -yes              do not ask
` + helpNight + helpCodes + `
Examples:

  fleet undo night.toml w7
  fleet undo -all night.toml
`

const helpStatus = `Usage: fleet status [flags] CAMPAIGN

Prints how far the merges of a campaign are, and what to do about those that
failed. It reads only the state, CAMPAIGN.state, and works while another
process works on the campaign.

  -json             print it as JSON
` + helpCodes + `
With 4 a merge has begun and is not completed, or a process works on it now. It
is 1, too, if a merge that has begun is not in the campaign file any more.

Examples:

  fleet status night.toml
`

const helpPause = `Usage: fleet pause CAMPAIGN

Has the process that works on a campaign stop between two batches, within a
second, and begin no merge, until fleet resume. It holds for the next process
too.

Examples:

  fleet pause night.toml
`

const helpResume = `Usage: fleet resume CAMPAIGN

Ends what fleet pause began.

Examples:

  fleet resume night.toml
`

const helpSkip = `Usage: fleet skip CAMPAIGN TARGET...

Leaves merges out. One that runs stops between two batches: what came to its
target stays there, and its servers cannot start, until it is undone, or
completed by fleet apply CAMPAIGN TARGET.

Examples:

  fleet skip night.toml w7
`
