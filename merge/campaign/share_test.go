package campaign

import (
	"testing"

	"mergesafe/merge"
)

// The share of the work never falls while a merge goes on, is not all before it is verified, and stays after a kill.
func TestShare(t *testing.T) {
	last := -1.0
	for _, m := range []MergeStatus{
		{Phase: Planned},
		{Phase: Copying, Active: true, Step: merge.StepCopy, Copied: 10, Done: 10, Total: 100},
		{Phase: Copying, Active: true, Step: merge.StepCopy, Copied: 56, Done: 56, Total: 100},
		{Phase: Copying, Copied: 56}, // killed
		{Phase: Copying, Active: true, Step: merge.StepCopy, Copied: 100, Done: 100, Total: 100},
		{Phase: Copying, Active: true, Step: merge.StepFinish, Copied: 100, Total: 100},
		{Phase: Made},
		{Phase: Verifying},
		{Phase: Verifying, Active: true, Step: merge.StepVerify, Done: 150, Total: 200},
		{Phase: Verifying, Active: true, Step: merge.StepResult, Done: 10, Total: 200},
		{Phase: Verified},
	} {
		m.Rows = 100
		share := m.Share()
		if share < last || share < 0 || share > 1 || (share == 1) != (m.Phase == Verified) {
			t.Errorf("%+v: %.3f after %.3f", m, share, last)
		}
		last = share
	}
	killed := MergeStatus{Phase: Copying, Rows: 93, Copied: 56}
	if killed.Came() != 56 {
		t.Errorf("after a kill %d rows have come", killed.Came())
	}
	s := &Status{Merges: []MergeStatus{{Phase: Verified, Rows: 10}, {Phase: Skipped, Rows: 1000}, killed}}
	if got := s.Share(); got < 0.2 || got > 0.6 {
		t.Errorf("of all %.3f", got)
	}
	if s.Merges = s.Merges[:2]; s.Share() != 1 {
		t.Errorf("all that count are verified: %.3f", s.Share())
	}
}
