package printable

import (
	"slices"
	"testing"
)

func TestNatural(t *testing.T) {
	want := []string{"", "w", "w0", "w01", "w1", "w1-a", "w2", "w2x3", "w2x20", "w10", "w100", "x"}
	got := slices.Sorted(slices.Values(want))
	slices.SortFunc(got, Natural)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, a := range want {
		for _, b := range want {
			if Natural(a, b) != -Natural(b, a) || (Natural(a, b) == 0) != (a == b) {
				t.Errorf("%q and %q: %d and %d", a, b, Natural(a, b), Natural(b, a))
			}
		}
	}
}
