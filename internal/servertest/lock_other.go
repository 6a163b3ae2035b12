//go:build !linux

package servertest

import (
	"errors"
	"os"
)

// tryLock is not needed elsewhere enough to be written.
func tryLock(*os.File) error { return errors.ErrUnsupported }
