//go:build !linux

package servertest

import (
	"errors"
	"os"
	"os/exec"
)

// ownProcess has no way here to tie the command to this process; an orderly end stops it.
func ownProcess(*exec.Cmd) {}

// tryLock is not needed elsewhere enough to be written.
func tryLock(*os.File) error { return errors.ErrUnsupported }
