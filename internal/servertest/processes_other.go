//go:build !linux

// Package processes ties server processes to the one that started them, freezes them and lets them continue.
package servertest

import (
	"errors"
	"os"
	"os/exec"
)

// Freeze is not needed elsewhere enough to be written.
func Freeze(*os.Process) error { return errors.ErrUnsupported }

// Thaw goes with Freeze.
func Thaw(*os.Process) error { return errors.ErrUnsupported }

// Own has no way here to tie the command to this process; an orderly end stops it.
func Own(*exec.Cmd) {}
