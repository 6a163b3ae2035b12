package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"io"
	"io/fs"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/merge/report"

	"mergesafe/merge"
)

// maxRenames limits the renames of one merge on the page.
const maxRenames = 200

// Record is a campaign as it is put on record.
type Record struct {
	Status  *campaign.Status                        `json:"status"`
	Events  []campaign.Event                        `json:"events"`
	Program string                                  `json:"program,omitempty"` // that wrote the record, with its version
	Telling campaign.Telling                        `json:"-"`                 // for whom it is
	Plan    func(merge string) (*merge.Plan, error) `json:"-"`                 // an error like [fs.ErrNotExist] if there is none
}

// WriteHTML writes the record as one page for those who were not there: what was merged, how
// long it took, who was renamed, what failed and was undone. It needs nothing but itself, and
// has the JSON form of the record inside.
func (r *Record) WriteHTML(w io.Writer) error {
	render, err := newRenderer()
	if err != nil {
		return err
	}
	said := r.Status.Say(r.Telling)
	inside, err := json.Marshal(struct {
		*Record
		View *report.View `json:"view"`
	}{r, said.View})
	if err != nil {
		return err
	}
	style := assets()["page.css"].text
	sum := sha256.Sum256([]byte(style))
	p := recordPage{
		board: newBoard(&view{Status: r.Status, Said: said, Events: reversed(r.Events), Now: r.Status.Now}, Options{}),
		Style: template.CSS(style), Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		Inside: json.RawMessage(inside), Program: r.Program,
	}
	p.fill(r)
	var b bytes.Buffer // a page that ends in the middle would look complete
	if err := render.t.ExecuteTemplate(&b, "export.html", p); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// recordPage is a record, arranged.
type recordPage struct {
	*board
	Style   template.CSS
	Policy  string
	Inside  json.RawMessage
	Program string

	AsOf    string
	Totals  []figure
	Trouble []recordLine // with events that tell of some
	Renamed []recordLine
	Chapter []event // all events, the oldest first
}

// recordLine is one merge.
type recordLine struct {
	mergeView
	Renames []merge.Rename // the first of them
	Count   int            // of new names
	Cells   int            // that change, of all kinds
	Unread  string         // why its plan could not be read
	Events  []event        // that tell of trouble
}

func (p *recordPage) fill(r *Record) {
	s := r.Status
	worlds, gone, undone, failed, renames := 0, 0, 0, 0, 0
	var rows int64
	for _, m := range p.Merges {
		l := recordLine{mergeView: m, Count: m.Renames}
		worlds += len(m.Worlds)
		switch m.Phase {
		case campaign.Verified:
			gone += len(m.Worlds) - 1
			rows += m.Rows
		case campaign.Undone:
			undone++
		case campaign.Failed, campaign.Refused:
			failed++
		}
		l.readPlan(r)
		for _, e := range r.Events {
			if e.Merge == m.Name() && trouble[e.Kind] {
				l.Events = append(l.Events, event{e, hour(e.At, s.Now), true})
			}
		}
		if len(l.Events) > 0 {
			p.Trouble = append(p.Trouble, l)
		}
		if m.Phase == campaign.Verified {
			renames += l.Count
			if l.Count > 0 || l.Unread != "" {
				p.Renamed = append(p.Renamed, l)
			}
		}
	}
	add := func(value, what, note string) { p.Totals = append(p.Totals, figure{value, what, note}) }
	add(printable.Number(int64(p.Done))+" of "+printable.Number(int64(p.All)), "verified", "")
	add(printable.Number(int64(worlds))+" to "+printable.Number(int64(worlds-gone)), "worlds", "before and after")
	add(brief(float64(rows)), "rows merged", printable.Number(rows))
	add(printable.Number(int64(renames)), "renames", "")
	add(printable.Number(int64(failed))+", "+printable.Number(int64(undone)), "failed, undone", "")
	if s.Began != nil {
		until := s.Now
		if s.Ended != nil && s.Doing == "" {
			until = *s.Ended
		}
		add(lasts(s.Worked), "of work", clock(*s.Began)+" to "+clock(until))
	}
	p.AsOf = clock(s.Now)
	for _, e := range r.Events {
		p.Chapter = append(p.Chapter, event{e, clock(e.At), trouble[e.Kind]})
	}
}

// trouble are the kinds of events that tell of some.
var trouble = map[string]bool{
	campaign.KindFailed: true, campaign.KindRefused: true, campaign.KindRetry: true, campaign.KindNotVerified: true,
	campaign.KindUndoing: true, campaign.KindUndone: true, campaign.KindSkipped: true, campaign.KindHook: true,
}

// readPlan takes from the plan who was renamed.
func (l *recordLine) readPlan(r *Record) {
	if r.Plan == nil || l.Phase != campaign.Verified {
		return
	}
	plan, err := r.Plan(l.Name())
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.Count == 0:
	case err != nil:
		l.Unread = trim(err)
	default:
		names, _, _ := plan.Renamed()
		l.Count, l.Cells = int(names), len(plan.Renames)
		l.Renames = plan.Renames[:min(maxRenames, len(plan.Renames))]
	}
}
