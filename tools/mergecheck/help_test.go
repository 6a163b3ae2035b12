package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mergesafe/merge/propose"
	"mergesafe/merge/verdict"
	"mergesafe/tools/internal/cli/clitest"
)

func TestCommands(t *testing.T) { clitest.Commands(t, command(os.LookupEnv, os.Stdout)) }

// The help on JSON has every field of a report, and no other.
func TestHelpJSON(t *testing.T) {
	report, explained, found := strings.Cut(helpJSON, "With -explain")
	if !found {
		t.Fatal("nothing on -explain")
	}
	column := slices.DeleteFunc(clitest.Fields(reflect.TypeFor[propose.Explanation]()), func(path string) bool {
		return strings.HasPrefix(path, "proposed[].") // as above
	})
	if diff := cmp.Diff(column, clitest.Documented(explained)); diff != "" {
		t.Errorf("explanation (-is +documented):\n%s", diff)
	}
	if diff := cmp.Diff(clitest.Fields(reflect.TypeFor[verdict.Report]()), clitest.Documented(report)); diff != "" {
		t.Errorf("report (-is +documented):\n%s", diff)
	}
}
