package main

import (
	"fmt"
	"strings"
	"testing"

	"mergesafe/merge/campaign"
)

// What a rehearsal does not try is counted by its kind, and named as far as there is room.
func TestRehearsedLeaves(t *testing.T) {
	left := []string{"w1: trigger tell (BEFORE INSERT on t), which is there, but runs nothing", "w1: triggers: they take the TRIGGER privilege to be seen", "w2: view a"}
	for i := range 30 {
		left = append(left, fmt.Sprintf("w3: view v%d", i))
	}
	var b strings.Builder
	if err := writeRehearsed(&b, "night", &campaign.Rehearsed{Left: left}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nNot in the copies, and so not tried: 1 trigger, triggers that the account does not see, 31 views.\n  w1: trigger tell (BEFORE",
		"\n  w3: view v16\n  and 13 more: -json has them all\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("want %q in:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := writeRehearsed(&b, "night", new(campaign.Rehearsed)); err != nil || strings.Contains(b.String(), "Not in") {
		t.Errorf("%v: %s", err, b.String())
	}
}
