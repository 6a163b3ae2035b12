//go:build !(linux || darwin || freebsd)

package sqlite

import "path/filepath"

// remote names the file system of a file, if its path says that it is on another machine, as on Windows.
func remote(path string) string {
	if volume := filepath.VolumeName(path); len(volume) > 2 {
		return "SMB"
	}
	return ""
}
