//go:build !linux

package servertest

// Memory is not needed elsewhere enough to be written.
func Memory() string { return "" }
