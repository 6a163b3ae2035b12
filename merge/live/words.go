package live

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"mergesafe/internal/printable"
	"mergesafe/merge/campaign"
)

// look is how a phase is shown: never by colour alone.
type look struct {
	Class string // in the style sheet
	Sign  string
	Word  string
}

// looks are in the order of the legend.
var looks = []struct {
	phase campaign.Phase
	look  look
}{
	{campaign.Failed, look{"fail", "✕", "failed"}},
	{campaign.Refused, look{"fail", "!", "refused"}},
	{campaign.Planning, look{"working", "▸", "planning"}},
	{campaign.Copying, look{"working", "▸", "copying"}},
	{campaign.Verifying, look{"working", "▸", "verifying"}},
	{campaign.Opening, look{"working", "▸", "opening"}},
	{campaign.Trying, look{"working", "▸", "trying"}},
	{campaign.Undoing, look{"working", "◂", "undoing"}},
	{campaign.Made, look{"made", "◐", "made, not open"}},
	{campaign.Tried, look{"tried", "◌", "tried"}},
	{campaign.Planned, look{"planned", "○", "planned"}},
	{campaign.Waiting, look{"waiting", "·", "waiting"}},
	{campaign.Verified, look{"pass", "✓", "verified"}},
	{campaign.Undone, look{"undone", "↩", "undone"}},
	{campaign.Skipped, look{"skipped", "–", "skipped"}},
}

// lookOf is how a merge is shown. One that is in the middle without a process at it was
// interrupted.
func lookOf(m *campaign.MergeStatus, running bool) look {
	l := look{"waiting", "?", printable.Text(string(m.Phase))}
	for _, known := range looks {
		if known.phase == m.Phase {
			l = known.look
		}
	}
	if m.Phase == campaign.Opening && !m.Active {
		return look{"made", "◐", m.PhaseWord()}
	}
	if m.Phase == campaign.Verified {
		l.Word = m.PhaseWord()
	}
	if l.Class == "working" && !(running && m.Active) {
		return look{"unsure", "‖", "interrupted while " + l.Word}
	}
	return l
}

// clock is a time of day as it is named in a sentence: 2026-11-21T03:12:05Z, "" if it is not
// known.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// hour is the time of day alone, if it is the day of now.
func hour(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05Z")
	}
	return clock(t)
}

// minute is hour without seconds.
func minute(t, now time.Time) string {
	return strings.Replace(hour(t, now), t.UTC().Format(":05Z"), "Z", 1)
}

// brief writes a number of rows in little room: "830", "8.3 k", "83 k", "1.3 M".
func brief(n float64) string {
	switch {
	case n < 999.5:
		return fmt.Sprintf("%.0f", n)
	case n < 9950:
		return fmt.Sprintf("%.1f k", n/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0f k", n/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f M", n/1e6)
	default:
		return fmt.Sprintf("%.1f G", n/1e9)
	}
}

// lasts writes a number of seconds in words: "45 s", "12 min", "2 h 05 min".
func lasts(seconds float64) string {
	switch s := math.Round(seconds); {
	case math.IsNaN(s) || s > 1e8:
		return "very long"
	case s < 1:
		return "less than 1 s"
	case s < 100:
		return fmt.Sprintf("%.0f s", s)
	case s < 6000:
		return fmt.Sprintf("%.0f min", s/60)
	default:
		minutes := int(math.Round(s / 60))
		return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
	}
}

// span is a duration in seconds: at the least and at the most.
type span [2]float64

// String is "4 to 6 min", "about 4 min" if both are the same in words, or "up to 4 min".
func (s span) String() string {
	least, most := lasts(s[0]), lasts(s[1])
	if least == most {
		if s[1] < 1 {
			return least
		}
		return "about " + least
	}
	if s[0] < s[1]/20 {
		return "up to " + most
	}
	n, unit, ok := strings.Cut(least, " ")
	if _, other, _ := strings.Cut(most, " "); ok && unit == other {
		least = n
	}
	return least + " to " + most
}

// reportWord names a report of a merge in little room: "proof" of "w1.proof.html".
func reportWord(merge, name string) string {
	for _, prefix := range []string{merge, url.PathEscape(merge)} {
		if rest, ok := strings.CutPrefix(name, prefix+"."); ok {
			word, html := strings.CutSuffix(rest, ".html")
			if html || rest != "html" {
				return word
			}
			return "report"
		}
	}
	return name
}
