package sqlite

import (
	"os"
	"path/filepath"
)

// hasRemoved reports whether this process has a file open that was at the path and was removed.
func hasRemoved(path string) bool {
	const open = "/proc/self/fd"
	files, err := os.ReadDir(open)
	if err != nil {
		return false
	}
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(open, f.Name())); err == nil && to == path+" (deleted)" {
			return true
		}
	}
	return false
}
