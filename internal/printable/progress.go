package printable

import (
	"fmt"
	"time"
)

// HowFar is what is done of a number of rows, at which rate, and how long the
// rest will take at that: "45 %  9.0 M of 20.0 M rows  1.5 M/s  7s left".
func HowFar(done, total int64, rate float64) string {
	percent := int64(100)
	if total > 0 {
		percent = 100 * done / total
	}
	text := fmt.Sprintf("%d %%  %s of %s rows  %s/s", percent, Short(float64(done)), Short(float64(total)), Short(rate))
	switch rest := float64(total-done) / rate; {
	case done >= total:
	case rate <= 0 || rest > 1e6: // longer than anybody waits, and than a Duration holds
		text += "  time left unknown"
	default:
		text += "  " + time.Duration(rest*float64(time.Second)).Round(time.Second).String() + " left"
	}
	return text
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
