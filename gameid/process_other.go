//go:build !linux

package gameid

// Elsewhere a process is not named so exactly that its end could be told from
// outside; the lease then simply runs out.

func processName(int) string { return "" }

// Ended reports whether the process of h is certainly gone. Here it is never
// certain.
func (h Holder) Ended() bool { return false }
