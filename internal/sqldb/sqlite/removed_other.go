//go:build !linux

package sqlite

// hasRemoved would report whether this process has a file open that was at the path and was
// removed; only Linux tells.
func hasRemoved(string) bool { return false }
