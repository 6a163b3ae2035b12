package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Where the locks of a writer lie: in the -shm file that of WAL mode, in the
// database those of the other modes, one of which is exclusive. See "File
// Locking And Concurrency" and "WAL-mode File Format" in SQLite's documentation.
const (
	walWriteLock   = 120
	firstFileLock  = 0x40000000
	secondFileLock = 0x40000001

	sharedLock = 0x40000002 // of whoever has read, as long as it has a file in WAL mode open
)

// holderOf names the process that keeps others from writing to a database,
// or is empty if that is not known. It reads what the kernel says of all locks:
// to open a file oneself and close it would drop this process's locks on it.
//
// The kernel gives that list in pieces, and locks that come and go between two of them let it leave others out: so a
// lock that was not found is looked for again.
func holderOf(path string) string {
	return listed([]fileLock{{path + "-shm", walWriteLock, "WRITE"}, {path, firstFileLock, "WRITE"}, {path, secondFileLock, "WRITE"}})
}

// readerOf is holderOf for who keeps others from having the database alone.
func readerOf(path string) string {
	return listed([]fileLock{{path, sharedLock, "READ"}, {path, sharedLock, "WRITE"}})
}

type fileLock struct {
	file string
	at   int64
	kind string // as in proc_locks(5)
}

// listed names who has one of these locks.
func listed(any []fileLock) (name string) {
	for range 3 {
		if name = listedOnce(any); name != "" {
			break
		}
	}
	return name
}

func listedOnce(any []fileLock) string {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	for _, lock := range any {
		info, err := os.Stat(lock.file)
		if err != nil {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return ""
		}
		if pid := locker(locks, stat, lock.at, lock.kind); pid == os.Getpid() {
			return "another transaction of this process"
		} else if pid > 0 {
			return processName(pid)
		}
	}
	return ""
}

// locker finds in /proc/locks the process that has a file locked at an offset, or returns 0. See proc_locks(5).
func locker(locks []byte, file *syscall.Stat_t, at int64, kind string) int {
	major := file.Dev>>8&0xfff | file.Dev>>32&^0xfff
	minor := file.Dev&0xff | file.Dev>>12&^0xff
	name := fmt.Sprintf("%02x:%02x:%d", major, minor, file.Ino)
	for line := range strings.Lines(string(locks)) {
		// 3: POSIX  ADVISORY  WRITE 16326 fe:00:9980660 0 EOF
		fields := strings.Fields(line)
		if len(fields) != 8 || fields[3] != kind || fields[5] != name {
			continue
		}
		pid, err := strconv.Atoi(fields[4])
		if kind == "READ" && pid == os.Getpid() { // whoever asks
			continue
		}
		from, err2 := strconv.ParseInt(fields[6], 10, 64)
		to, err3 := strconv.ParseInt(fields[7], 10, 64)
		if fields[7] == "EOF" {
			to, err3 = 1<<63-1, nil
		}
		if err == nil && err2 == nil && err3 == nil && from <= at && at <= to {
			return pid
		}
	}
	return 0
}

func processName(pid int) string {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return fmt.Sprintf("the process %d", pid)
	}
	return fmt.Sprintf("%s (pid %d)", bytes.TrimSpace(name), pid)
}

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
