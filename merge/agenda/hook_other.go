//go:build !unix

package agenda

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

func endGroup(*os.Process) {}
