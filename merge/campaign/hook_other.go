//go:build !unix

package campaign

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

func endGroup(*os.Process) {}
