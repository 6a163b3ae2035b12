package sqlite

import "syscall"

// remotes are the file systems whose files may be on another machine, by what statfs says (man 2 statfs).
var remotes = map[uint32]string{0x6969: "NFS", 0x517B: "SMB", 0xFF534D42: "SMB", 0xFE534D42: "SMB", 0x65735546: "FUSE"}

// remote names the file system of a file, if it may be on another machine; "" if not, or if that is not known.
func remote(path string) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(path, &fs) != nil {
		return ""
	}
	return remotes[uint32(fs.Type)]
}
