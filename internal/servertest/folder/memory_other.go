//go:build !linux

package folder

// Memory is not needed elsewhere enough to be written.
func Memory() string { return "" }
