package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/inventory"
	"mergesafe/merge/suggest"
	"mergesafe/tools/internal/cli/clitest"
)

// The help on JSON has every field of the documents, and no other.
func TestHelpJSON(t *testing.T) {
	for help, document := range map[string]reflect.Type{"inventory-json": reflect.TypeFor[inventory.Inventory](), "suggest-json": reflect.TypeFor[suggest.Suggestion]()} {
		is, documented := clitest.Fields(document), clitest.Documented(helpOf(help))
		slices.Sort(is)
		slices.Sort(documented)
		if diff := cmp.Diff(is, documented); diff != "" {
			t.Errorf("%s (-is +documented):\n%s", help, diff)
		}
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
