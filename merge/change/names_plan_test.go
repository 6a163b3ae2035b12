package change

import (
	"slices"
	"testing"
)

// Half of a million names is settled. To look each of them up in the other half
// takes minutes.
func TestSettledFirst(t *testing.T) {
	const n = 1_000_000
	var open []int
	for i := 1; i < n; i += 2 {
		open = append(open, i)
	}
	order := settledFirst(n, open)
	if len(order) != n {
		t.Fatalf("%d places, want %d", len(order), n)
	}
	for at, i := range order {
		if want := at*2%n + at*2/n; i != want {
			t.Fatalf("place %d is %d, want %d", at, i, want)
		}
	}
	if got := settledFirst(3, nil); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("nothing open: %v", got)
	}
	if got := settledFirst(3, []int{2, 0, 1}); !slices.Equal(got, []int{2, 0, 1}) {
		t.Errorf("all open: %v", got)
	}
}
