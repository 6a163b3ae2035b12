package progress

import (
	"slices"
	"strings"

	"mergesafe/merge/transfer"
)

// Came is how many rows of the merge are in the target.
func (m *MergeStatus) Came() int64 {
	switch {
	case m.Phase == Copied, m.Phase == Verifying, m.Phase == Opening, m.Phase == Verified:
		return m.Rows
	case m.Phase == Copying && m.Step == transfer.StepCopy:
		return min(m.Done, m.Rows)
	}
	return 0
}

// PhaseWord is the phase in words: of a new database it says whether it is open.
func (m *MergeStatus) PhaseWord() string {
	switch {
	case m.Into == "":
	case m.Phase == Copied:
		return "made, not open"
	case m.Phase == Opening && !m.Active:
		return "proved, not open"
	case m.Phase == Verified:
		return "verified, open"
	}
	return string(m.Phase)
}

// Finishing reports whether all rows of a new database are there, and indexes, keys and views are made.
func (m *MergeStatus) Finishing() bool {
	return m.Into != "" && m.Active && m.Phase == Copying && m.Total > 0 && m.Done >= m.Total
}

// TimeLeft is how many seconds the merge still takes, at the least and at the most. known is false
// if nothing was predicted. If the current step shows that it takes longer than predicted, that
// counts. running tells that a process works on the campaign.
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
		left, known = [2]float64{min(left[0], m.Left), max(left[1], m.Left)}, true
	}
	if m.PerSecond > 0 && m.Total > m.Done {
		step := float64(m.Total-m.Done) / m.PerSecond
		left = [2]float64{max(left[0], step), max(left[1], step)}
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
