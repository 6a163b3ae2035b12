package live

import (
	"io"
	"net/http"
	"path"
	"slices"
	"time"

	"mergesafe/merge/campaign"
)

// reportPolicy lets a report show itself, and do nothing.
const reportPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"

// reportKinds are the kinds of files that are served, by the end of their name. All else is
// text, which no browser runs.
var reportKinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".json": "application/json",
	".csv":  "text/csv; charset=utf-8",
}

// report serves a file that the state lists, from the folder of the plans.
func (h *Handler) report(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	v := h.state(w, r)
	if v == nil {
		return
	}
	has := func(m campaign.MergeStatus) bool { return slices.Contains(m.Reports, name) }
	listed := slices.ContainsFunc(v.Status.Merges, has)
	if !listed || h.options.Reports == nil {
		refuse(w, http.StatusNotFound, "the campaign has no such report")
		return
	}
	file, err := h.options.Reports.Open(name)
	if err != nil {
		refuse(w, http.StatusNotFound, "the report cannot be read; was it moved?")
		return
	}
	defer file.Close()
	content, ok := file.(io.ReadSeeker)
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || !ok {
		refuse(w, http.StatusNotFound, "the report is not a file")
		return
	}
	kind, ok := reportKinds[path.Ext(name)]
	if !ok {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", reportPolicy)
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(10 * time.Minute)) // some are large
	http.ServeContent(w, r, "", time.Time{}, content)
}
