package main

import (
	"testing"

	"mergesafe/merge/campaign"
	"mergesafe/tools/internal/cli"
)

// A plan says what failed or could not be read, of an earlier command too.
func TestVerdictPlanned(t *testing.T) {
	for _, c := range []struct {
		other campaign.MergeStatus
		word  string
		code  cli.Code
	}{
		{campaign.MergeStatus{Phase: campaign.Verified}, "PLANNED", cli.OK},
		{campaign.MergeStatus{Phase: campaign.Refused, Problem: "it runs"}, "REFUSED", cli.Conflicts},
		{campaign.MergeStatus{Phase: campaign.Failed, Problem: "it differs"}, "FAILED", cli.Conflicts},
		{campaign.MergeStatus{Phase: campaign.Failed, Problem: "it is away", Incomplete: true}, "INCOMPLETE", cli.Incomplete},
		{campaign.MergeStatus{Phase: campaign.Refused, Problem: "it is away", Incomplete: true}, "INCOMPLETE", cli.Incomplete},
	} {
		v := new(night).verdict("plan", &campaign.Status{Merges: []campaign.MergeStatus{c.other}}, nil)
		if v.word != c.word || v.code != c.code {
			t.Errorf("%+v: got %s, code %d", c.other, v.word, v.code)
		}
	}
}

// A script goes on after what was left out whole, but not while a new database is not open.
func TestVerdictSkipped(t *testing.T) {
	done, skipped := campaign.MergeStatus{Phase: campaign.Verified}, campaign.MergeStatus{Phase: campaign.Skipped}
	begun := campaign.MergeStatus{Phase: campaign.Skipped, Problem: "its new database is not open"}
	for _, c := range []struct {
		merges   []campaign.MergeStatus
		word     string
		sentence string
		code     cli.Code
	}{
		{[]campaign.MergeStatus{done, done}, "DONE", "2 of 2 merges verified", cli.OK},
		{[]campaign.MergeStatus{done, skipped, done}, "DONE", "2 of 2 merges verified; 1 skipped", cli.OK},
		{[]campaign.MergeStatus{done, begun}, "NOT VERIFIED", "1 of 2 merges verified; nothing failed", cli.NotVerified},
	} {
		v := new(night).verdict("apply", &campaign.Status{Merges: c.merges}, nil)
		if v.word != c.word || v.sentence != c.sentence || v.code != c.code {
			t.Errorf("%+v: got %s: %s, code %d", c.merges, v.word, v.sentence, v.code)
		}
	}
}
