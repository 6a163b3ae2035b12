package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge"
	"mergesafe/merge/rekey"
	"mergesafe/merge/transfer"
)

//go:embed parts.html
var parts string

//go:embed results.html
var results string

//go:embed page.css
var style string

// page is the common part of all pages. A page needs nothing but itself: it runs
// no script and loads nothing, and its Content-Security-Policy forbids both. Names
// of players come from players, so every text is escaped, and characters that hide
// or reorder others are shown as escapes.
type page struct {
	Title    string
	Word     string        // in big letters
	Color    merge.Verdict // that it is shown in
	Headline string
	Counts   []count
	Target   string // "" if there is none

	Style  template.CSS
	Policy string
	Inside json.RawMessage
}

// count is one of the figures below the headline.
type count struct {
	Number int
	What   string
	Anchor string
}

// write fills a template with data, of which the page is a part, and puts
// inside into it.
func (p *page) write(w io.Writer, text string, data, inside any) error {
	doc, err := json.Marshal(inside)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	t, err := template.New("page").Funcs(functions()).Parse(parts + results + text)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	sum := sha256.Sum256([]byte(style))
	p.Style = template.CSS(style)
	p.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	p.Inside = doc
	var b bytes.Buffer // a page that ends in the middle would look complete
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// The JSON inside a page stands between these. As json.Marshal writes it, it has
// no "<", so that it ends with the first one.
const (
	before = `<script type="application/json" id="report">`
	after  = `</script>`
)

// Extract returns the JSON inside a page of this package. It reports false if
// the text is no such page.
func Extract(page []byte) ([]byte, bool) {
	_, rest, found := bytes.Cut(page, []byte(before))
	if !found {
		return nil, false
	}
	doc, _, found := bytes.Cut(rest, []byte(after))
	return bytes.TrimSpace(doc), found
}

func functions() template.FuncMap {
	return template.FuncMap{
		"pieces":  printable.Pieces,
		"plain":   printable.Text,
		"number":  printable.Number,
		"some":    func(n int, one, many string) string { return printable.Count(int64(n), one, many) },
		"stamp":   printable.Time,
		"span":    rangeText,
		"offset":  func(n uint64) string { return numberText(rekey.Integer{Bits: n}) },
		"where":   where,
		"class":   class,
		"verdict": func(s string) merge.Verdict { return merge.Verdict(s) },
		"rows":    rowsOf,
		"key":     transfer.KeyText,
		"inc":     func(i int) int { return i + 1 },
		"lines":   func(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") },
	}
}

// class is the name of a verdict in the style sheet.
func class(v merge.Verdict) string {
	switch v {
	case merge.Pass:
		return "pass"
	case merge.Fail:
		return "fail"
	default:
		return "unsure"
	}
}
