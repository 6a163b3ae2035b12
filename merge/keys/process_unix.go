//go:build unix

package keys

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives the command a process group of its own: Ctrl-C in a terminal is for the tool,
// which stops between two batches.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killAll kills a command and its children.
func killAll(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGKILL) }
