//go:build !unix

package codec

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

func killAll(p *os.Process) error { return p.Kill() }
