//go:build !linux

package servertest

import (
	"errors"
	"os"
)

// Freeze is not needed elsewhere enough to be written.
func Freeze(*os.Process) error { return errors.ErrUnsupported }

// Thaw goes with Freeze.
func Thaw(*os.Process) error { return errors.ErrUnsupported }
