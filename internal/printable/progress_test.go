package printable

import "testing"

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{0: "0", 9999: "9999", 12_345: "12 k", 9_999_000: "9999 k", 12_345_678: "12.3 M"} {
		if got := Short(n); got != want {
			t.Errorf("%v: got %s, want %s", n, got, want)
		}
	}
}
