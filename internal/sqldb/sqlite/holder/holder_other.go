//go:build !linux

// Package holder names the process that has the lock of an SQLite file.
package holder

// Of names the process that keeps others from writing to a database.
// Here that is not known.
func Of(string) string { return "" }
