package printable

import "time"

// Time writes a time in UTC, to the millisecond: 2026-11-21T03:09:08.413Z. The
// zero time, which is not known, is "".
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
