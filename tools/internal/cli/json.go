package cli

import (
	"encoding/json"
	"io"

	"github.com/urfave/cli/v3"
)

// JSONFlag is -json.
func JSONFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Local: true} }

// WriteJSON writes a result as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
