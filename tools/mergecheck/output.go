package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"mergesafe/merge"
)

// countsAs is what a result is to the verdict of all.
func countsAs(r merge.Result) merge.Verdict { return cmp.Or(r.CountsAs, r.Verdict) }

func writeJSON(w io.Writer, report any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(report); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
