package campaign

import (
	"slices"
	"strings"

	"mergesafe/merge"
	"mergesafe/merge/estimate"
)

// Came is how many rows of the merge are in the new database.
func (m *MergeStatus) Came() int64 {
	switch {
	case m.Phase == Made, m.Phase == Verifying, m.Phase == Opening, m.Phase == Verified:
		return m.Rows
	case m.Phase == Copying, m.Phase == Trying:
		return min(m.Copied, m.Rows)
	}
	return 0
}

// Share is which part of all work of the merge is done, from 0 to 1: rows are copied, indexed and completed, and proved. It
// is 1 only if the merge is verified.
func (m *MergeStatus) Share() float64 {
	if m.Phase == Verified {
		return 1
	}
	var done, all float64
	copying := m.Phase == Copying || m.Phase == Trying
	for _, a := range estimate.Parts(m.Rows) {
		all += a.Weight
		part := 0.0
		switch {
		case (m.Phase == Made || m.Phase == Verifying) && a.Stage < estimate.StageOf(merge.StepVerify), m.Phase == Opening:
			part = 1
		case !copying && m.Phase != Verifying:
		case copying && m.Step != merge.StepFinish && a.Step == merge.StepCopy:
			part = float64(m.Came()) / float64(max(m.Rows, 1))
		case m.Step != "" && a.Stage < estimate.StageOf(m.Step):
			part = 1
		case a.Step == m.Step && m.Total > 0:
			part = float64(m.Done) / float64(m.Total)
		}
		done += a.Weight * min(part, 1)
	}
	return min(done/max(all, 1), 0.99)
}

// Progress is what its bar and its per cent show, from 0 to 1: Share or, of a plan and an undo, the part of the step at hand.
func (m *MergeStatus) Progress() float64 {
	if (m.Phase == Planning || m.Phase == Undoing) && m.Total > 0 {
		return min(1, float64(m.Done)/float64(m.Total))
	}
	return m.Share()
}

// Share is which part of the work of all merges is done, from 0 to 1: a merge counts by its rows. Those that were left out,
// refused or undone do not count. It is 1 only if all others are verified.
func (s *Status) Share() float64 {
	var done, all float64
	whole := true
	for i := range s.Merges {
		m := &s.Merges[i]
		if m.Phase == Skipped || m.Phase == Refused || m.Phase == Undone {
			continue
		}
		rows := float64(max(m.Rows, 1))
		done, all = done+rows*m.Share(), all+rows
		whole = whole && m.Phase == Verified
	}
	if whole {
		return 1
	}
	return min(done/all, 0.999)
}

// PhaseWord is the phase in words: it says whether the new database is open.
func (m *MergeStatus) PhaseWord() string {
	switch {
	case m.Phase == Made:
		return "made, not open"
	case m.Phase == Opening && !m.Active:
		return "proved, not open"
	case m.Phase == Verified:
		return "verified, open"
	}
	return string(m.Phase)
}

// Finishing reports whether all rows of the new database are there, and indexes, keys and views are made.
func (m *MergeStatus) Finishing() bool {
	return m.Active && (m.Phase == Copying || m.Phase == Trying) && m.Total > 0 && (m.Done >= m.Total || m.Step == merge.StepFinish)
}

// TimeLeft is how many seconds the merge still takes, at the least and at the most: what was predicted, and as soon as
// something is measured in this run what [estimate.Meter] says. known is false if neither is there, or if it takes longer than was
// predicted. running tells that a process works on the campaign.
func (m *MergeStatus) TimeLeft(running bool) (left [2]float64, known bool) {
	if slices.Contains([]Phase{Verified, Failed, Refused, Undone, Skipped}, m.Phase) {
		return left, true
	}
	known = m.Predicted[1] > 0
	left = [2]float64{max(0, m.Predicted[0]-m.Took), max(0, m.Predicted[1]-m.Took)}
	if !running || !m.Active {
		return left, known
	}
	if m.Left > 0 {
		return [2]float64{m.Left, m.Left}, true
	}
	return left, known && left[1] > 0
}

// TimeLeft is how many seconds all merges still take, Parallel at a time. However they are divided,
// it takes at least the longest, and the even share; and at most, in any order in which no worker
// rests, the even share and the longest. Windows of time and limits of servers make it longer.
// unknown counts merges of which nothing is predicted.
func (s *Status) TimeLeft() (left [2]float64, unknown int) {
	var sum, longest [2]float64
	for i := range s.Merges {
		one, known := s.Merges[i].TimeLeft(s.Doing != "")
		if !known {
			unknown++
		}
		for end := range one {
			sum[end] += one[end]
			longest[end] = max(longest[end], one[end])
		}
	}
	if s.Parallel == 0 {
		return [2]float64{longest[0], sum[1]}, unknown
	}
	p := float64(s.Parallel)
	return [2]float64{max(longest[0], sum[0]/p), min(sum[1], sum[1]/p+longest[1])}, unknown
}

// IsCommand tells a command to paste from a sentence in [MergeStatus.Advice]: it begins with a
// program of this project, and does not end as a sentence does.
func IsCommand(advice string) bool {
	program, rest, _ := strings.Cut(advice, " ")
	return slices.Contains([]string{"fleet", "servermerge", "mergecheck", "gameid"}, program) &&
		rest != "" && !strings.HasSuffix(rest, ".")
}
