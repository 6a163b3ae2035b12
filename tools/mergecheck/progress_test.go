package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vbauerster/mpb/v8"

	"mergesafe/merge/rules"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

// known is what is found before the keys are read.
var known = &verdict.Report{Worlds: []verdict.Summary{{Name: "s1"}}}

const knownText = "No verdict before the keys are read. So far, of 0 checks: 0 failed, 0 not verified\n  s1  about 0 rows in 0 tables\n"

// On a terminal what is known is there at once, then a line for every
// database, and none of these is left at the end.
func TestProgressOnTerminal(t *testing.T) {
	screen := clitest.NewScreen()
	refresh := make(chan any)
	p := newProgress(cli.NewLog(screen, "mergecheck", false), true, []string{"s1", "s2"}, mpb.WithManualRefresh(refresh))
	<-screen.Wrote
	p.quick(known)
	<-screen.Wrote
	if diff := cmp.Diff("Reading the schemas ...\n"+knownText, screen.Text.String()); diff != "" {
		t.Error(diff)
	}
	p.report(rules.Progress{Code: "key-collision", World: "s2", Table: "items", WorldRows: 50, WorldTotal: 200})
	p.report(rules.Progress{World: "unknown"})
	refresh <- time.Now()
	<-screen.Wrote
	p.rests("s1", 99)
	refresh <- time.Now()
	<-screen.Wrote
	p.report(rules.Progress{Code: "reference-undeclared", World: "s2", Table: "notes", WorldRows: 50, WorldTotal: 200, Again: "b has too many values"})
	refresh <- time.Now()
	<-screen.Wrote
	p.display.Stop()
	got := screen.Text.String()
	for _, want := range []string{"mergecheck: reading the rows of notes in s2 again: b has too many values\n", "s1", "waiting", "s2", "25 %  50 of 200 rows", "items key-collision", "[=>---", "resting: 99 threads are running"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the screen: %q", want, got)
		}
	}
}

// Elsewhere a line says that a phase begins, and every 30 seconds how far the check is.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newProgress(cli.NewLog(&log, "mergecheck", false), false, []string{"s1", "s2"})
		step := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			p.mu.Lock() // for the race detector
			defer p.mu.Unlock()
			if diff := cmp.Diff(want, log.String()); diff != "" {
				t.Errorf("after %s (-want +got):\n%s", d, diff)
			}
			log.Reset()
		}
		report := func(source, table string, rows int64) {
			p.report(rules.Progress{Code: "key-collision", World: source, Table: table, WorldRows: rows, WorldTotal: 1_000_000})
		}
		step(0, "mergecheck: opening s1 and s2\n")
		p.begin(phaseSchemas)
		step(0, "mergecheck: reading the schemas of s1 and s2\n")
		p.quick(known)
		step(20*time.Second, "")
		report("s1", "items", 0)
		report("s2", "items", 0)
		step(0, "mergecheck: reading the rows of s1 and s2\n")
		step(9*time.Second, "")
		report("s1", "items", 90_000)
		report("s2", "items", 180_000)
		step(time.Second, knownText+"mergecheck: 13 %  270 k of 2000 k rows  27 k/s  54s left  items key-collision\n")
		step(29*time.Second, "")
		p.report(rules.Progress{Code: "reference-undeclared", World: "s2", Table: "notes", WorldRows: 180_000, WorldTotal: 1_000_000, Again: "b has too many values"})
		step(0, "mergecheck: reading the rows of notes in s2 again: b has too many values\n")
		report("s1", "players", 400_000)
		p.rests("s1", 99)
		step(time.Second, "mergecheck: 29 %  580 k of 2000 k rows  10 k/s  2m12s left  players key-collision  s1 is resting: 99 threads are running\n")
		step(30*time.Second, "mergecheck: 29 %  580 k of 2000 k rows  5082/s  4m27s left  players key-collision  s1 is resting: 99 threads are running  nothing was read in the last 30s\n")
		p.display.Stop()
		step(time.Minute, "")
	})
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newProgress(cli.NewLog(&log, "mergecheck", false), false, []string{"s1"})
		time.Sleep(cli.LineEvery)
		synctest.Wait()
		p.display.Stop()
		if got, want := log.String(), "mergecheck: opening s1\nmergecheck: no rows are read yet: still opening s1\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
