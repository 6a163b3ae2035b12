package check

import (
	"testing"

	"mergesafe/merge/verdict"
)

// Every code is given out by one rule, and the table documents no other.
func TestEveryCodeHasOneRule(t *testing.T) {
	of := make(map[string]int)
	for _, r := range Rules() {
		for _, code := range r.Codes {
			of[code]++
		}
	}
	for _, c := range verdict.Codes() {
		if of[c.Code] != 1 {
			t.Errorf("%d rules give out %q, want one", of[c.Code], c.Code)
		}
		delete(of, c.Code)
	}
	for code := range of {
		t.Errorf("a rule gives out %q, which is not in the table of codes", code)
	}
}
