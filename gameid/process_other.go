//go:build !linux

package gameid

// Elsewhere a process is not named so exactly that its end could be told from
// outside; the lease then simply runs out.

func processName(int) string { return "" }

func (h Holder) ended() bool { return false }
