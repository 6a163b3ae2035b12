package main

// help is what -h prints. Each command has a line.
const help = `Usage: fleet COMMAND [flags] [arguments]

Merges many worlds: reads what there is, and carries out a campaign of merges.
A campaign is a file that lists merges; beside it are the plans (CAMPAIGN.plans)
and the state (CAMPAIGN.state). Each merge is one of servermerge, and just as
safe.

Commands:
  inventory WORLD...     what there is: states, schemas, sizes and players
  suggest WORLD...       which worlds to merge, and why; writes a campaign

  plan CAMPAIGN          make the plan of every merge
  rehearse CAMPAIGN      try the campaign on copies of the worlds
  apply CAMPAIGN         carry the merges out, and prove each; if interrupted,
                         run the same command again to resume
  status CAMPAIGN        how far they are
  verify CAMPAIGN        prove them once more
  undo CAMPAIGN TARGET   take merges back
  pause CAMPAIGN         have the running process wait between two batches
  resume CAMPAIGN        end that
  skip CAMPAIGN TARGET   leave merges out
  players CAMPAIGN       write what players are to be told
  serve CAMPAIGN         show it as a live page
  export CAMPAIGN        write it as one page, when it ended

"fleet COMMAND -h" explains each.

Examples:

  fleet inventory -all
  fleet suggest -players 3000 -most 5 -o night.toml -all
  fleet plan night.toml      # and read what it says
  fleet apply night.toml
`
