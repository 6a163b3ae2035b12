package world

import (
	"slices"
	"testing"
)

// What a schema has decides which rights make it.
func TestRights(t *testing.T) {
	for kind, want := range map[Kind]string{View: "SHOW VIEW", Trigger: "TRIGGER", Function: "CREATE ROUTINE", Package: "ALTER ROUTINE", Event: "EVENT"} {
		with, without := &Schema{Objects: []Object{{Kind: Table}, {Kind: kind}}}, &Schema{Objects: []Object{{Kind: Table}}}
		if !slices.Contains(with.Rights(), want) || slices.Contains(without.Rights(), want) || !slices.Contains(without.Rights(), "CREATE") {
			t.Errorf("%s: %q, and without one %q", kind, with.Rights(), without.Rights())
		}
	}
}
