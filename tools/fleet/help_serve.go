package main

const helpServe = `
Usage: fleet serve [flags] CAMPAIGN

Shows a campaign as a live page, in a process of its own, which works on nothing.
What happens now, what failed and what to do about it, how far each merge is, and
when it will be over; for several people at a time, and for a telephone. The page
is there whether or not a process works on the campaign. End it with Ctrl-C.
"fleet apply -http" shows the same page for as long as it runs.

  -http ADDRESS      where to listen: 127.0.0.1:9200 if it is left out. Any other
                     address than one of this machine asks for the token before
                     it shows anything
  -control           who has the token may pause, resume and skip
  -token-file FILE   the file with the token, on its first line, which only you
                     may read. It is made if it is not there
  -host NAME         a name by which the page may be asked for, such as that of
                     a proxy before it; may be given several times

Besides the page: /api/status, /api/events?after=N&limit=N and /metrics for
Prometheus; docs/fleet-api.md has the details.

Examples:
  fleet serve campaign.toml
  fleet serve -control -token-file token.txt campaign.toml
  fleet serve -http 10.0.0.5:9200 -token-file token.txt campaign.toml
`
