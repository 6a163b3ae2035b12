package mysql

import (
	"strings"
	"testing"
)

// A member of a group takes writes as long as it is in step with the majority.
func TestOutOfGroup(t *testing.T) {
	for members, want := range map[string]string{
		"ONLINE ONLINE ONLINE":           "",
		"ONLINE":                         "",
		"ONLINE ONLINE UNREACHABLE":      "",
		"ONLINE RECOVERING RECOVERING":   "",
		"ONLINE UNREACHABLE UNREACHABLE": "2 of 3 members are unreachable",
		"ONLINE UNREACHABLE":             "1 of 2 members are unreachable",
		"RECOVERING ONLINE ONLINE":       "RECOVERING",
		"ERROR":                          "ERROR",
		"OFFLINE":                        "OFFLINE",
		"":                               "not joined",
	} {
		states := make(map[string]string)
		for i, state := range strings.Fields(members) {
			states[[]string{"self", "b", "c"}[i]] = state
		}
		if got := outOfGroup(states); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", members, got, want)
		}
	}
}
