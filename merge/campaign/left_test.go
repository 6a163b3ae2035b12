package campaign

import (
	"math/rand/v2"
	"testing"
)

// Whatever a merge takes of what was predicted, and in whatever order merges run, so many at a
// time, all end within the range.
func TestTimeLeft(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := &Status{Doing: "apply", Parallel: 1 + random.IntN(5)}
		workers := make([]float64, s.Parallel) // when each is free
		for range random.IntN(12) {
			least := float64(1 + random.IntN(500))
			most := least * (1 + random.Float64())
			s.Merges = append(s.Merges, MergeStatus{Phase: Planned, Predicted: [2]float64{least, most}})
			first := 0
			for i := range workers {
				if workers[i] < workers[first] {
					first = i
				}
			}
			workers[first] += least + random.Float64()*(most-least)
		}
		end := 0.0
		for _, w := range workers {
			end = max(end, w)
		}
		left, unknown := s.TimeLeft()
		if end < left[0]-1e-6 || end > left[1]+1e-6 || unknown != 0 {
			t.Fatalf("%d merges at a time, %+v: ended after %v, predicted %v", s.Parallel, s.Merges, end, left)
		}
		s.Parallel = 0 // not known
		if left, _ := s.TimeLeft(); end < left[0]-1e-6 || end > left[1]+1e-6 {
			t.Fatalf("ended after %v, predicted %v", end, left)
		}
	}
}
