package main

const helpExport = `Usage: fleet export -o FILE CAMPAIGN

Writes a campaign that ended as one page that needs nothing but itself: what was
merged, how long it took, who was renamed, what failed and was undone. It can be
sent by mail, printed, and read years later. A campaign that has not ended is
written as it is now, and the page says so.

  -o FILE           the page; it takes the place of an older one

Examples:

  fleet export -o night.html night.toml
`
