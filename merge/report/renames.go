package report

import (
	"encoding/csv"
	"fmt"
	"io"

	"mergesafe/merge/transfer"
)

// Renames are the renames of a plan. Their JSON form is the output of servermerge
// renames -json.
type Renames struct {
	Version int               `json:"version"`
	Plan    string            `json:"plan"` // its ID
	Renames []transfer.Rename `json:"renames"`

	Amount string `json:"-"` // how many there are of each kind, in words
}

// NewRenames returns all renames of a plan.
func NewRenames(p *transfer.Plan) *Renames {
	return &Renames{documentVersion, p.ID, append([]transfer.Rename{}, p.Renames...), Renamed(p)}
}

// WriteCSV writes the renames as CSV, with a line of headings: use it to tell these
// players, and to offer them another name. Values are written unchanged. They come from
// players, and some spreadsheet programs run a value that begins with = as a formula:
// import such a column as text.
func (r *Renames) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"source", "world", "table", "column", "key", "old", "new"})
	for _, r := range r.Renames {
		c.Write([]string{r.Source, r.World, r.Table, r.Column, transfer.KeyText(r.Key), r.Old, r.New})
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes the renames as JSON. It returns the error of w.
func (r *Renames) WriteJSON(w io.Writer) error { return writeJSON(w, r, false) }

// WriteText writes the renames as text. It returns the error of w.
func (r *Renames) WriteText(w io.Writer, o TextOptions) error {
	t := newText(o)
	t.line(0, r.Amount)
	for _, r := range r.Renames {
		t.rename(r)
	}
	return t.to(w)
}

func (t *text) rename(r transfer.Rename) {
	t.line(2, fmt.Sprintf("%s of %s %s in %s: %q becomes %q", r.Column, r.Table, transfer.KeyText(r.Key), r.Source, r.Old, r.New))
}
