package servertest

import (
	"os"
	"os/exec"
	"syscall"
)

// ownProcess makes the command die with this process, however that ends, and keeps the terminal's Ctrl-C from it: it is
// for us to end it, after those who use it.
func ownProcess(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// tryLock locks the file until it is closed or this process ends, or says that another one has it.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
