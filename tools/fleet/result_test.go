package main

import (
	"testing"

	"mergesafe/merge/progress"
	"mergesafe/tools/internal/cli"
)

// A plan says what failed or could not be read, of an earlier command too.
func TestVerdictPlanned(t *testing.T) {
	for _, c := range []struct {
		other progress.MergeStatus
		word  string
		code  cli.Code
	}{
		{progress.MergeStatus{Phase: progress.Verified}, "PLANNED", cli.OK},
		{progress.MergeStatus{Phase: progress.Refused, Problem: "it runs"}, "REFUSED", cli.Conflicts},
		{progress.MergeStatus{Phase: progress.Failed, Problem: "it differs"}, "FAILED", cli.Conflicts},
		{progress.MergeStatus{Phase: progress.Failed, Problem: "it is away", Incomplete: true}, "INCOMPLETE", cli.Incomplete},
		{progress.MergeStatus{Phase: progress.Refused, Problem: "it is away", Incomplete: true}, "INCOMPLETE", cli.Incomplete},
	} {
		v := new(night).verdict("plan", &progress.Status{Merges: []progress.MergeStatus{c.other}}, nil)
		if v.word != c.word || v.code != c.code {
			t.Errorf("%+v: got %s, code %d", c.other, v.word, v.code)
		}
	}
}

// A script goes on after what was left out whole, but not while a new database is not open.
func TestVerdictSkipped(t *testing.T) {
	done, skipped := progress.MergeStatus{Phase: progress.Verified}, progress.MergeStatus{Phase: progress.Skipped}
	begun := progress.MergeStatus{Phase: progress.Skipped, Problem: "its new database is not open"}
	for _, c := range []struct {
		merges   []progress.MergeStatus
		word     string
		sentence string
		code     cli.Code
	}{
		{[]progress.MergeStatus{done, done}, "DONE", "2 of 2 merges verified", cli.OK},
		{[]progress.MergeStatus{done, skipped, done}, "DONE", "2 of 2 merges verified; 1 skipped", cli.OK},
		{[]progress.MergeStatus{done, begun}, "NOT VERIFIED", "1 of 2 merges verified; nothing failed", cli.NotVerified},
	} {
		v := new(night).verdict("apply", &progress.Status{Merges: c.merges}, nil)
		if v.word != c.word || v.sentence != c.sentence || v.code != c.code {
			t.Errorf("%+v: got %s: %s, code %d", c.merges, v.word, v.sentence, v.code)
		}
	}
}
