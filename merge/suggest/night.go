package suggest

import "slices"

// night is how long merges take together, if so many run at a time and the longest ones begin
// first: a campaign begins them in the order of its file, each as soon as one before has ended.
// It sorts the durations.
func night(durations []int64, parallel int) int64 {
	slices.SortFunc(durations, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
	return inOrder(durations, parallel)
}

// inOrder is the same without sorting.
func inOrder(durations []int64, parallel int) int64 {
	busy := make([]int64, max(1, min(parallel, len(durations)))) // until when each worker is
	for _, d := range durations {
		busy[slices.Index(busy, slices.Min(busy))] += d
	}
	return slices.Max(busy)
}
