package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"mergesafe/internal/printable"
	"mergesafe/merge/verdict"
)

//go:embed parts.html
var parts string

//go:embed results.html
var results string

//go:embed page.css
var style string

// Style is the style sheet of all pages.
func Style() string { return style }

// page is the common part of all pages. A page needs nothing but itself: it runs
// no script and loads nothing, and its Content-Security-Policy forbids both. Names
// of players come from players, so every text is escaped, and characters that hide
// or reorder others are shown as escapes.
type page struct {
	Title    string
	Word     string          // in big letters
	Color    verdict.Verdict // that it is shown in
	Headline string
	Counts   []count
	Model    string // the world that gives the schema; "" if there is none

	Style  template.CSS
	Policy string
}

// count is one of the figures below the headline.
type count struct {
	Number int
	What   string
	Anchor string
}

// write fills a template with data, of which the page is a part.
func (p *page) write(w io.Writer, text string, data any) error {
	t, err := template.New("page").Funcs(functions()).Parse(parts + results + text)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	sum := sha256.Sum256([]byte(style))
	p.Style = template.CSS(style)
	p.Policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	var b bytes.Buffer // a page that ends in the middle would look complete
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err = w.Write(withContents(b.Bytes()))
	return err
}

// Parts are the templates that pages of other packages share with those of this one: sections, names, steps.
func Parts() (*template.Template, error) {
	return template.New("parts").Funcs(functions()).Parse(parts)
}

// headline matches the beginning of a section. No text of a report looks so, for all are
// escaped.
var headline = regexp.MustCompile(`<section id="([a-z]+)">\s*<h2>([^<]*)</h2>`)

// withContents puts the table of contents in its place.
func withContents(page []byte) []byte {
	var b bytes.Buffer
	b.WriteString(`<nav aria-label="Contents"><ul>`)
	for _, m := range headline.FindAllSubmatch(page, -1) {
		fmt.Fprintf(&b, "\n<li><a href=\"#%s\">%s</a></li>", m[1], m[2])
	}
	b.WriteString("\n</ul></nav>")
	return bytes.Replace(page, []byte("<nav></nav>"), b.Bytes(), 1)
}

func functions() template.FuncMap {
	return template.FuncMap{
		"pieces":   printable.Pieces,
		"plain":    printable.Text,
		"number":   printable.Number,
		"number64": func(n int) string { return printable.Number(int64(n)) },
		"some":     func(n int, one, many string) string { return printable.Count(int64(n), one, many) },
		"stamp":    printable.Time,
		"where":    where,
		"class":    Class,
		"verdict":  func(s string) verdict.Verdict { return verdict.Verdict(s) },
		"rows":     rowsOf,
		"lines":    func(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") },
	}
}

// Class is the name of a verdict in the style sheet.
func Class(v verdict.Verdict) string {
	return cmp.Or(map[verdict.Verdict]string{verdict.Pass: "pass", verdict.Fail: "fail"}[v], "unsure")
}
