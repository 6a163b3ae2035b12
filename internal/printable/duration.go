package printable

import (
	"strings"
	"time"
)

// Seconds writes how long something takes: to a tenth of a second if that is under 10 seconds,
// to a minute from an hour on. "1.2s", "2m5s", "1h20m".
func Seconds(seconds float64) string {
	d, exact := time.Duration(seconds*float64(time.Second)), 100*time.Millisecond
	switch {
	case d >= time.Hour:
		exact = time.Minute
	case d >= 10*time.Second:
		exact = time.Second
	}
	text := d.Round(exact).String()
	for _, end := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, end) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// Span writes a range of such times: "1.2s to 20s".
func Span(seconds [2]float64) string {
	from, to := Seconds(seconds[0]), Seconds(seconds[1])
	if from == to {
		return from
	}
	return from + " to " + to
}
