package slice_test

import (
	"fmt"
	"testing"

	"mergesafe/internal/slice"
)

func TestGroups(t *testing.T) {
	got := ""
	for key, words := range slice.Groups([]string{"b1", "a1", "b2", "c1"}, func(s string) byte { return s[0] }) {
		if got += fmt.Sprintf("%c %q ", key, words); key == 'a' {
			break
		}
	}
	if want := `b ["b1" "b2"] a ["a1"] `; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
