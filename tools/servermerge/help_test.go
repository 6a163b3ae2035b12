package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge"
	"mergesafe/merge/report"
	"mergesafe/tools/internal/cli/clitest"
)

func TestCommands(t *testing.T) { clitest.Commands(t, command(os.LookupEnv, os.Stdout)) }

// The help on JSON has every field of the documents, and no other.
func TestHelpJSON(t *testing.T) {
	for _, tt := range []struct {
		begins string
		is     reflect.Type
	}{
		{"apply, status, verify, open and undo print this:", reflect.TypeFor[struct {
			report.Outcome
			View string `json:"view"` // an object for people
		}]()},
		{"plan prints the plan", reflect.TypeFor[struct {
			merge.Plan
			View string `json:"view"` // an object for people
		}]()},
		{"whois prints this of a PLAN, or of NEW alone:", reflect.TypeFor[struct {
			Version int          `json:"version"`
			Rows    []merge.Fate `json:"rows"`
		}]()},
		{"whois prints a list of these of a KEY", reflect.TypeFor[struct {
			merge.Origin
			Stays string `json:"stays"` // see [merge.Planned]
		}]()},
	} {
		_, text, found := strings.Cut(helpJSON, tt.begins)
		if !found {
			t.Fatalf("nothing on %q", tt.begins)
		}
		text, _, _ = strings.Cut(text, " print") // of the next document
		is, documented := clitest.Fields(tt.is), clitest.Documented(text)
		slices.Sort(is)
		slices.Sort(documented)
		if diff := cmp.Diff(is, documented); diff != "" {
			t.Errorf("%s (-is +documented):\n%s", tt.begins, diff)
		}
	}
}
