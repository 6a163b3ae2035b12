// Package htmlreport writes the report of a merge check as one HTML document,
// to read in a browser and to attach to a change ticket.
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

//go:embed report.html
var page string

//go:embed report.css
var style string

// Write writes the report as HTML. It returns the error of w.
func Write(w io.Writer, r *merge.Report) error {
	doc, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("htmlreport: %w", err)
	}
	t, err := template.New("report").Funcs(functions()).Parse(page)
	if err != nil {
		return fmt.Errorf("htmlreport: %w", err)
	}
	sum := sha256.Sum256([]byte(style))
	v := newView(r)
	v.Style = template.CSS(style)
	v.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	v.Document = doc
	var b bytes.Buffer // a document that ends in the middle would look complete
	if err := t.Execute(&b, v); err != nil {
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

// Extract returns the report inside a document that [Write] wrote, as JSON. It
// reports false if the text is no such document.
func Extract(document []byte) ([]byte, bool) {
	_, rest, found := bytes.Cut(document, []byte(before))
	if !found {
		return nil, false
	}
	doc, _, found := bytes.Cut(rest, []byte(after))
	return bytes.TrimSpace(doc), found
}
