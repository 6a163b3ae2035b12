package servertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Freeze stops a process as SIGSTOP does, and returns when all its threads stand still: the signal
// alone returns before, and the process may still answer a question or two.
func Freeze(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		switch still, err := standsStill(p.Pid); {
		case err != nil:
			return err
		case still:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("servertest: process %d does not stand still a minute after SIGSTOP", p.Pid)
		}
	}
}

// Thaw lets the process continue.
func Thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

// standsStill reports whether every thread of a process is stopped.
func standsStill(pid int) (bool, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		return false, fmt.Errorf("servertest: process %d is not in /proc: %w", pid, os.ErrProcessDone)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil || !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T ")) {
			return false, nil
		}
	}
	return true, nil
}

// own makes the command die with this process, however that ends, and keeps the terminal's Ctrl-C from it: it is
// for us to end it, after those who use it.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// memory returns a folder that is kept in memory and has room for servers, or "". There it costs a test nothing that
// every commit is forced to disk.
func memory() string {
	const dir, room = "/dev/shm", 2 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room || syscall.Access(dir, 7) != nil {
		return ""
	}
	return dir
}

// tryLock locks the file until it is closed or this process ends, or says that another one has it.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
