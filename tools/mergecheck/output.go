package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"mergesafe/merge"
	"mergesafe/merge/htmlreport"
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

// htmlFile is a file that a report is going to be written to. It is made
// before the check, which may take hours, and takes its name after it, so that
// an older report is there until there is a newer one.
type htmlFile struct {
	name string
	f    *os.File // nil if there is none to be written
}

func newHTMLFile(name string) (*htmlFile, error) {
	if name == "" {
		return new(htmlFile), nil
	}
	f, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("-html: %w", err)
	}
	return &htmlFile{name, f}, nil
}

// write writes the report, and gives the file its name.
func (h *htmlFile) write(r *merge.Report) error {
	if h.f == nil {
		return nil
	}
	err := htmlreport.Write(h.f, r)
	if closeErr := h.f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(h.f.Name(), h.name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", h.name, err)
	}
	h.f = nil
	return nil
}

// close takes away a file that no report was written to.
func (h *htmlFile) close() {
	if h.f != nil {
		h.f.Close()
		os.Remove(h.f.Name())
	}
}
