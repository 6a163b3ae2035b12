package main

const helpServe = `Usage: fleet serve [flags] CAMPAIGN

Shows a campaign as a live page, in a process of its own that works on nothing:
what happens now, what failed and what to do about it, how far each merge is,
when it will be over. Many people may look on, also with a telephone. The page
is there whether or not a process works on the campaign. End it with Ctrl-C.
"fleet apply -http" shows the same page while it runs.

  -http ADDRESS     where to listen; the default is 127.0.0.1:9200. At any other
                    address than one of this machine, the page asks for the
                    token before it shows anything
  -control          who has the token may pause, resume and skip
  -token-file FILE  has the token on its first line, and only you may read it;
                    it is made if it is missing
  -host NAME        a name by which the page may be asked for, such as that of
                    a proxy; may be given several times
  -table NAME, -names COLUMN
                    which names are those of players, for /api/players: see
                    fleet players -h
  -config FILE      with [fleet], which says so too (default "config.toml")

Besides the page there are /api/status, /api/events, /api/players?name=NAME,
and /metrics for Prometheus: see docs/fleet-api.md.

Examples:

  fleet serve night.toml
  fleet serve -control -token-file token.txt night.toml
  fleet serve -http 10.0.0.5:9200 -token-file token.txt night.toml
`
