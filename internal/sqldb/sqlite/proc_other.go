//go:build !linux

package sqlite

// holderOf names the process that keeps others from writing to a database.
// Here that is not known.
func holderOf(string) string { return "" }

func readerOf(string) string { return "" }

// hasRemoved would report whether this process has a file open that was at the path and was
// removed; only Linux tells.
func hasRemoved(string) bool { return false }
