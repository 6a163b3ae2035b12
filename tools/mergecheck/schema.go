package main

import (
	"io"

	"mergesafe/docs/schema"
	"mergesafe/internal/printable"
	"mergesafe/tools/internal/cli"
)

// writeSchema prints the JSON Schema of a kind of files.
func writeSchema(kind string, out io.Writer) error {
	text, err := schema.Files.ReadFile(kind + ".json")
	if err != nil {
		return cli.Usage("-schema %s: want rules, config or campaign", printable.Text(kind))
	}
	_, err = out.Write(text)
	return err
}
