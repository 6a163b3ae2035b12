package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
	"mergesafe/merge/report"
)

// board is what the page shows, in words.
type board struct {
	Share int64 // of all work that is done, of 1000
	Name  string
	*report.View
	Start []report.Section // which game servers are started where
	Class string
	Title string // of the window

	Figures   []figure
	Done, All int // merges
	Control   bool
	Paused    bool
	Running   bool // a process works on the campaign

	Problems []mergeView
	Now      []mergeView
	Next     []mergeView
	Ended    []mergeView
	Merges   []mergeView // all of them, in the order of the file
	Legend   []legend
	Events   []event
	Earlier  int64 // events that are not shown
}

// figure is a number that stands out.
type figure struct{ Value, What, Note string }

// legend counts what is shown in one way.
type legend struct {
	look
	Merges int
}

// shown is how many lines of a list are seen before more are asked for.
const shown = 6

// fold divides a list into what is shown and what is folded away. A line alone is not.
func fold[T any](all []T, n int) folded[T] {
	if len(all) <= n+1 {
		n = len(all)
	}
	return folded[T]{all[:n], all[n:]}
}

type folded[T any] struct{ Shown, More []T }

// merge is one merge of the page.
type mergeView struct {
	campaign.MergeStatus
	look
	ID        string // of its line
	Value     int64  // of the bar, of 1000
	Figures   string
	Left      string
	Took      string
	When      time.Time
	Hour      string
	Skippable bool
}

// Others are the worlds but the first.
func (m mergeView) Others() []string { return m.Worlds[min(1, len(m.Worlds)):] }

type event struct {
	campaign.Event
	Hour string
	Bad  bool
}

func newBoard(v *view, o Options) *board {
	b := &board{Control: o.Control != nil, Title: "Campaign", View: &report.View{Word: "NOT KNOWN", Sentence: "The state of the campaign has not been read yet."}, Class: "unsure"}
	if v.Status == nil {
		return b
	}
	s := v.Status
	b.Share = int64(s.Share() * 1000)
	b.Name, b.All, b.Running, b.Paused = s.Name, len(s.Merges), s.Doing != "", s.Paused
	rows, allRows, rate := int64(0), int64(0), 0.0
	count := make(map[look]int)
	for i := range s.Merges {
		m := newMerge(s, i)
		b.add(m)
		count[m.look]++
		allRows += m.Rows
		rows += m.Came()
		if (m.Phase == campaign.Copying || m.Phase == campaign.Trying) && b.Running {
			rate += m.PerSecond
		}
	}
	for _, l := range looks {
		if n := count[l.look]; n > 0 {
			b.Legend = append(b.Legend, legend{l.look, n})
			delete(count, l.look)
		}
	}
	for _, m := range b.Merges { // what has no fixed look
		if n := count[m.look]; n > 0 {
			b.Legend = append(b.Legend, legend{m.look, n})
			delete(count, m.look)
		}
	}
	slices.SortStableFunc(b.Ended, func(x, y mergeView) int { return y.When.Compare(x.When) })
	b.View = v.Said.View
	for _, of := range b.Sections {
		if of.ID == "start" || of.ID == "grants" {
			b.Start = append(b.Start, of)
		}
	}
	switch {
	case b.Running && !s.Paused && s.Waits == "":
		b.Class = "working"
	case b.Color != "":
		b.Class = report.Class(b.Color)
	}
	b.figures(s, rows, allRows, rate)
	b.Title = fmt.Sprintf("%d/%d %s: %s", b.Done, b.All, b.Word, printable.Text(s.Name))
	for _, e := range v.Events {
		b.Events = append(b.Events, event{e, hour(e.At, s.Now), e.Kind == campaign.KindFailed || e.Kind == campaign.KindRefused})
		b.Earlier = e.Number - 1
	}
	return b
}

// add puts a merge where it belongs.
func (b *board) add(m mergeView) {
	over := m.Phase.IsTry() || m.Phase == campaign.Verified || m.Phase == campaign.Skipped || m.Phase == campaign.Undone
	m.Skippable = b.Control && m.Class != "working" && m.Class != "made" && !over
	b.Merges = append(b.Merges, m)
	if m.Phase == campaign.Verified {
		b.Done++
	}
	switch {
	case m.Class == "fail" || m.Class == "unsure" || m.Problem != "" && m.Class != "working" && m.Class != "pass":
		b.Problems = append(b.Problems, m)
	case m.Class == "working" || m.Class == "made":
		b.Now = append(b.Now, m)
	case m.Class == "waiting" || m.Class == "planned" || m.Class == "tried":
		b.Next = append(b.Next, m)
	default:
		b.Ended = append(b.Ended, m)
	}
}

func newMerge(s *campaign.Status, i int) mergeView {
	m := mergeView{MergeStatus: s.Merges[i], ID: "m" + strconv.Itoa(i+1)}
	running := s.Doing != ""
	m.look = lookOf(&m.MergeStatus, running)
	m.Took = lasts(m.MergeStatus.Took)
	if m.Ended != nil {
		m.When, m.Hour = *m.Ended, hour(*m.Ended, s.Now)
	}
	switch left, known := m.TimeLeft(running); {
	case m.Class == "working" && !known && m.Predicted[1] > 0:
		m.Left = "longer than predicted"
	case !known:
		m.Left = "no prediction"
	case m.Class == "working":
		m.Left = span(left).String() + " left"
	default:
		m.Left = span(left).String()
	}
	if m.Class == "working" && m.Total > 0 {
		m.Value = int64(m.Progress() * 1000)
		m.Figures = fmt.Sprintf("%d %%; %s of %s", m.Value/10, printable.Number(m.MergeStatus.Done), printable.Count(m.Total, "row", "rows"))
		if m.PerSecond > 0 && m.Waits == "" {
			m.Figures += ", " + brief(m.PerSecond) + " rows/s"
		}
	}
	if m.Finishing() {
		m.Figures = printable.Count(m.Total, "row is", "rows are") + " there; indexes, keys and views are made"
	}
	if m.Class == "working" && m.Waits != "" {
		m.Figures = strings.TrimPrefix(m.Figures+"; waits: "+m.Waits, "; ")
	}
	if m.Class == "made" {
		m.Value = int64(m.Share() * 1000)
	}
	return m
}

func (b *board) figures(s *campaign.Status, rows, all int64, rate float64) {
	add := func(value, what, note string) { b.Figures = append(b.Figures, figure{value, what, note}) }
	note := ""
	if n := len(b.Problems); n > 0 {
		note = printable.Count(int64(n), "needs you", "need you")
	}
	add(fmt.Sprintf("%d of %d", b.Done, b.All), "verified", note)
	note = "of " + brief(float64(all)) + " planned"
	if rate > 0 {
		note += ", " + brief(rate) + "/s"
	}
	add(brief(float64(rows)), "rows copied", note)
	if s.Began != nil {
		add(lasts(s.Worked), "of work done", "since "+minute(*s.Began, s.Now))
	}
	left, unknown := s.TimeLeft()
	if unknown == 0 && left[1] <= 0 {
		if s.Ended != nil {
			add(minute(*s.Ended, s.Now), "ended", "")
		}
		return
	}
	least, most := minute(after(s.Now, left[0]), s.Now), minute(after(s.Now, left[1]), s.Now)
	switch value, what, note := strings.TrimSuffix(least, "Z")+" to "+most, "predicted end", ""; {
	case unknown > 0 && left[1] <= 0:
		add("not known", what, "no prediction yet")
	case unknown > 0:
		add("after "+least, what, printable.Count(int64(unknown), "merge", "merges")+" without a prediction")
	case !b.Running || s.Paused || s.Waits != "":
		add(span(left).String(), "of work left", "")
	default:
		if least == most {
			value = "about " + least
		}
		add(value, what, note)
	}
}

func after(t time.Time, seconds float64) time.Time {
	return t.Add(time.Duration(min(seconds, 1e8) * float64(time.Second)))
}
