package printable

import (
	"fmt"
	"testing"
)

func TestNames(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprint("s", i+1))
	}
	for want, names := range map[string][]string{
		"s1":        {"s1"},
		"s1 and s2": {"s1", "s2"},
		"s1, s2, s3, s4, s5, s6, s7, s8 and 4 more": many,
		"s1, s2, s3, s4, s5, s6, s7, s8 and s9":     many[:9],
		`a\x1b[2J`:                                  {"a\x1b[2J"},
	} {
		if got := Names(names); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestList(t *testing.T) {
	parts := []string{"a", "b", "c", "d", "e"}
	for most, want := range map[int]string{2: "a; b; and 3 more", 4: "a; b; c; d; and 1 more", 5: "a; b; c; d; e", 6: "a; b; c; d; e"} {
		if got := List(parts, "; ", most); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if parts[2] != "c" {
		t.Error("the parts are changed")
	}
}
