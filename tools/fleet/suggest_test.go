package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/suggest"
	"mergesafe/tools/internal/cli/clitest"
)

// The help on JSON has every field of the document, and no other.
func TestHelpSuggestJSON(t *testing.T) {
	is, documented := clitest.Fields(reflect.TypeFor[suggest.Suggestion]()), clitest.Documented(helpOf("suggest-json"))
	slices.Sort(is)
	slices.Sort(documented)
	if diff := cmp.Diff(is, documented); diff != "" {
		t.Errorf("(-is +documented):\n%s", diff)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "500MB": 500e6, "20GB": 20e9, "20g": 20e9, "1.5k": 1500, "2T": 2e12, "7b": 7} {
		if got, err := parseSize(text); got != want || err != nil {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "-1GB", "0", "1XB", "NaN", "1e30", "inf", "1 GB GB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}
