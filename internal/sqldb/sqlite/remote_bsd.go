//go:build darwin || freebsd

package sqlite

import (
	"strings"
	"syscall"
)

// remote names the file system of a file, if it may be on another machine; "" if not, or if that is not known.
func remote(path string) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return ""
	}
	var name []byte
	for _, c := range fs.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	for _, each := range []string{"nfs", "smb", "fuse"} {
		if strings.Contains(strings.ToLower(string(name)), each) {
			return strings.ToUpper(each)
		}
	}
	return ""
}
