package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/verdict"
)

// timeline has a bar for every server of every database. Positions across are percentages, so that it fits
// a telephone as well; positions down are pixels.
type timeline struct {
	Bars    []bar
	Ticks   []tick
	Check   string // position of the time of the check
	Bottom  int    // of the bars
	Height  int
	Omitted int // servers that are not drawn
}

type bar struct {
	Label    string
	Class    string // see [standing]
	TextY, Y int
	From, To string
	Late     bool   // continues beyond the right edge
	Mark     string // position of the mark; "" if it is outside
}

type tick struct {
	X, Anchor, Text string
	Spare           bool // left out on a telephone, which has no room for it
}

const (
	maxBars   = 60
	barHeight = 52
)

// newTimeline returns nil if there are no IDs.
func newTimeline(r *verdict.Report) *timeline {
	type row struct {
		verdict.ServerSummary
		source string
	}
	var rows []row
	var first, last time.Time
	for _, s := range r.Worlds {
		for _, server := range s.Servers {
			if server.IDs == 0 {
				continue
			}
			rows = append(rows, row{server, s.Name})
			if first.IsZero() || server.Oldest.Before(first) {
				first = server.Oldest
			}
			if server.Newest.After(last) {
				last = server.Newest
			}
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Server, b.Server) })

	// IDs from the far future would press all others into one spot.
	check := r.Started
	if check.Before(first) {
		check = last
	}
	if limit := check.Add(max(check.Sub(first)/10, time.Minute)); last.After(limit) {
		last = limit
	}
	if last.Before(check) {
		last = check
	}
	at := func(t time.Time) string {
		return fmt.Sprintf("%.2f%%", 1+98*t.Sub(first).Seconds()/max(last.Sub(first).Seconds(), 1e-3))
	}

	t := &timeline{Check: at(check)}
	for i, row := range rows {
		if i == maxBars {
			t.Omitted = len(rows) - maxBars
			break
		}
		b := bar{
			Label: fmt.Sprintf("server %d%s in %s: %s", row.Server, named(row.Name), row.source, printable.Count(row.IDs, "ID", "IDs")),
			TextY: i * barHeight, Y: i*barHeight + 40,
			From: at(row.Oldest), To: at(row.Newest),
		}
		class, words := standing(row.ServerSummary)
		b.Class, b.Label = class, b.Label+words
		if row.Newest.After(last) {
			b.To, b.Late = at(last), true
			b.Label += ", until " + printable.Time(row.Newest)
		}
		if !row.Mark.Before(first) && !row.Mark.After(last) {
			b.Mark = at(row.Mark)
		}
		t.Bars = append(t.Bars, b)
	}
	t.Bottom = len(t.Bars) * barHeight
	t.Height = t.Bottom + 24
	t.Ticks = ticks(first, last, at)
	return t
}

// ticks are the ends and the middle: days, if there are enough of them.
func ticks(first, last time.Time, at func(time.Time) string) []tick {
	text, days := printable.Time, last.Sub(first) >= 48*time.Hour
	if days {
		text = func(t time.Time) string { return t.UTC().Format(time.DateOnly) }
	}
	middle := first.Add(last.Sub(first) / 2)
	return []tick{
		{at(first), "start", text(first), false},
		{at(middle), "middle", text(middle), !days},
		{at(last), "end", text(last), false},
	}
}

// named returns a name as it is written after its server.
func named(name string) string {
	if name == "" {
		return ""
	}
	return " " + name
}

// standing is the class of a server's bar, and the words for a server that is not
// the database's own.
func standing(s verdict.ServerSummary) (class, words string) {
	switch {
	case !s.Listed:
		return "unlisted", ", not in the registry"
	case !s.Own:
		return "merged", ", merged in"
	default:
		return "own", ""
	}
}
