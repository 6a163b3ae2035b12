package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"mergesafe/merge/campaign"
)

var noon = time.Date(2026, 11, 21, 3, 12, 5, 0, time.UTC)

// book is a state in memory, with the methods of *campaign.Book.
type book struct {
	mu     sync.Mutex
	status campaign.Status
	events []campaign.Event
	away   error    // of everything that is asked for
	reads  int      // of the status
	wishes []string // of the operator
}

func (b *book) Status(context.Context) (*campaign.Status, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	s := b.status
	s.Merges = slices.Clone(s.Merges)
	return &s, b.away
}

func (b *book) Events(_ context.Context, after int64, limit int) ([]campaign.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	after = min(after, int64(len(b.events)))
	return slices.Clone(b.events[after:min(after+int64(limit), int64(len(b.events)))]), b.away
}

func (b *book) wish(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wishes = append(b.wishes, text)
	return nil
}

func (b *book) Pause(context.Context) error {
	b.change(func(s *campaign.Status) { s.Paused = true })
	return b.wish("pause")
}

func (b *book) Resume(context.Context) error {
	b.change(func(s *campaign.Status) { s.Paused = false })
	return b.wish("resume")
}

func (b *book) Skip(_ context.Context, merge string) error {
	if merge == "unknown" {
		return errors.New(`no merge "unknown": want the name of its first world`)
	}
	return b.wish("skip " + merge)
}

func (b *book) change(f func(s *campaign.Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.status)
}

func (b *book) happens(kind, merge, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := int64(len(b.events)) + 1
	b.events = append(b.events, campaign.Event{Number: n, At: noon.Add(time.Duration(n-200) * 20 * time.Second), Kind: kind, Merge: merge, Text: text})
	b.status.LastEvent = n
}

func (b *book) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.wishes)
}

// night is a campaign in the middle: so many merges of 400 worlds, of which one failed, one was
// refused, and four run.
func night(t testing.TB, merges int) *book {
	t.Helper()
	began := noon.Add(-72 * time.Minute)
	b := &book{status: campaign.Status{Name: "Autumn 2026, Europe", Now: noon, Doing: "apply", Parallel: 4, Began: &began, Worked: 4000}}
	world := 0
	next := func() string { world++; return fmt.Sprintf("eu-w%d", world) }
	for i := range merges {
		m := campaign.MergeStatus{Worlds: []string{next()}, Predicted: [2]float64{float64(120 + 7*i), float64(200 + 11*i)}, Rows: int64(900_000 + 13_577*i), Plan: "3f2a", Attempts: 1}
		for n := 400/merges + min(1, max(0, 400%merges-i)) - 1; n > 0; n-- {
			m.Worlds = append(m.Worlds, next())
		}
		ended := began.Add(time.Duration(i+1) * 2 * time.Minute)
		switch {
		case i == 7:
			m.Phase, m.Ended, m.Attempts, m.Took = campaign.Failed, &ended, 3, 71
			m.Problem = "copy items: row 4,711 of eu-w51: Error 1114 (HY000): The table 'items' is full"
			m.Advice = []string{"The disk of the database server is full. Make room, then try this merge again:", "fleet apply campaign.toml", "To give up and drop its new database:", "fleet undo campaign.toml " + m.Name()}
			m.Reports = []string{m.Name() + ".apply.html"}
		case i == 11:
			m.Phase, m.Ended = campaign.Refused, &ended
			m.Problem = "The check found 3 tables of eu-w75 that eu-w73 does not have: guild_hall, guild_hall_log, guild_hall_bid."
			m.Advice = []string{"Bring both to one schema, or declare the tables:", "mergecheck -rules game.toml eu-w73 eu-w75"}
			m.Reports = []string{m.Name() + ".plan.html"}
		case i == 5:
			m.Phase, m.Ended, m.Took = campaign.Undone, &ended, 240
		case i < 25:
			m.Phase, m.Ended, m.Took, m.Renames = campaign.Verified, &ended, float64(130+9*i), 17*i
			m.Reports = []string{m.Name() + ".plan.html", m.Name() + ".open.html"}
		case i == 25:
			m.Phase, m.Active, m.Step, m.Done, m.Total, m.PerSecond, m.Left, m.Took = campaign.Verifying, true, "verify", 2_900_000, 3_100_000, 210_000, 4, 301
		case i < 28:
			m.Phase, m.Active, m.Step, m.Done, m.Total, m.PerSecond, m.Left, m.Took = campaign.Copying, true, "copy", int64(300_000*(i-24)), m.Rows, 8_300, 95, 160
			m.Copied = m.Done
		case i == 28:
			m.Phase, m.Active, m.Step, m.Took = campaign.Planning, true, "check", 12
		case i == 29:
			m.Phase, m.Took = campaign.Made, 200
		case i < 34:
			m.Phase = campaign.Planned
		default:
			m.Phase, m.Plan, m.Attempts, m.Rows = campaign.Waiting, "", 0, 0
		}
		if i == 26 {
			m.Took, m.Attempts, m.Waits = 900, 2, "the database of eu-w183 does not answer since 03:11:40Z"
		}
		b.status.Merges = append(b.status.Merges, m)
	}
	for i := range 200 {
		m := b.status.Merges[i%min(merges, 28)]
		switch {
		case i == 190:
			b.happens("failed", "eu-w50", "failed for good after 3 attempts: the table 'items' is full")
		case i%3 == 0:
			b.happens("merged", m.Name(), "1.2 M rows were copied in 3 min 10 s")
		case i%3 == 1:
			b.happens("verified", m.Name(), "every row is as planned")
		default:
			b.happens("begun", m.Name(), "the worlds are fenced, copying begins")
		}
	}
	return b
}
