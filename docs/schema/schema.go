// Package schema has the JSON Schemas of the files that the tools read. They are made from the code that
// reads them: go test ./tools/internal/rules -run Schemas -update.
package schema

import "embed"

// Files are rules.json, config.json and campaign.json.
//
//go:embed *.json
var Files embed.FS
