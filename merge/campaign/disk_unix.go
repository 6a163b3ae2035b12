//go:build linux || darwin || freebsd

package campaign

import (
	"fmt"
	"syscall"
)

// diskOf tells the file system that a folder or file is on from others, and how many bytes
// this account may still write there. ok is false if that is not known.
func diskOf(path string) (id string, free int64, ok bool) {
	var fs syscall.Statfs_t
	var file syscall.Stat_t
	if syscall.Statfs(path, &fs) != nil || syscall.Stat(path, &file) != nil {
		return "", 0, false
	}
	return fmt.Sprint(file.Dev), int64(fs.Bavail) * int64(fs.Bsize), true
}
