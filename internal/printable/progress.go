package printable

import (
	"fmt"
	"time"
)

// HowFar is what is done of a number of rows, at which rate, and how long the rest will take, 0 if that is not known:
// "45 %  9.0 M of 20.0 M rows  1.5 M/s  7s left". 100 % is only what is done.
func HowFar(done, total int64, rate float64, left time.Duration) string {
	percent := int64(100)
	if total > 0 {
		percent = min(100*done/total, 100)
	}
	text := fmt.Sprintf("%d %%  %s of %s rows  %s/s", percent, Short(float64(done)), Short(float64(total)), Short(rate))
	if done >= total && left <= 0 {
		return text
	}
	return text + "  " + Left(left)
}

// Left is how long something still takes, 0 if that is not known: "7s left".
func Left(left time.Duration) string {
	switch {
	case left <= 0 || left > 1e6*time.Second: // longer than anybody waits
		return "time left unknown"
	case left < time.Second:
		return "1s left"
	}
	return left.Round(time.Second).String() + " left"
}

// Short writes a number for a line that has little room.
func Short(n float64) string {
	switch {
	case n < 1e4:
		return fmt.Sprintf("%.0f", n)
	case n < 1e7:
		return fmt.Sprintf("%.0f k", n/1e3)
	default:
		return fmt.Sprintf("%.1f M", n/1e6)
	}
}
