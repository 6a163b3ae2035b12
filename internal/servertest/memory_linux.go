package servertest

import "syscall"

// Memory returns a folder that is kept in memory and has room for servers, or "". There it costs a test nothing that
// every commit is forced to disk.
func Memory() string {
	const dir, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room || syscall.Access(dir, 7) != nil {
		return ""
	}
	return dir
}
