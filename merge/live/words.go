package live

import (
	"fmt"
	"math"
	"net/url"
	"slices"
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
	{campaign.Undoing, look{"working", "◂", "undoing"}},
	{campaign.Copied, look{"copied", "◐", "copied, not verified"}},
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

// span is a duration that is not known exactly, in seconds.
type span struct{ least, most float64 }

// String is "4 to 6 min", "about 4 min" if both are the same in words, or "up to 4 min".
func (s span) String() string {
	least, most := lasts(s.least), lasts(s.most)
	if least == most {
		if s.most < 1 {
			return least
		}
		return "about " + least
	}
	if s.least < s.most/20 {
		return "up to " + most
	}
	n, unit, ok := strings.Cut(least, " ")
	if _, other, _ := strings.Cut(most, " "); ok && unit == other {
		least = n
	}
	return least + " to " + most
}

// leftOf is how long a merge still takes; known is false if nothing was predicted. Where the
// step at hand shows that it takes longer than predicted, that counts.
func leftOf(m *campaign.MergeStatus, running bool) (left span, known bool) {
	if slices.Contains([]campaign.Phase{campaign.Verified, campaign.Failed, campaign.Refused, campaign.Undone, campaign.Skipped}, m.Phase) {
		return span{}, true
	}
	known = m.Predicted[1] > 0
	left = span{max(0, m.Predicted[0]-m.Took), max(0, m.Predicted[1]-m.Took)}
	if !running || !m.Active {
		return left, known
	}
	if m.Left > 0 {
		left, known = span{min(left.least, m.Left), max(left.most, m.Left)}, true
	}
	if m.PerSecond > 0 && m.Total > m.Done {
		step := float64(m.Total-m.Done) / m.PerSecond
		left = span{max(left.least, step), max(left.most, step)}
	}
	return left, known && left.most > 0
}

// allLeft is how long all merges still take, so many at a time; 0 is not known. However they
// are divided, it takes at least the longest, and the even share; and at most, in any order in
// which no worker rests, the even share and the longest. Windows of time and limits of servers
// make it longer. unknown counts merges of which nothing is predicted.
func allLeft(s *campaign.Status) (left span, unknown int) {
	var sum, longest span
	for i := range s.Merges {
		one, known := leftOf(&s.Merges[i], s.Doing != "")
		if !known {
			unknown++
		}
		sum.least, sum.most = sum.least+one.least, sum.most+one.most
		longest.least, longest.most = max(longest.least, one.least), max(longest.most, one.most)
	}
	if s.Parallel == 0 {
		return span{longest.least, sum.most}, unknown
	}
	p := float64(s.Parallel)
	return span{max(longest.least, sum.least/p), min(sum.most, sum.most/p+longest.most)}, unknown
}

// programs are those whose commands stand in advice.
var programs = []string{"fleet", "servermerge", "mergecheck", "gameid"}

// isCommand tells a command to paste from a sentence: it begins with one of our programs, and
// does not end as a sentence does.
func isCommand(advice string) bool {
	word, rest, _ := strings.Cut(advice, " ")
	return slices.Contains(programs, word) && rest != "" && !strings.HasSuffix(rest, ".")
}

// reportWord names a report of a merge in little room: "proof" of "w1.proof.html".
func reportWord(target, name string) string {
	for _, prefix := range []string{target, url.PathEscape(target)} {
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
