package servertest

import (
	"os"
	"syscall"
)

// tryLock locks the file until it is closed or this process ends, or says that another one has it.
func tryLock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
