package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vbauerster/mpb/v8"

	"mergesafe/merge"
	"mergesafe/tools/internal/cli"
	"mergesafe/tools/internal/cli/clitest"
)

func TestMeter(t *testing.T) {
	start := time.Unix(0, 0)
	m := new(meter)
	if got := m.text(start); got != "no rows are read yet" {
		t.Errorf("before anything was read: %q", got)
	}
	for _, tt := range []struct {
		after time.Duration
		now   merge.Progress
		want  string
	}{
		// The check counts every database by itself.
		{0, merge.Progress{Step: merge.StepCheck, Database: "s1", Table: "items", Rows: 0, Total: 60e6}, "checking  0 %  0 of 60.0 M rows  0/s  time left unknown  items of s1"},
		{time.Second, merge.Progress{Step: merge.StepCheck, Database: "s2", Table: "items", Rows: 20e6, Total: 40e6}, "checking  20 %  20.0 M of 100.0 M rows  20.0 M/s  19s left  items of s2"},
		{2 * time.Second, merge.Progress{Step: merge.StepCheck, Database: "s1", Table: "items", Rows: 30e6, Total: 60e6}, "checking  50 %  50.0 M of 100.0 M rows  25.0 M/s  2s left  items of s1"},
		// What was copied before this call is no measure of how fast it is.
		{10 * time.Second, merge.Progress{Step: merge.StepCopy, Database: "s2", Table: "a\x1b[2J", Rows: 50e6, Total: 60e6}, `copying  83 %  50.0 M of 60.0 M rows  0/s  1s left  a\x1b[2J of s2`},
		{20 * time.Second, merge.Progress{Step: merge.StepCopy, Database: "s2", Table: "items", Rows: 51e6, Total: 60e6}, "copying  85 %  51.0 M of 60.0 M rows  100 k/s  10s left  items of s2"},
		{30 * time.Second, merge.Progress{Step: merge.StepCopy, Database: "s2", Table: "mail", Rows: 57e6, Total: 60e6, Before: 5e6}, "copying  95 %  57.0 M of 60.0 M rows  350 k/s  3s left  5000 k of them by an earlier run  mail of s2"},
	} {
		now := start.Add(tt.after)
		m.Report(tt.now, now)
		if got := m.text(now); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.now, got, tt.want)
		}
	}
	for _, step := range []string{merge.StepCheck, merge.StepMeasure, merge.StepCopy, merge.StepIndex, merge.StepFinish, merge.StepVerify, merge.StepResult} {
		if doing[step] == "" {
			t.Errorf("no words for the step %q", step)
		}
	}
}

// On a terminal there is a bar, of which nothing is left at the end.
func TestProgressOnTerminal(t *testing.T) {
	screen := clitest.NewScreen()
	refresh := make(chan any)
	p := newProgress(cli.NewLog(screen, "servermerge", false), true, mpb.WithManualRefresh(refresh), mpb.WithWidth(120))
	p.report(merge.Progress{Step: merge.StepCopy, Database: "s2", Table: "items", Rows: 50, Total: 200})
	refresh <- time.Now()
	<-screen.Wrote
	p.rests("s1", 99)
	refresh <- time.Now()
	<-screen.Wrote
	p.waits(errors.New("merge: database \"s2\": gone"))
	refresh <- time.Now()
	<-screen.Wrote
	p.report(merge.Progress{Step: merge.StepCheck, Database: "s1", Table: "notes", Again: "b has too many values"})
	refresh <- time.Now()
	<-screen.Wrote
	p.display.Stop()
	got := screen.Text.String()
	for _, want := range []string{"servermerge: reading the rows of notes in s1 again: b has too many values\n", "copying  25 %  50 of 200 rows", "items of s2", "resting: 99 threads are running on s1", `waiting for a database: database "s2": gone`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not on the screen: %q", want, got)
		}
	}
}

// Elsewhere a line says that a step begins, and every 30 seconds how far it is. That a database is waited for is said at once, and once.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := newProgress(cli.NewLog(&log, "servermerge", false), false)
		step := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			p.mu.Lock() // as the lines are written
			defer p.mu.Unlock()
			if diff := cmp.Diff(want, log.String()); diff != "" {
				t.Errorf("after %s (-want +got):\n%s", d, diff)
			}
			log.Reset()
		}
		report := func(rows int64) {
			p.report(merge.Progress{Step: merge.StepCopy, Database: "s2", Table: "items", Rows: rows, Total: 3_000_000})
		}
		step(20*time.Second, "")
		report(0)
		step(0, "servermerge: copying\n")
		step(9*time.Second, "")
		report(1_000_000)
		step(time.Second, "servermerge: copying  33 %  1000 k of 3000 k rows  100 k/s  20s left  items of s2\n")
		p.report(merge.Progress{Step: merge.StepCopy, Database: "s2", Table: "items", Rows: 1_000_000, Total: 3_000_000, Again: "b has too many values"})
		step(0, "servermerge: reading the rows of items in s2 again: b has too many values\n")
		p.waits(errors.New("database \"s2\": gone"))
		p.waits(errors.New("database \"s2\": gone"))
		step(time.Second, "servermerge: waiting for a database: database \"s2\": gone\n")
		step(29*time.Second, "servermerge: waiting for a database: database \"s2\": gone  copying  33 %  1000 k of 3000 k rows  25 k/s  1m19s left  items of s2\n")
		report(2_000_000)
		p.rests("s1", 57)
		step(time.Second, "")
		p.waits(errors.New("database \"s1\": gone"))
		step(0, "")
		report(2_100_000)
		p.waits(errors.New("database \"s1\": gone"))
		step(0, "servermerge: waiting for a database: database \"s1\": gone\n")
		p.display.Stop()
		step(time.Minute, "")
	})
}
