package printable

import "time"

// Second writes a time of which milliseconds do not matter.
func Second(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
