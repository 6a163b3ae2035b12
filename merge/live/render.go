package live

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"
	"time"

	"mergesafe/merge/campaign"
	"mergesafe/merge/report"
)

//go:embed page.html parts.html export.html live.css page.js icon.svg
var files embed.FS

type asset struct{ kind, text string }

// assets are the files that the page loads.
func assets() map[string]asset {
	read := func(name string) string {
		text, _ := files.ReadFile(name) // embedded
		return string(text)
	}
	return map[string]asset{
		"page.css": {"text/css; charset=utf-8", report.Style() + read("live.css")},
		"page.js":  {"text/javascript; charset=utf-8", read("page.js")},
		"icon.svg": {"image/svg+xml", read("icon.svg")},
	}
}

// partIDs are the parts of the page, in its order.
var partIDs = []string{"head", "failures", "now", "start", "worlds", "next", "ended", "events"}

// renderer makes HTML of a board.
type renderer struct{ t *template.Template }

func newRenderer() (renderer, error) {
	t, err := report.Parts()
	if err != nil {
		return renderer{}, err
	}
	t, err = t.Funcs(template.FuncMap{
		"brief":   func(n int64) string { return brief(float64(n)) },
		"lines":   func(all []mergeView) folded[mergeView] { return fold(all, shown) },
		"log":     func(all []event) folded[event] { return fold(all, 2*shown) },
		"exact":   url.PathEscape,
		"word":    reportWord,
		"few":     func(names []string) folded[string] { return fold(names, 2) },
		"stamp":   clock,
		"command": campaign.IsCommand,
		"href":    func(name string) string { return (&url.URL{Path: "report/" + name}).EscapedPath() },
	}).ParseFS(files, "page.html", "parts.html", "export.html")
	return renderer{t}, err
}

func (r renderer) parts(b *board) (parts []part, err error) {
	for _, id := range partIDs {
		var w bytes.Buffer
		if err := r.t.ExecuteTemplate(&w, id, b); err != nil {
			return nil, err
		}
		parts = append(parts, part{ID: id, HTML: w.String()})
	}
	return parts, nil
}

// page is the page as it is first loaded. Without a script it stays so, and is loaded again.
type page struct {
	Title   string
	Version string
	Shape   string
	Silence int64 // milliseconds after which a page that hears nothing says so
	Now     time.Time
	Error   string
	Control bool
	Parts   []template.HTML
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) {
	v, err := h.feed.view(r.Context())
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, trim(err))
		return
	}
	p := page{
		Title: newBoard(v, h.options).Title, Version: h.feed.stamp(v), Shape: v.Shape, Now: v.Now,
		Silence: (3 * h.options.beat).Milliseconds(), Control: h.options.Control != nil,
	}
	if v.Err != nil {
		p.Error = trim(v.Err)
	}
	for _, part := range v.Parts {
		p.Parts = append(p.Parts, template.HTML(part.HTML))
	}
	var b bytes.Buffer // a page that ends in the middle would look complete
	if err := h.feed.render.t.ExecuteTemplate(&b, "page.html", p); err != nil {
		refuse(w, http.StatusInternalServerError, trim(err))
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

func fingerprint(s string) string {
	for _, a := range []string{"page.js", "live.css"} { // a page of another program is another one
		text, _ := files.ReadFile(a)
		s += string(text)
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}
