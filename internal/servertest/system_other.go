//go:build !linux

package servertest

import (
	"errors"
	"os"
	"os/exec"
)

// The tests of frozen processes run on Linux alone, and the rest is not needed elsewhere enough to be written: servers
// are on disk, their folders are not locked, and an orderly end stops them.

func Freeze(*os.Process) error { return errors.ErrUnsupported }

func Thaw(*os.Process) error { return errors.ErrUnsupported }

func own(*exec.Cmd) {}

func memory() string { return "" }

func tryLock(*os.File) error { return errors.ErrUnsupported }
