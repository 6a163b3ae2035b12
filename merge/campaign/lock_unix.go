//go:build unix

package campaign

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens the lock file. It returns errTaken if another process has it alone, or wants
// it alone while others look.
func openLocked(path string, alone bool) (*os.File, error) {
	mode, how := os.O_RDONLY, syscall.LOCK_SH
	if alone {
		mode, how = os.O_RDWR|os.O_CREATE, syscall.LOCK_EX
	}
	f, err := os.OpenFile(path, mode, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errTaken
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
