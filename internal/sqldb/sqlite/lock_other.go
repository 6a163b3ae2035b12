//go:build !linux

package sqlite

// lockHolder names the process that keeps others from writing to a database.
// Here that is not known.
func lockHolder(string) string { return "" }
