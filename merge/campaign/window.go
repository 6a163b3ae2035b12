package campaign

import "time"

// length is how long the window is open.
func (w *Window) length() time.Duration {
	if d := w.To - w.From; d > 0 {
		return d
	}
	return w.To - w.From + 24*time.Hour
}

// Next returns the window that is open at a time, or else the next one. Times of the day are
// those of clocks on the wall: a window may be an hour longer or shorter once.
func (w *Window) Next(now time.Time) (opens, closes time.Time) {
	year, month, day := now.In(w.Zone).Date()
	at := func(day int, d time.Duration) time.Time {
		return time.Date(year, month, day, int(d.Hours()), int(d.Minutes())%60, 0, 0, w.Zone)
	}
	for day := day - 1; ; day++ { // that of yesterday may go over midnight
		opens, closes = at(day, w.From), at(day, w.To)
		if w.To < w.From {
			closes = at(day+1, w.To)
		}
		if closes.After(now) && closes.After(opens) { // one within the hour that clocks leave out is none
			return opens, closes
		}
	}
}
