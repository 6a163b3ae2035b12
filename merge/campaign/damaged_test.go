//go:build !race

package campaign

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/internal/servertest"
	"mergesafe/internal/sqldb"

	"mergesafe/merge"
)

// A state that is damaged is named, whatever the damage is; one that is empty is lost.
func TestDamagedState(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string){
		"garbage": func(t *testing.T, file string) {
			must(t, os.WriteFile(file, []byte(strings.Repeat("garbage ", 2000)), 0o644))
		},
		"truncated": func(t *testing.T, file string) { must(t, os.Truncate(file, 4096)) },
		"cut": func(t *testing.T, file string) {
			text, err := os.ReadFile(file)
			must(t, err)
			must(t, os.WriteFile(file, text[:50], 0o644))
		},
		"folder": func(t *testing.T, file string) { must(t, os.Remove(file)); must(t, os.Mkdir(file, 0o755)) },
		"record": func(t *testing.T, file string) { changeState(t, file, "UPDATE campaign SET record = '{'") },
		"merge":  func(t *testing.T, file string) { changeState(t, file, "UPDATE merges SET record = '{\"rows\": true}'") },
		"table":  func(t *testing.T, file string) { changeState(t, file, "DROP TABLE merges") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, 1, 1)
			b := p.book("", "w1 w2")
			planned(t, b, p.options())
			must(t, b.Close())
			damage(t, b.statePath())
			again, err := Open(t.Context(), b.campaign, b.file)
			if err == nil {
				defer again.Close()
				_, err = again.Status(t.Context())
				if _, planning := Plan(t.Context(), again, p.options()); planning == nil {
					t.Error("plan works with it")
				}
			}
			if e, ok := errors.AsType[*DamagedError](err); !ok || e.State != b.statePath() || e.Campaign != b.file || !strings.Contains(err.Error(), b.statePath()+" is damaged") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func changeState(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sqldb.Dial(t.Context(), "sqlite:"+file, sqldb.ReadWrite)
	must(t, err)
	defer db.Close()
	_, err = db.Exec(t.Context(), statement)
	must(t, err)
}

// Without its state a campaign goes on: what was verified stays so, also if its game runs since,
// what had begun is completed, and all else needs a plan first. What was undone or skipped is
// planned again, which the note says.
func TestLostState(t *testing.T) {
	servertest.NotShort(t)
	p := newPlace(t, 3, 3, 3, 300, 3, 3, 3, 3, 3, 3)
	b := p.book("undo = true", "w1 w2", "w3 w4", "w5 w6", "w7 w8", "w9 w10")
	planned(t, b, p.options())
	only := func(merge string) Options {
		o := p.options()
		o.Merges = []string{merge}
		return o
	}
	must(t, second(Apply(t.Context(), b, only("w1"))))
	must(t, second(Apply(t.Context(), b, only("w5"))))
	must(t, second(Undo(t.Context(), b, only("w5"))))
	must(t, b.Skip(t.Context(), "w7"))
	interrupted(t, b, only("w3"))
	if got := phases(t, b); got != "w1 verified, w3 copying, w5 undone, w7 skipped, w9 planned" {
		t.Fatalf("got %s", got)
	}
	if m := statusOf(t, b).Merges[1]; m.Active {
		t.Errorf("interrupted: got %+v", m)
	}
	p.made("w1").exec("", "DELETE FROM items") // its game runs

	must(t, b.Close())
	must(t, os.Remove(b.statePath()))
	b = opened(t, b.file)
	var notes []string
	o := p.options()
	o.Warn = func(text string) {
		if strings.Contains(text, "was lost") {
			notes = append(notes, text)
		}
	}
	worlds := []string{"w1", "w5", "w7", "w9"}
	before := p.all(worlds...)
	if s := statusOf(t, b); !s.Lost {
		t.Errorf("%+v", s)
	}
	if _, err := Apply(t.Context(), b, o); err == nil || !strings.Contains(err.Error(), "plan first: fleet plan") {
		t.Errorf("apply without a plan: %v", err)
	}
	if got := phases(t, b); !strings.HasPrefix(got, "w1 verified, w3 copying, w5 waiting") {
		t.Errorf("not ready: %s", got)
	}
	must(t, second(Plan(t.Context(), b, o)))
	if got := phases(t, b); got != "w1 verified, w3 copying, w5 planned, w7 planned, w9 planned" {
		t.Errorf("planned: %s", got)
	}
	if s := statusOf(t, b); s.Lost {
		t.Error("still lost")
	}
	if len(notes) != 2 || !strings.Contains(notes[1], "fleet skip "+b.file+" WORLD") {
		t.Errorf("the notes are %q", notes)
	}
	must(t, b.Skip(t.Context(), "w7"))
	must(t, second(Apply(t.Context(), b, o)))
	if got := phases(t, b); got != "w1 verified, w3 verified, w5 verified, w7 skipped, w9 verified" || len(notes) != 2 {
		t.Errorf("applied: %s, %q", got, notes)
	}
	after := p.all(worlds...)
	if before[0] != after[0] || before[2] != after[2] || p.made("w3").players("") != 303 {
		t.Errorf("w1 or w7 was changed, or w3 has %d players: %s", p.made("w3").players(""), cmp.Diff(before, after))
	}
}

// A new database that is made and not open is proved, and not undone if others wrote there, after the state was
// lost too: no file says what the campaign had planned.
func TestMadeIsNotUndone(t *testing.T) {
	p := newPlace(t, 3, 3)
	b := p.book("undo = true", "w1 w2")
	planned(t, b, p.options())
	ctx, cancel := context.WithCancel(t.Context())
	o := p.options()
	o.Work.Pause = func(context.Context) error {
		if statusOf(t, b).Merges[0].Phase == Verifying {
			cancel()
		}
		return ctx.Err()
	}
	if _, err := Apply(ctx, b, o); !errors.Is(err, merge.ErrStopped) {
		t.Fatalf("got %v", err)
	}
	must(t, b.Close())
	must(t, os.Remove(b.statePath()))
	p.made("w1").exec("", "UPDATE players SET gold = gold + 1")
	b = opened(t, b.file)
	must(t, second(Plan(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 made" {
		t.Errorf("got %s", got)
	}
	must(t, second(Apply(t.Context(), b, p.options())))
	if got := phases(t, b); got != "w1 failed" || p.made("w1").players("") != 6 {
		t.Errorf("got %s", got)
	}
}
