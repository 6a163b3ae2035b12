package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// tally is what happened in a world, or in many, in numbers.
type tally struct {
	worlds     int
	ids        uint64
	duplicates int
	excused    map[string]int // duplicates although a database had forgotten what it granted, by why the second defence failed
	turns      int            // of goroutines that were about to take an ID
	lived      time.Duration  // in virtual time
	faults     map[string]int
	refusals   map[string]int
}

func newTally() tally {
	return tally{faults: make(map[string]int), refusals: make(map[string]int), excused: make(map[string]int)}
}

func (t *tally) refusal(kind string) { t.refusals[kind]++ }

func (t *tally) add(w *world) {
	t.worlds++
	t.ids += w.ids
	t.duplicates += w.tally.duplicates
	t.turns += w.tally.turns
	t.lived += w.tally.lived
	for _, m := range []struct{ to, from map[string]int }{
		{t.faults, w.tally.faults}, {t.refusals, w.tally.refusals}, {t.excused, w.tally.excused},
	} {
		for kind, n := range m.from {
			m.to[kind] += n
		}
	}
}

// table writes counts, the largest first.
func table(b *strings.Builder, title string, counts map[string]int) {
	fmt.Fprintf(b, "%s\n", title)
	kinds := make([]string, 0, len(counts))
	for kind := range counts {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	for _, kind := range kinds {
		fmt.Fprintf(b, "%12d  %s\n", counts[kind], kind)
	}
}

func (t *tally) String(took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d worlds in %s, which lived for %s\n", t.worlds, took.Round(time.Second/10), t.lived.Round(time.Second))
	fmt.Fprintf(&b, "%12d  IDs minted\n%12d  duplicates\n", t.ids, t.duplicates)
	table(&b, "minted twice: a database had forgotten what it granted, and", t.excused)
	table(&b, "faults", t.faults)
	table(&b, "refusals", t.refusals)
	return b.String()
}
