package life

import "testing"

// counts are what the sequences of a run reached.
type counts struct {
	t         *testing.T
	worlds    map[string]string // folders with the worlds of each kind
	sequences int
	reached   map[string]int
	judged    map[string]int
	has       map[string]int // sequences that contain a command
	killed    map[string]int // sequences in which it was killed
	found     map[string]int // what breaks an invariant, in a survey
}

// floors are how often, in 1,000 sequences, something has to be reached or judged, so that no change of the generator
// leaves an invariant without work.
var floors = map[string]int{
	"reached plan": 900, "reached apply": 500, "reached open": 200, "reached played": 100, "reached undo": 250, "reached undo -force": 60,
	"reached try":                    10,
	"judged 1 open is the reference": 150, "judged 2 untouched": 3000, "judged 3 starts": 300, "judged 3 starts of copies": 10, "judged 3 what was given is not given again": 50, "judged 3 IDs are given once": 300,
	"judged 4 ends from " + none: 100, "judged 4 ends from " + made: 60, "judged 4 ends from " + opened: 60,
	"judged 4 ends from " + copying: 3, "judged 4 ends from " + opening: 3, "judged 4 ends from " + undoing: 3,
	"judged 4 ends from " + tried: 3, "judged 4 ends from " + planAgain: 5,
	"judged 4 works: apply in " + none: 200, "judged 4 works: apply in " + copying: 5, "judged 4 works: open in " + made: 100,
	"judged 4 works: open in " + opening: 3, "judged 4 works: undo in " + copying: 5, "judged 4 works: undo in " + made: 50,
	"judged 4 works: undo in " + opening: 3, "judged 4 works: undo in " + opened: 30, "judged 4 works: undo in " + undoing: 5,
	"judged 4 works: undo -force in " + opened: 20, "judged 4 works: verify in " + made: 5,
	"judged 5 status": 2000, "judged 5 blame": 50, "judged 5 undone": 250, "judged 5 word: verify PASS": 5, "judged 5 word: open FAIL": 5,
	"judged 5 word: undo REFUSED": 50, "judged 5 word: apply REFUSED": 50,
}

// report prints what the sequences reached, and makes sure that it is enough.
func (c *counts) report(t *testing.T) {
	t.Logf("%d sequences", c.sequences)
	all := make(map[string]int)
	for prefix, of := range map[string]map[string]int{"reached ": c.reached, "judged ": c.judged, "found ": c.found} {
		for what, n := range of {
			all[prefix+what] = n
		}
	}
	for _, what := range sorted(all) {
		t.Logf("  %-60s %d", what, all[what])
	}
	for _, command := range sorted(c.has) {
		t.Logf("  %-12s in %d sequences, killed in %d", command, c.has[command], c.killed[command])
		if c.has[command] >= 100 && c.killed[command]*20 < c.has[command] {
			t.Errorf("%s is in %d sequences, and was killed in %d: want 5 %%", command, c.has[command], c.killed[command])
		}
	}
	for _, what := range sorted(floors) {
		// What is expected once or twice may be missing by chance.
		if want := floors[what] * c.sequences / 1000; want > 2 && all[what] < want {
			t.Errorf("%s: %d times in %d sequences, want %d", what, all[what], c.sequences, want)
		}
	}
}
