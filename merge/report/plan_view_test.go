package report

import (
	"strings"
	"testing"
	"time"

	"mergesafe/internal/columns"
	"mergesafe/merge"
	"mergesafe/merge/catalog"
	"mergesafe/merge/plan"
	"mergesafe/merge/verdict"
)

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "1s", 1499 * time.Millisecond: "1s", 90 * time.Second: "1m30s", 11 * time.Minute: "11m", 119*time.Minute + 40*time.Second: "2h0m",
	} {
		if got := about(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

func planText(t *testing.T, p *merge.Plan, then Commands) string {
	t.Helper()
	var b strings.Builder
	if err := (&Planned{Plan: p, Then: then}).WriteText(&b, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What comes from the databases cannot disturb a terminal, long lists are cut
// with their count, and what nobody guards is said.
func TestWritePlan(t *testing.T) {
	evil := "\x1b[2J"
	p := &merge.Plan{
		Check:  merge.Checked{Verdict: verdict.Pass},
		New:    plan.New{Name: "new" + evil, Grants: []string{evil}, Unseen: evil},
		Worlds: []merge.World{{Name: "s1" + evil}, {Name: "s2", Servers: []catalog.Server{{Server: 2, Name: evil, Own: true}, {Server: 9}}}},
		Tables: []merge.Table{{Name: "mail" + evil, Worlds: []merge.Content{{Rows: 60_000_000}, {}}, Counter: &merge.Counter{Before: 5, After: 9}, Generated: []string{evil}}},
		Left:   []merge.Left{{Table: evil, Reason: "rows that stay behind, as declared"}},
		Copies: []merge.NameCopy{{Table: evil, Column: "a", Key: "b", OfTable: "c"}},
	}
	for range 20 {
		p.Names++
		p.Renames = append(p.Renames, merge.Rename{Source: "s2", Table: evil, Column: "name", Key: `["s` + evil + `"]`, Old: evil, New: "x"})
	}
	p.Names = len(p.Renames)
	text := planText(t, p, Commands{Apply: "servermerge apply plan.json", Renames: "servermerge whois plan.json"})
	if strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
	for _, want := range []string{
		"READY  merging s1", "20 renames, about 20m (", "AUTO_INCREMENT rises from 5 to 9", "and 14 more: servermerge whois plan.json",
		"no registry", "NOTHING prevents it from being started again", "was merged in earlier, and is copied with it", "Stop the game servers of all these worlds, then:\n  servermerge apply plan.json\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	// Names, numbers and cells that follow are counted apart; a database without AUTO_INCREMENT has none.
	p.Names, p.Renumbered, p.Engine = 3, []verdict.Renumbered{{Table: "slots", Column: "slot", Counts: []int64{0, 4, 1}}}, "sqlite"
	const amount = "3 renames, 5 new numbers, 12 cells that follow"
	for _, want := range []string{amount + ", about 20m (", "New values: " + amount + ":\n", "the next key rises from 5 to 9"} {
		if text := planText(t, p, Commands{}); !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	for range 50 {
		p.Refusals = append(p.Refusals, merge.Refusal{Reason: evil})
	}
	if text := planText(t, p, Commands{}); strings.Contains(text, "\x1b") || !strings.HasPrefix(text, "REFUSED ") || !strings.Contains(text, "and 10 more: -json lists all") ||
		!strings.Contains(text, "50 reasons block it") {
		t.Errorf("%q", text)
	}
}

// A table that is wider than the terminal is written row by row, with the heads of its columns.
func TestWideTable(t *testing.T) {
	s := Section{Title: "Tables", Head: []string{"refers", "to", "rows"}, Rows: [][]string{
		{"short.at", "items.id", "12"}, {"long.at", "items.id, in list of pairs with a separator and a terminator, of key and value", "3"}}}
	p := newText(TextOptions{Width: 60})
	p.section(&s)
	var b strings.Builder
	if err := p.to(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if columns.Width(strings.TrimRight(line, "\n")) > 60 {
			t.Errorf("too wide: %s", line)
		}
	}
	for _, want := range []string{"  short.at  to items.id, rows 12\n", "  long.at  to items.id, in list"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}
