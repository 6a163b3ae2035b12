package main

const help = `usage: fleet COMMAND [flags] ...

Merges many worlds: reads what there is, suggests which worlds to merge, and carries
out a campaign of merges.
`
