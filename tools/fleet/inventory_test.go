package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/inventory"
	"mergesafe/tools/internal/cli/clitest"
)

// The help on JSON has every field of the document, and no other.
func TestHelpInventoryJSON(t *testing.T) {
	is, documented := clitest.Fields(reflect.TypeFor[inventory.Inventory]()), clitest.Documented(helpOf("inventory-json"))
	slices.Sort(is)
	slices.Sort(documented)
	if diff := cmp.Diff(is, documented); diff != "" {
		t.Errorf("(-is +documented):\n%s", diff)
	}
}
