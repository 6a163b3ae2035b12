package main

import (
	"testing"

	"mergesafe/tools/internal/databases"
)

func TestFindTarget(t *testing.T) {
	places := []databases.Place{{Arg: "s1", Name: "s1"}, {Arg: "sqlite:data/s2.db", Name: "data/s2.db"}}
	for target, want := range map[string]string{"": "", "s1": "s1", "data/s2.db": "data/s2.db", "sqlite:data/s2.db": "data/s2.db"} {
		if got, err := findTarget(target, places); got != want || err != nil {
			t.Errorf("%q: got %q, %v", target, got, err)
		}
	}
	if _, err := findTarget("s2", places); err == nil {
		t.Error("a target that is not there was found")
	}
}
