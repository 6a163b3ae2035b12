//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// names is how many names a file has in its file system: one, unless it has hard links.
func names(info os.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}
