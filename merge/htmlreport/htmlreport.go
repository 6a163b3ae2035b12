// Package htmlreport writes the report of a merge check, and what came of a
// merge, as one HTML document, to read in a browser and to attach to a change
// ticket.
//
// The document needs nothing but itself: no script runs in it, nothing is
// loaded, and its Content-Security-Policy forbids both. Names of players come
// from players, so every text is escaped, and what could hide or reorder its
// surroundings is shown as an escape. The report itself is in it too, as JSON.
package htmlreport

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"

	"mergesafe/merge"
)

//go:embed parts.html
var parts string

//go:embed results.html
var results string

//go:embed report.html
var reportPage string

//go:embed matrix.html
var matrixPage string

//go:embed report.css
var style string

// Write writes the report as HTML. It returns the error of w.
func Write(w io.Writer, r *merge.Report) error {
	v := newView(r)
	return v.write(w, reportPage, v, r)
}

// WriteMatrix writes the matrix as HTML. It returns the error of w.
func WriteMatrix(w io.Writer, m *merge.MatrixReport) error {
	v := newMatrixView(m)
	return v.write(w, matrixPage, v, m)
}

// document is what every page has.
type document struct {
	Title    string
	Verdict  string
	Headline string
	Counts   []count
	Target   string // "" if there is none

	Style  template.CSS
	Policy string
	Inside json.RawMessage
}

// write fills a page with data, of which d is a part, and puts inside into it.
func (d *document) write(w io.Writer, page string, data, inside any) error {
	doc, err := json.Marshal(inside)
	if err != nil {
		return fmt.Errorf("htmlreport: %w", err)
	}
	t, err := template.New("page").Funcs(functions()).Parse(parts + results + page)
	if err != nil {
		return fmt.Errorf("htmlreport: %w", err)
	}
	sum := sha256.Sum256([]byte(style))
	d.Style = template.CSS(style)
	d.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	d.Inside = doc
	var b bytes.Buffer // a document that ends in the middle would look complete
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("htmlreport: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// What stands around the report inside the document. JSON as json.Marshal
// writes it has no "<", so that it ends with the first one.
const (
	before = `<script type="application/json" id="report">`
	after  = `</script>`
)

// Extract returns what is inside a document that [Write], [WriteMatrix] or
// [WriteMerge] wrote, as JSON. It reports false if the text is no such document.
func Extract(document []byte) ([]byte, bool) {
	_, rest, found := bytes.Cut(document, []byte(before))
	if !found {
		return nil, false
	}
	doc, _, found := bytes.Cut(rest, []byte(after))
	return bytes.TrimSpace(doc), found
}
