package estimate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mergesafe/merge"
)

func readLog(t *testing.T, name string) (all []recorded) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l recorded
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, l)
	}
	return all
}

// Logs of real runs are replayed. After the first tenth of each, what is said to be left is right within a factor of 2 in
// so many of the samples in which something is said, and nothing is said in at most a tenth. It is never nothing before
// the end.
var least = map[string]float64{"long both": 0.9, "long": 0.9, "short both": 0.9, "short": 0.85} // see docs/proved.md

func TestReplay(t *testing.T) {
	logs, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	sums := make(map[string]counts)
	for _, name := range logs {
		short := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		all, length := readLog(t, name), "long"
		if strings.HasSuffix(short, "-short") {
			length = "short"
		}
		var of counts
		for _, command := range []string{"apply", "verify", "both"} {
			c := replay(t, short, all, command)
			t.Logf("%-24s %-6s %s", short, command, c)
			of = of.plus(c)
			sums[length+" "+command] = sums[length+" "+command].plus(c)
		}
		t.Logf("%-24s %-6s %s", short, "", of)
		_, kind, _ := strings.Cut(strings.TrimSuffix(short, "-short"), "-")
		for _, group := range []string{length, length + " " + all[0].Engine, length + " " + kind} {
			sums[group] = sums[group].plus(of)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(sums)) {
		c := sums[group]
		t.Logf("%-31s %s", group, c)
		if want := least[group]; c.share() < want || want > 0 && c.unknown*10 > c.all {
			t.Errorf("%s: want %.0f %%", c, 100*want)
		}
	}
}

// counts are samples.
type counts struct{ all, right, unknown int }

func (c counts) plus(o counts) counts {
	return counts{c.all + o.all, c.right + o.right, c.unknown + o.unknown}
}

// share is how many are right of those in which something is said.
func (c counts) share() float64 { return float64(c.right) / float64(max(c.all-c.unknown, 1)) }

func (c counts) String() string {
	unknown := 100 * float64(c.unknown) / float64(c.all)
	return fmt.Sprintf("%5d samples: %4.1f %% right, %4.1f %% unknown", c.all, 100*c.share(), unknown)
}

func replay(t *testing.T, name string, all []recorded, of string) (c counts) {
	play(all, of, func(m *Meter, now, until float64) {
		left, known := m.Left(at(now))
		c.all++
		switch ratio := left.Seconds() / (until - now); {
		case !known:
			c.unknown++
		case left <= 0:
			t.Errorf("%s, %s: at %.1f s nothing is left, and it took until %.1f s", name, of, now, until)
		case ratio >= 0.5 && ratio <= 2:
			c.right++
		}
	})
	return c
}

func at(seconds float64) time.Time { return time.UnixMicro(int64(seconds * 1e6)) }

// play has a meter see a log of a command, or of both, and takes a sample each 100 ms, after the first tenth.
func play(all []recorded, of string, sample func(m *Meter, now, until float64)) {
	began, ended := 0.0, all[len(all)-1].At
	for _, l := range all {
		switch {
		case of == "verify" && l.Begin == "verify":
			began = l.At
		case of == "apply" && l.Begin == "verify":
			ended = l.At
		}
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	const every = 0.1
	m, next := &Meter{Engine: all[0].Engine, Pause: seconds(all[0].Pause)}, began+max((ended-began)/10, every)
	var before recorded
	for _, l := range all {
		for ; next < min(l.At, ended); next += every {
			sample(m, next, ended)
		}
		if n := l.Pauses - before.Pauses; l.At > began {
			for range n {
				m.Rested(seconds((l.Rested - before.Rested) / float64(n)))
			}
		}
		before = l
		switch {
		case l.At < began || l.At > ended:
		case l.Begin == "apply":
			m.Expect(ApplyWork(l.Moved)...)
			if of == "both" {
				m.Expect(VerifyWork(l.Moved)...)
			}
		case l.Begin == "verify" && of == "verify":
			m.Expect(VerifyWork(l.Moved)...)
		case l.Step != "":
			m.Report(merge.Progress{Step: l.Step, Rows: l.Rows, Total: l.Total, Before: l.Before}, at(l.At))
		}
	}
}

// While the operator pauses the work, the time that is left stays, and afterwards the pause is no measure.
func TestHold(t *testing.T) {
	m := new(Meter)
	m.Expect(Amount{merge.StepCopy, 1_600_000})
	for s := range 21 {
		m.Report(merge.Progress{Step: merge.StepCopy, Rows: int64(s) * 40_000, Total: 1_600_000}, at(float64(s)))
	}
	before, _ := m.Left(at(20))
	m.Hold(at(20))
	if during, _ := m.Left(at(900)); during != before {
		t.Errorf("%s while it is paused, and %s before", during, before)
	}
	m.Release(at(900))
	m.Report(merge.Progress{Step: merge.StepCopy, Rows: 840_000, Total: 1_600_000}, at(901))
	if after, _ := m.Left(at(901)); after < before-3*time.Second || after > before {
		t.Errorf("%s after the pause, and %s before", after, before)
	}
}

// A pause is part of the time that is left from the first batch on, and is not taken for slow work. Until rows are done,
// nothing is known.
func TestPauseIsKnown(t *testing.T) {
	m := &Meter{Pause: 100 * time.Millisecond}
	m.Expect(Amount{merge.StepVerify, 200_000}, Amount{merge.StepResult, 1000})
	m.Report(merge.Progress{Step: merge.StepVerify, Total: 200_000}, at(0))
	if left, known := m.Left(at(0)); known {
		t.Errorf("%s, though nothing is measured", left)
	}
	now := 0.0
	for rows := int64(2000); rows <= 20_000; rows += 2000 {
		now += 0.01
		m.Report(merge.Progress{Step: merge.StepVerify, Rows: rows, Total: 200_000}, at(now))
		if left, known := m.Left(at(now)); !known || left < 9*time.Second || left > 14*time.Second {
			t.Errorf("%s after %d rows, and 10 s are pauses", left, rows)
		}
		m.Rested(110 * time.Millisecond) // it is woken late
		now += 0.11
	}
	if m.rested.load != 0 {
		t.Errorf("%.2f s are taken for rests of a busy server", m.rested.load)
	}
}

// What completes a merge takes as long as the share that it has said, and its silence passes.
func TestShareIsMeasured(t *testing.T) {
	m := new(Meter)
	m.Expect(ApplyWork(1000)...)
	m.Report(merge.Progress{Step: merge.StepCopy, Total: 1000}, at(0))
	m.Report(merge.Progress{Step: merge.StepCopy, Rows: 1000, Total: 1000}, at(1))
	m.Report(merge.Progress{Step: merge.StepFinish, Total: 1000}, at(1))
	m.Report(merge.Progress{Step: merge.StepFinish, Rows: 250, Total: 1000}, at(11))
	for after, want := range map[float64]time.Duration{0: 30 * time.Second, 10: 20 * time.Second, 60: 30 * time.Second} {
		if left, _ := m.Left(at(11 + after)); left.Round(time.Second) != want {
			t.Errorf("%s are left %.0f s after a quarter that took 10 s, and not %s", left, after, want)
		}
	}
}

// A check counts each database by itself, and indexes are made beside the copy: what is shown is the sum, and the copy
// for as long as it runs.
func TestShown(t *testing.T) {
	var m Meter
	for i, s := range []struct{ now, shown merge.Progress }{
		{merge.Progress{Step: merge.StepCheck, Database: "s1", Rows: 3, Total: 10},
			merge.Progress{Step: merge.StepCheck, Database: "s1", Rows: 3, Total: 10}},
		{merge.Progress{Step: merge.StepCheck, Database: "s2", Rows: 4, Total: 20},
			merge.Progress{Step: merge.StepCheck, Database: "s2", Rows: 7, Total: 30}},
		{merge.Progress{Step: merge.StepCopy, Rows: 1, Total: 2}, merge.Progress{Step: merge.StepCopy, Rows: 1, Total: 2}},
		{merge.Progress{Step: merge.StepIndex, Total: 2}, merge.Progress{Step: merge.StepCopy, Rows: 1, Total: 2}},
		{merge.Progress{Step: merge.StepCopy, Rows: 2, Total: 2}, merge.Progress{Step: merge.StepCopy, Rows: 2, Total: 2}},
		{merge.Progress{Step: merge.StepIndex, Rows: 1, Total: 2}, merge.Progress{Step: merge.StepIndex, Rows: 1, Total: 2}},
	} {
		if m.Report(s.now, at(float64(i))); m.Shown() != s.shown {
			t.Errorf("%d: %+v is shown, want %+v", i, m.Shown(), s.shown)
		}
	}
}
